/* Every situation is one row: what is on each node, and where placement wants replicas. A new rule
 * is a new row. */
#include "controller/replica/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { MAX_NODES = 6 };
static const char *const names[MAX_NODES] = {"a", "b", "c", "d", "e", "f"};

struct row {
    const char *why;
    /* One character for each of the nodes a, b, ...: P primary, p one that is not attached yet, C
     * and c the same while data is copied to the disk, R replica, r one that is not attached yet, U
     * one of no use, u one that is neither, - leaving, . nothing. */
    const char *there;
    const char *targets; /* nodes, best first; in upper case: without a slot yet */
    unsigned wanted, max_shares;
    /* "+x" attach to x, "-x" release from x, then ! no node, ? waits for a release, # for a slot,
     * % for data that is copied to the disk */
    const char *plan;
};

static const struct row rows[] = {
    {"enough, and where they belong: nothing to do", "PR.", "b", 1, 2, ""},
    {"what is missing is attached, the best place first", "P...", "cb", 2, 3, "+c+b"},
    {"no place at all", "P.", "", 1, 2, "!"},
    {"one place of two", "P.", "b", 2, 3, "+b!"},
    {"a useless replica's stand-in is attached first", "PU.", "c", 1, 3, "+c"},
    {"it goes when that one is attached", "PUR", "c", 1, 3, "-b"},
    {"and not before", "PUr", "c", 1, 3, ""},
    {"with no share left it goes first", "PU.", "c", 1, 2, "-b?"},
    {"and the other one comes only once it is gone", "P-.", "c", 1, 2, "?"},
    {"a useless one stays while nobody can take its place", "PRU", "b", 2, 3, "!"},
    {"a good one that is to be with the pod's other volumes moves in the same way", "PR.", "c", 1,
     3, "+c"},
    {"two to replace, a share for one: the other one gives its own", "PUU..", "de", 2, 4, "+d-c?"},
    {"neither attached nor of use: nobody need stand in for it", "Pu.", "", 1, 3, "-b!"},
    {"nor would it have a share for long", "Pu.", "c", 1, 3, "+c-b"},
    {"which another one may wait for", "Pu.", "c", 1, 2, "-b?"},
    {"switched off: replicas go, the primary stays", "PRR", "", 0, 3, "-c-b"},
    {"lowered: what does not belong goes", "PRR", "b", 1, 3, "-c"},
    {"lowered, of no use before of use", "PRUR", "d", 1, 4, "-c-b"},
    {"what is attached stays rather than what is not", "PrR.", "", 1, 4, "-b!"},
    {"a primary on a fourth node takes the share of what does not belong", "pRUR", "bd", 2, 3,
     "-c"},
    {"nothing is attached before the primary is", "p.", "b", 1, 2, ""},
    {"nothing is replaced before the primary is", "pU.", "c", 1, 2, ""},
    {"no slot yet: it waits for the volume that has it", "P.", "B", 1, 2, "#"},
    {"and the old one stays so long", "PU.", "C", 1, 2, "#"},
    {"collected", "RR", "", 0, 3, "-b-a"},
    {"nothing is attached while data is copied to the disk", "C..", "bc", 2, 3, "%"},
    {"not even where there is no node for all", "C..", "", 2, 3, "%"},
    {"what is attached stays", "CRR", "bc", 2, 3, ""},
    {"of use or not, for no other one comes", "CU.", "c", 1, 3, "%"},
    {"what is too much goes", "CRR", "b", 1, 3, "-c"},
    {"and does not wait for one that does not come", "CUR.", "d", 1, 4, "-b%"},
    {"the primary is waited for first", "c..", "bc", 2, 3, ""},
};

static void decide(const struct row *row, struct replica_plan *plan)
{
    struct replica_attachment attachments[MAX_NODES] = {0};
    struct replica_target targets[MAX_NODES] = {0};
    size_t n_attachments = 0, n_targets = 0;
    bool may_attach = false;

    for (size_t i = 0; row->there[i]; i++) {
        char what = row->there[i];

        if (what == '.')
            continue;
        may_attach |= strchr("PC", what) != NULL;
        attachments[n_attachments++] =
            (struct replica_attachment){.node = names[i],
                                        .primary = strchr("PpCc", what) != NULL,
                                        .leaving = what == '-',
                                        .attached = strchr("PCRU", what) != NULL,
                                        .useful = strchr("Rr", what) != NULL};
    }
    for (const char *target = row->targets; *target; target++)
        targets[n_targets++] = (struct replica_target){names[(*target | 32) - 'a'], *target >= 'a'};
    replica_decide(&(struct replica_snapshot){.attachments = attachments,
                                              .n_attachments = n_attachments,
                                              .targets = targets,
                                              .n_targets = n_targets,
                                              .wanted = row->wanted,
                                              .may_attach = may_attach,
                                              .copying = strpbrk(row->there, "Cc") != NULL,
                                              .max_shares = row->max_shares},
                   plan);
    /* Indexes of attachments become those of nodes. */
    for (size_t i = 0; i < plan->n_release; i++)
        plan->release[i] = (size_t)(attachments[plan->release[i]].node[0] - 'a');
    for (size_t i = 0; i < plan->n_attach; i++)
        plan->attach[i] = (size_t)(targets[plan->attach[i]].node[0] - 'a');
}

static void render(const struct replica_plan *plan, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < plan->n_attach; i++)
        used += (size_t)snprintf(out + used, size - used, "+%s", names[plan->attach[i]]);
    for (size_t i = 0; i < plan->n_release; i++)
        used += (size_t)snprintf(out + used, size - used, "-%s", names[plan->release[i]]);
    snprintf(out + used, size - used, "%s",
             (const char *[]){"", "!", "?", "%", "#"}[plan->shortfall]);
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct replica_plan plan;
        char text[256];

        decide(&rows[i], &plan);
        render(&plan, text, sizeof text);
        if (strcmp(text, rows[i].plan) != 0)
            fail_msg("%s: expected \"%s\", got \"%s\"", rows[i].why, rows[i].plan, text);
    }
}

static void test_a_primary_takes_what_it_needs(void **state)
{
    (void)state;
    assert_int_equal(replicas_wanted(1, 1, 2), 1);
    assert_int_equal(replicas_wanted(5, 1, 3), 2);
    assert_int_equal(replicas_wanted(1, 2, 2), 0);
    assert_int_equal(replicas_wanted(1, 3, 2), 0);
    assert_int_equal(replicas_wanted(0, 1, 2), 0);
}

/* ---- properties ---- */

static unsigned count(const char *there, const char *kinds)
{
    unsigned n = 0;

    for (size_t i = 0; i < MAX_NODES; i++)
        n += strchr(kinds, there[i]) != NULL;
    return n;
}

/* Carries a plan out; `there` has then what is leaving and what is being attached. */
static void apply(const struct row *row, const struct replica_plan *plan, char *there)
{
    unsigned useful = count(there, "R");

    for (size_t i = 0; i < plan->n_attach; i++) {
        assert_int_equal(there[plan->attach[i]], '.');
        there[plan->attach[i]] = 'r';
    }
    assert_true(plan->n_attach == 0 || MAX_NODES - count(there, ".") <= row->max_shares);
    for (size_t i = 0; i < plan->n_release; i++) {
        assert_non_null(strchr("RrU", there[plan->release[i]]));
        there[plan->release[i]] = '-';
    }
    /* With a share to spare, no replica that could be promoted goes before its successor is
     * there. */
    if (useful <= row->wanted && MAX_NODES - count(there, ".") < row->max_shares)
        assert_int_equal(count(there, "R"), useful);
}

/* From wherever it begins, carrying out plan after plan brings every replica to its target, and
 * keeps every guarantee of the header on the way. */
static void test_settles_from_anywhere(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 20000; seed++) {
        unsigned r = seed, rounds = 0;
        char there[MAX_NODES + 1] = "P.....", targets[MAX_NODES + 1] = "";
        struct row row = {.there = there, .targets = targets};
        struct replica_plan plan;

        row.max_shares = 2 + rand_r(&r) % 3;
        row.wanted = 1 + rand_r(&r) % (row.max_shares - 1);
        for (size_t i = 1; i < MAX_NODES; i++) {
            bool full = MAX_NODES - count(there, ".") >= row.max_shares;

            there[i] = full ? '.' : "..RrU-"[rand_r(&r) % 6];
            if (strlen(targets) < row.wanted && there[i] != 'U' && there[i] != '-' &&
                rand_r(&r) % 2)
                targets[strlen(targets)] = names[i][0];
        }
        bool under_way;
        do {
            decide(&row, &plan);
            apply(&row, &plan, there);
            under_way = count(there, "r-") > 0;
            for (size_t i = 0; i < MAX_NODES; i++)
                there[i] = there[i] == '-' ? '.' : there[i] == 'r' ? 'R' : there[i];
            assert_in_range(++rounds, 1, 8);
        } while (under_way);
        assert_int_not_equal(plan.shortfall, REPLICAS_WAIT_RELEASE);
        for (const char *target = targets; *target; target++)
            assert_int_equal(there[*target - 'a'], 'R');
        assert_true(count(there, "RU") <= row.wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_a_primary_takes_what_it_needs),
        cmocka_unit_test(test_settles_from_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
