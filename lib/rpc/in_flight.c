#include "lib/rpc/in_flight.h"

#include <assert.h>

struct err *in_flight_begin(struct in_flight *set, const char *text)
{
    if (!string_set_add(&set->keys, text))
        return err_new(ERR_BUSY, "an operation for %s is already in progress", text);
    return NULL;
}

void in_flight_end(struct in_flight *set, const char *text)
{
    bool there = string_set_remove(&set->keys, text);

    assert(there);
    (void)there;
}
