/* URLs that answers say, before a credential goes there; addresses and paths of sockets. */
#include <sys/socket.h>
#include <sys/un.h>

#include "lib/http/listen.h"
#include "lib/http/message.h"
#include "lib/http/origin.h"
#include "lib/rpc/endpoint.h"
#include "test/fuzz/input.h"

#define HOST "management.azure.com"
#define HOME "https://" HOST

static void check_origin(const char *url)
{
    if (!http_same_origin(url, HOME))
        return;
    /* As written, up to what tells paths from hosts; libcurl does not count the slashes. */
    MUST(strncasecmp(url, "https:/", 7) == 0);
    const char *host = url + 6 + strspn(url + 6, "/");
    MUST(!memchr(host, '@', strcspn(host, "/?#")));
    MUST(strncasecmp(host, HOST, strlen(HOST)) == 0);
    MUST(strchr("/?#:", host[strlen(HOST)]));
}

static void check_escape(const char *text)
{
    CLEANUP(freep) char *escaped = http_escape(text);

    MUST(strspn(escaped, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~%") ==
         strlen(escaped));
}

static void check_sockets(const char *text)
{
    struct sockaddr_un address;
    const char *path;

    if (input_taken(endpoint_path(text, &path)))
        MUST(path[0] == '/');
    if (strncmp(text, LISTEN_UNIX, strlen(LISTEN_UNIX)) == 0 &&
        input_taken(listen_unix_address(text, &address)))
        MUST(memchr(address.sun_path, '\0', sizeof address.sun_path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(freep) char *text = input_text(data, size);

    check_origin(text);
    check_escape(text);
    check_sockets(text);
    return 0;
}
