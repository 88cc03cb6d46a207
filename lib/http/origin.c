#include "lib/http/origin.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>
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

/* An IPv6 address is in brackets. */
static bool is_loopback(char *host)
{
    struct in_addr v4;
    struct in6_addr v6;

    if (strcasecmp(host, "localhost") == 0)
        return true;
    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> IN_CLASSA_NSHIFT == IN_LOOPBACKNET;
    host[strcspn(host, "]")] = '\0';
    return host[0] == '[' && inet_pton(AF_INET6, host + 1, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

bool http_is_loopback(const char *url)
{
    CURLU *parts = curl_url();
    char *host = NULL;

    if (!parts)
        abort();
    bool is = !curl_url_set(parts, CURLUPART_URL, url, 0) &&
              !curl_url_get(parts, CURLUPART_HOST, &host, 0) && is_loopback(host);
    curl_free(host);
    curl_url_cleanup(parts);
    return is;
}
