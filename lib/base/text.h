/* text.h - texts that may be missing, as Kubernetes' objects leave out what is empty, and lists in
 * a text.
 */
#pragma once

#include <stdbool.h>
#include <string.h>

/* NULL and "" are the same. */
static inline bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Whether a list such as "cpu,memory" has the word, which is not empty. */
static inline bool text_list_has(const char *list, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || !at[length]))
            return true;
    return false;
}
