#include "lib/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/buffer.h"

static void closep(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static struct err *failure(const char *path)
{
    enum err_kind kind = errno == ENOENT   ? ERR_NOT_FOUND
                         : errno == EACCES ? ERR_DENIED
                                           : ERR_INTERNAL;

    return err_new(kind, "%s: %s", path, strerror(errno));
}

struct err *file_read(const char *path, size_t limit, char **ret_text, size_t *ret_length)
{
    CLEANUP(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);
    CLEANUP(buffer_fini) struct buffer content = {.limit = limit};
    char piece[2048];
    bool fits = true;
    ssize_t n;

    if (fd < 0)
        return failure(path);
    while (fits && (n = read(fd, piece, sizeof piece)) > 0)
        fits = buffer_append(&content, piece, (size_t)n);
    explicit_bzero(piece, sizeof piece);
    if (!fits)
        return err_new(ERR_EXHAUSTED, "%s: larger than %zu bytes", path, limit);
    if (n < 0)
        return failure(path);
    if (ret_length)
        *ret_length = content.length;
    *ret_text = buffer_take(&content);
    return NULL;
}
