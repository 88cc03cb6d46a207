#include "lib/rpc/in_flight.h"

#include <assert.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/hash.h"

struct in_flight_key {
    char *text;
    UT_hash_handle hh;
};

static struct in_flight_key *find(const struct in_flight *set, const char *text)
{
    struct in_flight_key *key;

    HASH_FIND_STR(set->keys, text, key);
    return key;
}

struct err *in_flight_begin(struct in_flight *set, const char *text)
{
    if (find(set, text))
        return err_new(ERR_BUSY, "an operation for %s is already in progress", text);

    struct in_flight_key *key = mem_alloc(sizeof *key);
    key->text = mem_strdup(text);
    HASH_ADD_KEYPTR(hh, set->keys, key->text, strlen(key->text), key);
    return NULL;
}

void in_flight_end(struct in_flight *set, const char *text)
{
    struct in_flight_key *key = find(set, text);

    assert(key);
    HASH_DEL(set->keys, key);
    free(key->text);
    free(key);
}
