/* string_set.h - a set of texts, each of them a copy that the set owns.
 *
 * Owner: whoever has the struct; all zero is the empty set. Not for several threads at once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct string_set {
    struct string_set_member *members; /* private */
};

bool string_set_has(const struct string_set *set, const char *text);
size_t string_set_count(const struct string_set *set);
/* False if it was there. */
bool string_set_add(struct string_set *set, const char *text);
/* False if it was not there. */
bool string_set_remove(struct string_set *set, const char *text);
/* Leaves the empty set, which holds no memory. */
void string_set_clear(struct string_set *set);
