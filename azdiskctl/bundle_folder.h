/* bundle_folder.h - a directory of one's own, and the bounded files that are written into it.
 *
 * The directory is 0700 and was empty, its files are 0600 and new. What a file is called after
 * comes from the cluster: no name of an object reaches the file system as it is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"

struct bundle_folder {
    const char *path; /* borrowed */
    int fd;
};

/* Makes it, or takes one that is there and empty; INVALID if it is anything else. */
struct err *bundle_folder_open(const char *path, struct bundle_folder *ret)
    __attribute__((warn_unused_result));
void bundle_folder_close(struct bundle_folder *folder);

/* A part of a file's name: letters, digits, '.', '-' and '_' of the text; free() it. */
char *bundle_name_part(const char *text) __attribute__((warn_unused_result));

struct bundle_file {
    const struct bundle_folder *folder;
    const char *name; /* borrowed */
    int fd;
    size_t bytes, limit;
};

/* Call bundle_file_close in any case, and ask it whether all was written. */
struct err *bundle_file_create(const struct bundle_folder *folder, const char *name, size_t limit,
                               struct bundle_file *ret) __attribute__((warn_unused_result));
/* It has room for so much more. */
bool bundle_file_has_room(const struct bundle_file *file, size_t length);
/* EXHAUSTED, with nothing written, if there is no room. */
struct err *bundle_file_write(struct bundle_file *file, const char *data, size_t length)
    __attribute__((warn_unused_result));
struct err *bundle_file_close(struct bundle_file *file) __attribute__((warn_unused_result));
/* As if it had never been. */
void bundle_file_discard(struct bundle_file *file);

/* A file with this text. */
struct err *bundle_folder_write(const struct bundle_folder *folder, const char *name,
                                const char *text, size_t length)
    __attribute__((warn_unused_result));
