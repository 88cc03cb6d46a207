/* config_member.h - checks of the configuration's members, each with the path to say when it fails.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/base/err.h"

/* Whether a text can be what a member is to be, and how to say it. */
struct text_form {
    bool (*fits)(const char *text);
    const char *what;
    bool secret; /* not to be repeated in a message */
};

extern const struct text_form text_uuid, text_secret, text_any, text_vm;

/* Only members that are known, by a list that ends in NULL; `path` is "" or ends in a dot. */
struct err *member_check_names(const json_t *json, const char *path, const char *const known[])
    __attribute__((warn_unused_result));
struct err *member_check_text(const json_t *value, const char *path, const struct text_form *form)
    __attribute__((warn_unused_result));
struct err *member_check_list(const json_t *list, const char *path, size_t most)
    __attribute__((warn_unused_result));
