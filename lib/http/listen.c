#include "lib/http/listen.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/alloc.h"

/* "host:port" into its halves; a host with colons is in brackets. */
static struct err *split(const char *address, char **ret_host, char **ret_port)
{
    const char *colon = strrchr(address, ':');
    char *end = NULL;

    if (colon && isdigit((unsigned char)colon[1]) && strtoul(colon + 1, &end, 10) > UINT16_MAX)
        return err_new(ERR_INVALID, "address \"%s\": the port must be at most %d", address,
                       UINT16_MAX);
    if (!end || *end)
        return err_new(ERR_INVALID, "address \"%s\" is not of the form host:port", address);

    size_t length = (size_t)(colon - address);
    bool brackets = length >= 2 && address[0] == '[' && colon[-1] == ']';
    *ret_host = brackets ? mem_strndup(address + 1, length - 2) : mem_strndup(address, length);
    *ret_port = mem_strdup(colon + 1);
    return NULL;
}

/* A socket for [::] takes IPv4 as well, whatever the system's default is. */
static int try_listen(const struct addrinfo *info)
{
    int on = 1, off = 0;
    int fd = socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (info->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, SOMAXCONN) == 0)
        return fd;

    int saved = errno;
    close(fd);
    errno = saved;
    return -1;
}

static struct err *listen_at(const char *address, const char *host, const char *port, int *ret_fd)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *all;
    int fd = -1, status = getaddrinfo(host, port, &hints, &all);

    if (status)
        return err_new(ERR_INVALID, "address \"%s\": %s", address, gai_strerror(status));
    for (const struct addrinfo *info = all; info && fd < 0; info = info->ai_next)
        fd = try_listen(info);
    int reason = errno;
    freeaddrinfo(all);
    if (fd < 0)
        return err_new(reason == EADDRINUSE ? ERR_BUSY : ERR_UNAVAILABLE, "cannot listen on %s: %s",
                       address, strerror(reason));
    *ret_fd = fd;
    return NULL;
}

/* ---- Unix sockets ---- */

struct err *listen_unix_address(const char *address, struct sockaddr_un *ret)
{
    const char *path = address + strlen(LISTEN_UNIX);

    if (path[0] != '/' || strlen(path) >= sizeof ret->sun_path)
        return err_new(ERR_INVALID, "address \"%s\": expected a path of less than %zu bytes",
                       address, sizeof ret->sun_path);
    *ret = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(ret->sun_path, path, strlen(path));
    return NULL;
}

/* What a former life of this program has left there is taken away. */
static struct err *listen_unix(const char *address, int *ret_fd)
{
    struct sockaddr_un at;
    struct stat found;

    TRY(listen_unix_address(address, &at));
    if (lstat(at.sun_path, &found) == 0 && S_ISSOCK(found.st_mode))
        unlink(at.sun_path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) < 0 || listen(fd, SOMAXCONN) < 0) {
        struct err *err =
            err_new(ERR_UNAVAILABLE, "cannot listen on %s: %s", address, strerror(errno));
        if (fd >= 0)
            close(fd);
        return err;
    }
    *ret_fd = fd;
    return NULL;
}

/* ---- either ---- */

struct err *listen_on(const char *address, int *ret_fd)
{
    CLEANUP(freep) char *host = NULL;
    CLEANUP(freep) char *port = NULL;

    if (strncmp(address, LISTEN_UNIX, strlen(LISTEN_UNIX)) == 0)
        return listen_unix(address, ret_fd);
    TRY(split(address, &host, &port));
    if (host[0])
        return listen_at(address, host, port, ret_fd);

    struct err *err = listen_at(address, "::", port, ret_fd);
    if (!err || err_kind(err) == ERR_BUSY)
        return err;
    err_free(err); /* perhaps a machine without IPv6 */
    return listen_at(address, "0.0.0.0", port, ret_fd);
}

unsigned listen_port(int fd)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;

    if (getsockname(fd, (struct sockaddr *)&address, &length) < 0 || address.ss_family == AF_UNIX)
        return 0;
    return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                               : ((struct sockaddr_in *)&address)->sin_port);
}
