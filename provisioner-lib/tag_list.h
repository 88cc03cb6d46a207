/* tag_list.h - the tags of a disk or snapshot, as a class says them: "k1=v1,k2=v2".
 */
#pragma once

#include "lib/base/err.h"
#include "provisioner-lib/parameter_list.h"

/* Replaces what stands for something else in a value; free() the result. */
typedef struct err *tag_expand_fn(const void *ctx, const char *text, char **ret);

/* `delimiter` may be NULL or empty, for a comma; `expand` NULL, for values as they are. INVALID if
 * the text is not of this form, or has a name or value that Azure does not allow or that is
 * reserved. What was read is in `ret` even then. */
struct err *tag_list_parse(const char *text, const char *delimiter, tag_expand_fn *expand,
                           const void *ctx, struct parameter **ret, size_t *ret_n)
    __attribute__((warn_unused_result));
/* Frees such a list and sets it to none. */
void tag_list_free(struct parameter **tags, size_t *n);
