#include "controller/attachment/disk_owner.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

enum { NOBODY = 99 };

static const struct {
    const char *why, *node;
    struct disk_owner owners[3];
    size_t n;
    enum disk_owner_search found;
    size_t owner;
} rows[] = {
    {"attached nowhere", "node-1", {{0}}, 0, DISK_OWNER_NONE, NOBODY},
    {"attached to the node's VM, whatever Azure calls it",
     "node-1",
     {{"/a", false, "node-2"}, {"/b", false, "NODE-1"}},
     2,
     DISK_OWNER_FOUND,
     1},
    {"attached to others only",
     "node-1",
     {{"/a", false, "node-2"}, {"/b", false, "node-11"}},
     2,
     DISK_OWNER_NONE,
     NOBODY},
    {"a node by its full name",
     "node-1.internal.example",
     {{"/a", false, "node-1"}},
     1,
     DISK_OWNER_FOUND,
     0},
    {"a name is not the beginning of another",
     "node-1",
     {{"/a", false, "node"}},
     1,
     DISK_OWNER_NONE,
     NOBODY},
    {"a VM that is gone owns nothing", "node-1", {{"/a", true, NULL}}, 1, DISK_OWNER_NONE, NOBODY},
    {"one that does not say may be it",
     "node-1",
     {{"/a", false, "node-2"}, {"/b", false, NULL}},
     2,
     DISK_OWNER_UNCLEAR,
     NOBODY},
    {"unless another one is",
     "node-1",
     {{"/a", false, NULL}, {"/b", true, NULL}, {"/c", false, "node-1"}},
     3,
     DISK_OWNER_FOUND,
     2},
};

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t owner = NOBODY;
        enum disk_owner_search found =
            disk_owner_decide(rows[i].node, rows[i].owners, rows[i].n, &owner);

        if (found != rows[i].found || owner != rows[i].owner)
            fail_msg("%s: found %d, owner %zu", rows[i].why, found, owner);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
