/* file.h - an input as a file, for readers that take a path. It is in memory only.
 */
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include "test/fuzz/input.h"

enum { INPUT_PATH_SIZE = 32 };

/* The descriptor of a file with this content, and its path, which is good while that is open. */
static inline int input_file(const void *data, size_t size, char path[INPUT_PATH_SIZE])
{
    int fd = memfd_create("input", MFD_CLOEXEC);

    MUST(fd >= 0 && pwrite(fd, data, size, 0) == (ssize_t)size);
    snprintf(path, INPUT_PATH_SIZE, "/proc/self/fd/%d", fd);
    return fd;
}
