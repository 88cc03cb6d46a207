/* When a disk is detached from a VM of which no record says that it has it. */
#include "controller/attachment/dangling_attach.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

enum { NOBODY = 9 };

/* Owners are letters: h for the VM that is to have it, r for one on record, s for a stranger. */
static const struct {
    const char *why, *words, *owners;
    int shares;
    size_t owner;
} rows[] = {
    {"the driver's disk, with a stranger", "ours primary", "s", 1, 0},
    {"not the driver's", "primary", "s", 1, NOBODY},
    {"nobody waits for it", "ours", "s", 1, NOBODY},
    {"it is used on another node", "ours primary used", "s", 1, NOBODY},
    {"its owner is on record", "ours primary", "r", 1, NOBODY},
    {"it is there already", "ours primary", "h", 1, NOBODY},
    {"of several the one without a record", "ours primary", "rhs", 3, 2},
    {"there is room for one more: something else is why", "ours primary", "rs", 3, NOBODY},
    {"nobody has it", "ours primary", "", 1, NOBODY},
    {"the cloud does not say how many may have it", "ours primary", "s", 0, NOBODY},
};

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct dangling_owner owners[4] = {0};
        size_t owner = NOBODY;

        for (size_t o = 0; rows[i].owners[o]; o++)
            owners[o] = (struct dangling_owner){.here = rows[i].owners[o] == 'h',
                                                .on_record = rows[i].owners[o] == 'r'};
        bool is = dangling_attach_decide(
            &(struct dangling_snapshot){
                .ours = strstr(rows[i].words, "ours"),
                .for_primary = strstr(rows[i].words, "primary"),
                .used_elsewhere = strstr(rows[i].words, "used"),
                .max_shares = rows[i].shares,
                .owners = owners,
                .n_owners = strlen(rows[i].owners),
            },
            &owner);
        if (is != (rows[i].owner != NOBODY) || owner != rows[i].owner)
            fail_msg("%s: %d, owner %zu", rows[i].why, is, owner);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
