/* Every situation is one row: the nodes that have any of the pod's disks, each as what it has of
 * them, what speaks against it and how many places it has, and which of them is picked. What
 * pick.h promises of any input is checked on random nodes. */
#include "controller/placement/pick.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

enum { MOST = 5, NOBODY = -1 };

#define HAS(n, m) .disks = {.healthy = true, .attached = (n), .attaching = (m)}
#define ILL(n) .disks = {.attached = (n)}
#define ASKED(n) .disks = {.healthy = true, .attached = (n), .asked_for = true}
#define ROOM .places = 4

static const struct {
    const char *why;
    unsigned n_disks;
    struct pick_node nodes[MOST]; /* without a name at the end */
    enum pick_result result;
    int picked;
} rows[] = {
    {"no volume of ours", 0, {{0}}, PICK_NO_VOLUME, NOBODY},
    {"attached nowhere", 2, {{0}}, PICK_NO_ATTACHMENT, NOBODY},
    {"one node", 1, {{"a", HAS(1, 0), ROOM}}, PICK_NODE, 0},
    {"the node with most of the disks",
     3,
     {{"a", HAS(1, 0), ROOM}, {"b", HAS(3, 0), ROOM}, {"c", HAS(2, 0), ROOM}},
     PICK_NODE,
     1},
    {"a disk on its way counts half",
     2,
     {{"a", HAS(0, 2), ROOM}, {"b", HAS(1, 1), ROOM}},
     PICK_NODE,
     1},
    {"a node that is ill is none", 1, {{"a", ILL(1), ROOM}, {"b", HAS(0, 1), ROOM}}, PICK_NODE, 1},
    {"all of them are ill", 1, {{"a", ILL(1), ROOM}, {"b", ILL(1), ROOM}}, PICK_UNHEALTHY, NOBODY},
    {"what the scheduler refuses is not proposed",
     2,
     {{"a", HAS(2, 0), .refusal = UNSCHEDULABLE_CORDONED, ROOM}, {"b", HAS(1, 0), ROOM}},
     PICK_NODE,
     1},
    {"it refuses all",
     1,
     {{"a", HAS(1, 0), .refusal = UNSCHEDULABLE_TAINT, ROOM}},
     PICK_REFUSED,
     NOBODY},
    {"a full node",
     2,
     {{"a", HAS(2, 0), .joining = 2, .places = 1}, {"b", HAS(1, 0), ROOM}},
     PICK_NODE,
     1},
    {"the last places",
     2,
     {{"a", HAS(2, 0), .joining = 2, .places = 2}, {"b", HAS(1, 0), .joining = 2, ROOM}},
     PICK_NODE,
     0},
    {"primaries have their places already",
     2,
     {{"a", HAS(2, 0), .joining = 0, .places = 0}},
     PICK_NODE,
     0},
    {"all are full", 1, {{"a", HAS(1, 0), .joining = 1}}, PICK_NO_PLACE, NOBODY},
    {"the reason is that of the one that came furthest",
     1,
     {{"a", HAS(1, 0), .joining = 1}, {"b", ILL(1)}, {"c", HAS(1, 0), .refusal = 1}},
     PICK_NO_PLACE,
     NOBODY},
    {"of equal ones the one that the pod prefers",
     1,
     {{"a", HAS(1, 0), .joining = 0, ROOM}, {"b", HAS(1, 0), .joining = 1, .preference = 5, ROOM}},
     PICK_NODE,
     1},
    {"then the one where less has to be promoted",
     1,
     {{"a", HAS(1, 0), .joining = 1, .places = 9}, {"b", HAS(1, 0), .joining = 0, .places = 1}},
     PICK_NODE,
     1},
    {"then the emptier one",
     1,
     {{"a", HAS(1, 0), .joining = 1, .places = 1}, {"b", HAS(1, 0), .joining = 1, .places = 2}},
     PICK_NODE,
     1},
    {"then any, but the same each time",
     1,
     {{"b", HAS(1, 0), ROOM}, {"a", HAS(1, 0), ROOM}},
     PICK_NODE,
     1},
    {"the one that is asked for",
     1,
     {{"a", HAS(1, 0), .preference = 50, ROOM}, {"b", ASKED(1), ROOM}},
     PICK_NODE,
     1},
    {"one that is asked for, but has not all of the disks",
     2,
     {{"a", HAS(2, 0), ROOM}, {"b", ASKED(1), ROOM}},
     PICK_NODE,
     0},
    {"one that is asked for, but would be refused",
     1,
     {{"a", HAS(1, 0), ROOM}, {"b", ASKED(1), .refusal = UNSCHEDULABLE_CORDONED, ROOM}},
     PICK_NODE,
     0},
};

static size_t count_nodes(const struct pick_node *nodes)
{
    size_t n = 0;

    while (n < MOST && nodes[n].name)
        n++;
    return n;
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        size_t n = count_nodes(rows[i].nodes);
        struct pick pick = pick_node(rows[i].nodes, n, rows[i].n_disks);

        if (pick.result != rows[i].result)
            fail_msg("%s: expected %s, got %s", rows[i].why, pick_result_word(rows[i].result),
                     pick_result_word(pick.result));
        if (pick.result == PICK_NODE && (int)pick.node != rows[i].picked)
            fail_msg("%s: expected %s, got %s", rows[i].why, rows[i].nodes[rows[i].picked].name,
                     rows[i].nodes[pick.node].name);
    }
}

/* ---- whatever the nodes are ---- */

static unsigned below(unsigned *seed, unsigned n)
{
    return (unsigned)rand_r(seed) % n;
}

static void draw(struct pick_node *node, const char *name, unsigned *seed)
{
    *node = (struct pick_node){
        .name = name,
        .disks = {.healthy = below(seed, 4) > 0,
                  .attached = below(seed, 3),
                  .attaching = 1 + below(seed, 2)},
        .refusal = below(seed, 4) ? UNSCHEDULABLE_NONE : UNSCHEDULABLE_TAINT,
        .preference = (int)below(seed, 3),
        .joining = below(seed, 4),
        .places = below(seed, 4),
    };
}

static bool suits(const struct pick_node *node)
{
    return node->disks.healthy && !node->refusal && node->joining <= node->places;
}

static void test_any(void **state)
{
    static const char *const names[MOST] = {"a", "b", "c", "d", "e"};

    (void)state;
    for (unsigned seed = 0; seed < 20000; seed++) {
        unsigned random = seed;
        struct pick_node nodes[MOST], turned[MOST];
        size_t n = 1 + below(&random, MOST);
        unsigned best = 0;

        for (size_t i = 0; i < n; i++) {
            draw(&nodes[i], names[i], &random);
            turned[n - 1 - i] = nodes[i];
            unsigned points = 2 * nodes[i].disks.attached + nodes[i].disks.attaching;
            if (suits(&nodes[i]) && points > best)
                best = points;
        }
        struct pick pick = pick_node(nodes, n, 3), other = pick_node(turned, n, 3);
        assert_int_equal(pick.result == PICK_NODE, best > 0);
        assert_int_equal(pick.result, other.result);
        if (pick.result != PICK_NODE)
            continue;
        const struct pick_node *picked = &nodes[pick.node];
        assert_true(suits(picked));
        assert_string_equal(picked->name, turned[other.node].name);
        assert_int_equal(2 * picked->disks.attached + picked->disks.attaching, best);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_any),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
