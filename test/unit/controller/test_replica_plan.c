/* Every situation is one row: nodes as "name zone flags slots siblings", attachments as "P" or "R"
 * on a node ("p" is a primary that is not attached yet, "r" a replica that is leaving), and the
 * plan as text. A new rule is a new row. */
#include "controller/replica_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MAX_NODES = 6 };

struct row {
    const char *why;
    struct replica_node nodes[MAX_NODES];
    const char *roles; /* one character a node: P, R, r (leaving) or - */
    unsigned wanted, max_shares;
    const char *zone;
    const char
        *plan; /* "+x" attach to x, "-x" release from x, then ! no node, ? waits for a release */
};

#define NODE(name, zone, slots)                                                                    \
    {                                                                                              \
        name, zone, true, true, slots, 0                                                           \
    }

static const struct row rows[] = {
    {"attached enough: nothing to do",
     {NODE("a", "1", 4), NODE("b", "1", 4), NODE("c", "1", 4)},
     "PR-",
     1,
     2,
     "1",
     ""},
    {"most free slots first, then by name",
     {NODE("a", "1", 9), NODE("d", "1", 4), NODE("b", "1", 4), NODE("c", "1", 7)},
     "P---",
     2,
     3,
     "1",
     "+c+b"},
    {"the pod's other disks draw a replica, even to a fuller node",
     {NODE("a", "1", 9), NODE("b", "1", 9), {"c", "1", true, true, 1, 2}},
     "P--",
     1,
     2,
     "1",
     "+c"},
    {"another zone is of no use to an LRS disk, but is to a ZRS one",
     {NODE("a", "1", 9), NODE("b", "2", 9)},
     "P-",
     1,
     2,
     "1",
     "!"},
    {"a ZRS disk goes anywhere", {NODE("a", "1", 9), NODE("b", "2", 9)}, "P-", 1, 2, "", "+b"},
    {"a silent node's replica is replaced",
     {NODE("a", "1", 9), {"b", "1", false, true, 9, 0}, NODE("c", "1", 9)},
     "PR-",
     1,
     3,
     "1",
     "-b+c"},
    {"and with no share left, only once it is gone",
     {NODE("a", "1", 9), {"b", "1", false, true, 9, 0}, NODE("c", "1", 9)},
     "PR-",
     1,
     2,
     "1",
     "-b?"},
    {"a leaving attachment still counts as a share",
     {NODE("a", "1", 9), NODE("b", "1", 9), NODE("c", "1", 9)},
     "Pr-",
     1,
     2,
     "1",
     "?"},
    {"switched off: replicas go, the primary stays",
     {NODE("a", "1", 9), NODE("b", "1", 9), NODE("c", "1", 9)},
     "PRR",
     0,
     3,
     "1",
     "-c-b"},
    {"no free slot anywhere", {NODE("a", "1", 0), NODE("b", "1", 0)}, "P-", 1, 2, "1", "!"},
    {"a silent node's replica stays while nobody can take its place",
     {NODE("a", "1", 9), {"b", "1", false, true, 9, 0}, NODE("c", "1", 9)},
     "PRR",
     2,
     3,
     "1",
     "!"},
    {"a primary on a fourth node takes the share of the most dispensable replica",
     {NODE("a", "1", 9), {"b", "1", false, true, 9, 0}, NODE("c", "1", 9), NODE("d", "1", 9)},
     "pRRR",
     2,
     3,
     "1",
     "-b"},
    {"nothing is attached before the primary is",
     {NODE("a", "1", 9), NODE("b", "1", 9)},
     "p-",
     1,
     2,
     "1",
     ""},
};

static void render(const struct row *row, const struct replica_plan *plan, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < plan->n_release; i++)
        used += (size_t)snprintf(out + used, size - used, "-%s", row->nodes[plan->release[i]].name);
    for (size_t i = 0; i < plan->n_attach; i++)
        used += (size_t)snprintf(out + used, size - used, "+%s", row->nodes[plan->attach[i]].name);
    snprintf(out + used, size - used, "%s", (const char *[]){"", "!", "?"}[plan->shortfall]);
}

static void decide(const struct row *row, struct replica_plan *plan)
{
    struct replica_attachment attachments[MAX_NODES];
    size_t n_attachments = 0, n_nodes = strlen(row->roles);

    for (size_t i = 0; i < n_nodes; i++)
        if (row->roles[i] != '-')
            attachments[n_attachments++] =
                (struct replica_attachment){.node = i,
                                            .primary = strchr("Pp", row->roles[i]) != NULL,
                                            .leaving = row->roles[i] == 'r'};
    replica_decide(&(struct replica_snapshot){.nodes = row->nodes,
                                              .n_nodes = n_nodes,
                                              .attachments = attachments,
                                              .n_attachments = n_attachments,
                                              .wanted = row->wanted,
                                              .may_attach = !strchr(row->roles, 'p'),
                                              .max_shares = row->max_shares,
                                              .zone = row->zone},
                   plan);
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct replica_plan plan;
        char text[256];

        decide(&rows[i], &plan);
        render(&rows[i], &plan, text, sizeof text);
        if (strcmp(text, rows[i].plan) != 0)
            fail_msg("%s: expected \"%s\", got \"%s\"", rows[i].why, rows[i].plan, text);
    }
}

/* Carrying out plan after plan on random clusters settles, and keeps every guarantee of the header
 * on the way. */
static void test_settles_on_random_clusters(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 20000; seed++) {
        static const char *const zones[] = {"1", "2", ""};
        struct row row = {.zone = "", .roles = NULL};
        char names[MAX_NODES][2], roles[MAX_NODES + 1] = {0};
        unsigned r = seed, attached = 0;

        row.max_shares = 1 + rand_r(&r) % 4;
        row.wanted = rand_r(&r) % row.max_shares;
        row.zone = zones[rand_r(&r) % 3];
        for (size_t i = 0; i < MAX_NODES; i++) {
            names[i][0] = (char)('a' + i);
            names[i][1] = '\0';
            row.nodes[i] =
                (struct replica_node){names[i],           zones[rand_r(&r) % 2], rand_r(&r) % 4 > 0,
                                      rand_r(&r) % 4 > 0, rand_r(&r) % 3,        rand_r(&r) % 2};
            roles[i] = attached < row.max_shares ? "-Rr"[rand_r(&r) % 3] : '-';
            attached += roles[i] != '-';
        }
        if (roles[0] != '-')
            roles[0] = 'P';
        row.roles = roles;

        struct replica_plan plan;
        unsigned rounds = 0;
        do {
            decide(&row, &plan);
            for (size_t i = 0; i < plan.n_attach; i++, attached++) {
                assert_int_equal(roles[plan.attach[i]], '-');
                roles[plan.attach[i]] = 'R';
            }
            assert_in_range(attached, 0, row.max_shares);
            for (size_t i = 0; i < plan.n_release; i++) {
                assert_int_equal(roles[plan.release[i]], 'R');
                roles[plan.release[i]] = 'r';
            }
            for (size_t i = 0; i < MAX_NODES; i++)
                if (roles[i] == 'r') {
                    roles[i] = '-';
                    attached--;
                }
            assert_in_range(++rounds, 1, 4);
        } while (plan.n_attach || plan.n_release || plan.shortfall == REPLICAS_WAIT_RELEASE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_settles_on_random_clusters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
