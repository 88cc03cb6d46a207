#include "lib/rpc/endpoint.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/alloc.h"

static void closep(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

struct err *endpoint_path(const char *endpoint, const char **ret_path)
{
    static const char scheme[] = "unix:";
    const char *path = endpoint;
    size_t longest = sizeof((struct sockaddr_un *)0)->sun_path - 1;

    if (strncmp(path, scheme, strlen(scheme)) == 0)
        path += strlen(scheme);
    if (strncmp(path, "//", 2) == 0)
        path += 2;
    if (path[0] != '/' || path[strlen(path) - 1] == '/')
        return err_new(ERR_INVALID,
                       "endpoint \"%s\": expected the path of a socket, as in unix:///csi/csi.sock",
                       endpoint);
    if (strlen(path) > longest)
        return err_new(ERR_INVALID,
                       "endpoint \"%s\": the path has %zu bytes, but at most %zu are possible",
                       endpoint, strlen(path), longest);
    *ret_path = path;
    return NULL;
}

static struct err *check_folder(const char *path)
{
    size_t length = (size_t)(strrchr(path, '/') - path);
    CLEANUP(freep) char *folder = mem_strndup(path, length ? length : 1);
    struct stat stat_of;

    if (stat(folder, &stat_of) < 0)
        return err_new(ERR_UNAVAILABLE, "%s: directory %s: %s", path, folder, strerror(errno));
    if (!S_ISDIR(stat_of.st_mode))
        return err_new(ERR_UNAVAILABLE, "%s: %s is not a directory", path, folder);
    if (access(folder, W_OK | X_OK) < 0)
        return err_new(ERR_UNAVAILABLE, "%s: cannot write to directory %s: %s", path, folder,
                       strerror(errno));
    return NULL;
}

/* A process that listens answers, or is too busy to (EAGAIN); a dead one's socket refuses. */
static struct err *check_unused(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    CLEANUP(closep) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    memcpy(address.sun_path, path, strlen(path) + 1);
    if (fd < 0)
        return err_new(ERR_UNAVAILABLE, "%s: %s", path, strerror(errno));
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0 || errno == EAGAIN)
        return err_new(ERR_UNAVAILABLE, "%s: another process is listening on it", path);
    if (errno != ECONNREFUSED && errno != ENOENT)
        return err_new(ERR_UNAVAILABLE, "%s: %s", path, strerror(errno));
    return NULL;
}

struct err *endpoint_check(const char *path)
{
    struct stat stat_of;

    TRY(check_folder(path));
    if (lstat(path, &stat_of) < 0)
        return errno == ENOENT ? NULL : err_new(ERR_UNAVAILABLE, "%s: %s", path, strerror(errno));
    if (!S_ISSOCK(stat_of.st_mode))
        return err_new(ERR_UNAVAILABLE, "%s: exists and is not a socket", path);
    return check_unused(path);
}
