#include "lib/base/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"

static void fclosep(FILE **file)
{
    if (*file)
        fclose(*file);
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
    CLEANUP(fclosep) FILE *file = fopen(path, "re");
    CLEANUP(buffer_fini) struct buffer content = {.limit = limit};
    char piece[2048];
    size_t n;

    if (!file)
        return failure(path);
    while ((n = fread(piece, 1, sizeof piece, file)) > 0)
        if (!buffer_append(&content, piece, n))
            return err_new(ERR_EXHAUSTED, "%s: larger than %zu bytes", path, limit);
    if (ferror(file))
        return failure(path);
    if (ret_length)
        *ret_length = content.length;
    *ret_text = buffer_take(&content);
    return NULL;
}
