/* Every situation is one row: what each node has of the pod's disks, as a character for each disk
 * ("A" attached, "a" being attached), after a "!" for a node that is not healthy and a ">" for one
 * that is asked for; then the scores.
 * The properties that score.h promises are checked on random clusters. */
#include "provisioner-lib/placement/score.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

enum { MOST_NODES = 12, MOST_DISKS = 40 };

static const struct {
    const char *why;
    unsigned n_disks;
    const char *nodes[6]; /* NULL at the end */
    unsigned scores[6];
} rows[] = {
    {"in proportion to the share of the disks", 3, {"AAA", "AA", "A", ""}, {10, 7, 3, 0}},
    {"one disk, all or nothing", 1, {"", "A", ""}, {0, 10, 0}},
    {"a disk that is being attached is worth half", 1, {"a", "A", ""}, {5, 10, 0}},
    {"two halves are a whole", 2, {"aa", "A", "Aa", "AA"}, {5, 5, 8, 10}},
    {"no replica anywhere: all the same", 2, {"", "", ""}, {0, 0, 0}},
    {"no replica anywhere, whoever is ill: all the same", 2, {"", "!", ""}, {0, 0, 0}},
    {"no disks: all the same", 0, {"", "!", ""}, {0, 0, 0}},
    {"an ill node with every disk loses to a healthy one with none", 1, {"!A", "", ""}, {0, 1, 1}},
    {"an ill node is the last", 3, {"!AAA", "AAA", "A", "", "!"}, {0, 10, 3, 1, 0}},
    {"everybody is ill: all the same", 1, {"!A", "!", "!A"}, {0, 0, 0}},
    {"the node that is asked for, far before the others",
     3,
     {"AAA", ">AAA", "AA", "", "!"},
     {3, 10, 3, 1, 0}},
    {"the node that is asked for has not all", 2, {"AA", ">A", ""}, {10, 5, 0}},
    {"the node that is asked for is ill", 1, {"A", "!>A", ""}, {10, 0, 1}},
    {"the node that is asked for, alone", 1, {">A"}, {10}},
    {"no nodes", 1, {NULL}, {0}},
};

static struct score_node read_node(const char *text)
{
    struct score_node node = {.healthy = text[0] != '!'};

    for (const char *c = text; *c; c++) {
        node.asked_for |= *c == '>';
        node.attached += *c == 'A';
        node.attaching += *c == 'a';
    }
    return node;
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct score_node nodes[6];
        unsigned scores[6] = {0};
        size_t n = 0;

        for (; rows[i].nodes[n]; n++)
            nodes[n] = read_node(rows[i].nodes[n]);
        score_nodes(nodes, n, rows[i].n_disks, scores);
        for (size_t k = 0; k < n; k++)
            if (scores[k] != rows[i].scores[k])
                fail_msg("%s: node %zu: expected %u, got %u", rows[i].why, k, rows[i].scores[k],
                         scores[k]);
    }
}

static void test_the_ends_of_the_scale_are_exact(void **state)
{
    (void)state;
    for (unsigned n = 2; n <= 1000; n++) {
        const struct score_node nodes[] = {
            {true, n, 0, false}, {true, n - 1, 1, false}, {true, 0, 1, false}, {true, 0, 0, false}};
        unsigned scores[4];

        score_nodes(nodes, 4, n, scores);
        assert_int_equal(scores[0], SCORE_MOST);
        assert_in_range(scores[1], 1, SCORE_MOST - 1);
        assert_in_range(scores[2], 1, SCORE_MOST - 1);
        assert_int_equal(scores[3], 0);
    }
}

/* ---- random clusters ---- */

struct cluster {
    struct score_node nodes[MOST_NODES];
    size_t n_nodes;
    unsigned n_disks;
    unsigned scores[MOST_NODES];
};

static void make_cluster(unsigned *seed, struct cluster *cluster)
{
    cluster->n_nodes = 1 + (size_t)rand_r(seed) % MOST_NODES;
    cluster->n_disks = (unsigned)rand_r(seed) % MOST_DISKS;
    for (size_t i = 0; i < cluster->n_nodes; i++) {
        struct score_node *node = &cluster->nodes[i];

        *node = (struct score_node){.healthy = rand_r(seed) % 4 > 0};
        if (rand_r(seed) % 2)
            continue;
        node->attached = (unsigned)rand_r(seed) % (cluster->n_disks + 1);
        node->attaching = (unsigned)rand_r(seed) % (cluster->n_disks - node->attached + 1);
    }
    score_nodes(cluster->nodes, cluster->n_nodes, cluster->n_disks, cluster->scores);
}

static void check_order_does_not_matter(const struct cluster *cluster)
{
    struct score_node turned[MOST_NODES];
    unsigned scores[MOST_NODES];

    for (size_t i = 0; i < cluster->n_nodes; i++)
        turned[i] = cluster->nodes[cluster->n_nodes - 1 - i];
    score_nodes(turned, cluster->n_nodes, cluster->n_disks, scores);
    for (size_t i = 0; i < cluster->n_nodes; i++)
        assert_int_equal(scores[i], cluster->scores[cluster->n_nodes - 1 - i]);
}

/* Its weight has to decide (docs/scheduling.md), and the others keep their order. */
static void check_asking(const struct cluster *cluster)
{
    for (size_t asked_for = 0; asked_for < cluster->n_nodes; asked_for++) {
        struct cluster asked = *cluster;

        asked.nodes[asked_for].asked_for = true;
        score_nodes(asked.nodes, asked.n_nodes, asked.n_disks, asked.scores);
        for (size_t i = 0; i < asked.n_nodes; i++) {
            if (cluster->scores[asked_for] < SCORE_MOST || i == asked_for)
                assert_int_equal(asked.scores[i], cluster->scores[i]);
            else
                assert_true(asked.scores[i] <= SCORE_ASIDE);
            for (size_t k = 0; k < asked.n_nodes; k++)
                assert_true(k == asked_for || cluster->scores[i] < cluster->scores[k] ||
                            asked.scores[i] >= asked.scores[k]);
        }
    }
}

/* A disk begins to be attached, or is attached, where it was not. */
static void check_another_disk_never_lowers(const struct cluster *cluster)
{
    for (size_t i = 0; i < cluster->n_nodes; i++) {
        struct cluster more = *cluster;
        struct score_node *node = &more.nodes[i];

        if (node->attached + node->attaching == cluster->n_disks)
            continue;
        node->attaching++;
        score_nodes(more.nodes, more.n_nodes, more.n_disks, more.scores);
        unsigned attaching = more.scores[i];
        assert_true(attaching >= cluster->scores[i]);
        node->attaching--;
        node->attached++;
        score_nodes(more.nodes, more.n_nodes, more.n_disks, more.scores);
        assert_true(more.scores[i] >= attaching);
    }
}

static void check_promises(const struct cluster *cluster)
{
    bool any = false, equal = true;

    for (size_t i = 0; i < cluster->n_nodes; i++)
        any |= cluster->nodes[i].attached + cluster->nodes[i].attaching > 0;
    for (size_t i = 0; i < cluster->n_nodes; i++) {
        const struct score_node *node = &cluster->nodes[i];
        bool whole = cluster->n_disks > 0 && node->attached == cluster->n_disks;

        assert_in_range(cluster->scores[i], 0, SCORE_MOST);
        assert_int_equal(cluster->scores[i] == SCORE_MOST, node->healthy && whole);
        if (!node->healthy)
            assert_int_equal(cluster->scores[i], 0);
        for (size_t k = 0; any && !node->healthy && k < cluster->n_nodes; k++)
            assert_true(!cluster->nodes[k].healthy || cluster->scores[k] > 0);
        equal &= cluster->scores[i] == cluster->scores[0];
    }
    assert_true(any || equal);
}

static void test_promises_on_random_clusters(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 20000; seed++) {
        struct cluster cluster = {0};
        unsigned random = seed;

        make_cluster(&random, &cluster);
        check_promises(&cluster);
        check_order_does_not_matter(&cluster);
        check_another_disk_never_lowers(&cluster);
        check_asking(&cluster);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_the_ends_of_the_scale_are_exact),
        cmocka_unit_test(test_promises_on_random_clusters),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
