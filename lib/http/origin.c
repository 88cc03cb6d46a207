#include "lib/http/origin.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <strings.h>

#include "lib/base/alloc.h"

static bool same_part(CURLU *a, CURLU *b, CURLUPart part)
{
    char *of_a = NULL, *of_b = NULL;
    bool same = !curl_url_get(a, part, &of_a, CURLU_DEFAULT_PORT) &&
                !curl_url_get(b, part, &of_b, CURLU_DEFAULT_PORT) && strcasecmp(of_a, of_b) == 0;

    curl_free(of_a);
    curl_free(of_b);
    return same;
}

bool http_same_origin(const char *url, const char *home)
{
    static const CURLUPart parts[] = {CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT};
    CURLU *a = curl_url(), *b = curl_url();

    if (!a || !b)
        abort();
    bool same = !curl_url_set(a, CURLUPART_URL, url, CURLU_DISALLOW_USER) &&
                !curl_url_set(b, CURLUPART_URL, home, 0);
    for (size_t i = 0; i < COUNT_OF(parts) && same; i++)
        same = same_part(a, b, parts[i]);
    curl_url_cleanup(a);
    curl_url_cleanup(b);
    return same;
}
