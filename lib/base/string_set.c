#include "lib/base/string_set.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/hash.h"

struct string_set_member {
    UT_hash_handle hh;
    char text[];
};

static struct string_set_member *find(const struct string_set *set, const char *text)
{
    struct string_set_member *member;

    HASH_FIND_STR(set->members, text, member);
    return member;
}

bool string_set_has(const struct string_set *set, const char *text)
{
    return find(set, text) != NULL;
}

size_t string_set_count(const struct string_set *set)
{
    return HASH_COUNT(set->members);
}

bool string_set_add(struct string_set *set, const char *text)
{
    size_t length = strlen(text);

    if (find(set, text))
        return false;
    struct string_set_member *member = mem_alloc(sizeof *member + length + 1);
    memcpy(member->text, text, length);
    HASH_ADD_KEYPTR(hh, set->members, member->text, length, member);
    return true;
}

static void drop(struct string_set *set, struct string_set_member *member)
{
    HASH_DEL(set->members, member);
    free(member);
}

bool string_set_remove(struct string_set *set, const char *text)
{
    struct string_set_member *member = find(set, text);

    if (member)
        drop(set, member);
    return member != NULL;
}

void string_set_clear(struct string_set *set)
{
    HASH_FOREACH(set->members, member)
        drop(set, member);
}
