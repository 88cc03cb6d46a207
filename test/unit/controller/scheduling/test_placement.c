/* Every situation is one row: nodes, and for each volume what is on each of them. A new rule is a
 * new row. On small clusters what is found is compared with all that there is. */
#include "controller/scheduling/placement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "lib/base/alloc.h"

enum { MAX_NODES = 6, MAX_VOLUMES = 3 };

/* ---- one case ---- */

struct volume {
    /* One character for each node: P primary, R replica of use, A one that was asked for, U of
     * none, - leaving, . nothing. */
    const char *there;
    unsigned wanted;
    const char *zone;
};

struct scene {
    struct placement_node nodes[MAX_NODES];
    size_t n_nodes;
    struct placement_volume volumes[MAX_VOLUMES];
    struct placement_hold holds[MAX_VOLUMES][MAX_NODES];
    size_t n_volumes;
    struct placement found[MAX_VOLUMES];
};

static void add_volume(struct scene *scene, const struct volume *volume)
{
    size_t v = scene->n_volumes++, n = 0;

    for (size_t i = 0; volume->there[i]; i++)
        if (volume->there[i] != '.')
            scene->holds[v][n++] = (struct placement_hold){.node = i,
                                                           .primary = volume->there[i] == 'P',
                                                           .leaving = volume->there[i] == '-',
                                                           .useful = volume->there[i] == 'R' ||
                                                                     volume->there[i] == 'A',
                                                           .asked = volume->there[i] == 'A'};
    scene->volumes[v] = (struct placement_volume){volume->zone ? volume->zone : "", volume->wanted,
                                                  scene->holds[v], n};
}

static struct placement_snapshot snapshot_of(const struct scene *scene)
{
    return (struct placement_snapshot){scene->nodes, scene->n_nodes, scene->volumes,
                                       scene->n_volumes};
}

static void solve(struct scene *scene)
{
    struct placement_snapshot in = snapshot_of(scene);

    placement_solve(&in, scene->found);
}

/* ---- the table ---- */

struct row {
    const char *why;
    struct placement_node nodes[MAX_NODES];
    struct volume volumes[MAX_VOLUMES];
    const char *found; /* the names of nodes, a word for each volume */
};

#define NODE(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const struct row rows[] = {
    {"most free slots first, then by name",
     {NODE(.name = "a", .free_slots = 9), NODE(.name = "d", .free_slots = 4),
      NODE(.name = "b", .free_slots = 4), NODE(.name = "c", .free_slots = 7)},
     {{"P...", 2, "1"}},
     "cb"},
    {"fewer volumes in use, with as many slots",
     {NODE(.name = "a", .free_slots = 9), NODE(.name = "b", .free_slots = 4, .load = 3),
      NODE(.name = "c", .free_slots = 4, .load = 2)},
     {{"P..", 1, "1"}},
     "c"},
    {"what the pod prefers counts for more than slots",
     {NODE(.name = "a", .free_slots = 9), NODE(.name = "b", .free_slots = 4),
      NODE(.name = "c", .free_slots = 1, .preference = 5)},
     {{"P..", 1, "1"}},
     "c"},
    {"another zone is of no use to an LRS disk",
     {NODE(.name = "a", .free_slots = 9), NODE(.name = "b", .free_slots = 9, .zone = "2"),
      NODE(.name = "c", .free_slots = 1)},
     {{"P..", 2, "1"}},
     "c"},
    {"a ZRS disk is spread over zones",
     {NODE(.name = "a", .free_slots = 9), NODE(.name = "b", .free_slots = 9),
      NODE(.name = "c", .free_slots = 1, .zone = "2"),
      NODE(.name = "d", .free_slots = 2, .zone = "2"),
      NODE(.name = "e", .free_slots = 1, .zone = "3")},
     {{"P....", 2, ""}},
     "de"},
    {"over fault domains where there are no zones",
     {NODE(.name = "a", .free_slots = 9, .fault_domain = "0"),
      NODE(.name = "b", .free_slots = 9, .fault_domain = "0"),
      NODE(.name = "c", .free_slots = 1, .fault_domain = "1")},
     {{"P..", 1, ""}},
     "c"},
    {"over node pools",
     {NODE(.name = "a", .free_slots = 9, .pool = "x"),
      NODE(.name = "b", .free_slots = 9, .pool = "x"),
      NODE(.name = "c", .free_slots = 1, .pool = "y")},
     {{"P..", 1, "1"}},
     "c"},
    {"spot last, even in another zone",
     {NODE(.name = "a", .free_slots = 9), NODE(.name = "b", .free_slots = 1),
      NODE(.name = "c", .free_slots = 9, .zone = "2", .spot = true)},
     {{"P..", 1, ""}},
     "b"},
    {"a replica stays where it is, though there is a better place",
     {NODE(.name = "a", .free_slots = 9), NODE(.name = "b", .free_slots = 0),
      NODE(.name = "c", .free_slots = 9, .zone = "2")},
     {{"PR.", 1, ""}},
     "b"},
    {"one that was asked for has another one's place",
     {NODE(.name = "a"), NODE(.name = "b", .free_slots = 9), NODE(.name = "c"), NODE(.name = "d")},
     {{"PRRA", 2, "1"}},
     "db"},
    {"and draws the pod's other volumes",
     {NODE(.name = "a"), NODE(.name = "b", .free_slots = 9), NODE(.name = "c"),
      NODE(.name = "d", .free_slots = 1, .spot = true)},
     {{"PRRA", 2, "1"}, {"PRR.", 2, "1"}},
     "db db"},
    {"unless there is no slot for all of them",
     {NODE(.name = "a"), NODE(.name = "b", .free_slots = 9), NODE(.name = "c"), NODE(.name = "d")},
     {{"PRRA", 2, "1"}, {"PRR.", 2, "1"}},
     "bc bc"},
    {"of two the better one stays",
     {NODE(.name = "a", .free_slots = 9), NODE(.name = "b", .free_slots = 3),
      NODE(.name = "c", .free_slots = 5)},
     {{"PRR", 1, ""}},
     "c"},
    {"a node that refuses, and one that the disk is leaving, take none",
     {NODE(.name = "a", .free_slots = 9),
      NODE(.name = "b", .free_slots = 9, .reason = UNSCHEDULABLE_TAINT),
      NODE(.name = "c", .free_slots = 9), NODE(.name = "d", .free_slots = 0)},
     {{"P.-.", 2, "1"}},
     ""},
    {"one that may stay does so even on a node that takes no more",
     {NODE(.name = "a", .free_slots = 9),
      NODE(.name = "b", .free_slots = 0, .reason = UNSCHEDULABLE_NOT_READY),
      NODE(.name = "c", .free_slots = 9)},
     {{"PR.", 1, "1"}},
     "b"},
    {"one of no use is not placed where it is",
     {NODE(.name = "a", .free_slots = 9), NODE(.name = "b", .free_slots = 9),
      NODE(.name = "c", .free_slots = 1)},
     {{"PU.", 1, "1"}},
     "c"},
    {"all volumes of the pod on one node, though another has more room for one of them",
     {NODE(.name = "a", .free_slots = 9), NODE(.name = "b", .free_slots = 1),
      NODE(.name = "c", .free_slots = 2)},
     {{"P..", 1, "1"}, {"P..", 1, "1"}},
     "c c"},
    {"the pod's volumes draw a replica to them",
     {NODE(.name = "a", .free_slots = 9), NODE(.name = "b", .free_slots = 9),
      NODE(.name = "c", .free_slots = 1)},
     {{"P.R", 1, "1"}, {"P..", 1, "1"}},
     "c c"},
    {"and a replica to them that is elsewhere",
     {NODE(.name = "a", .free_slots = 9), NODE(.name = "b", .free_slots = 9),
      NODE(.name = "c", .free_slots = 9)},
     {{"P.R", 1, "1"}, {"PR.", 1, "1"}},
     "b b"},
    {"no node for both: each by itself",
     {NODE(.name = "a", .free_slots = 9), NODE(.name = "b", .free_slots = 1),
      NODE(.name = "c", .free_slots = 1)},
     {{"P..", 1, "1"}, {"P..", 1, "1"}},
     "b c"},
    {"who wants one more has it by itself",
     {NODE(.name = "a", .free_slots = 9), NODE(.name = "b", .free_slots = 1),
      NODE(.name = "c", .free_slots = 2)},
     {{"P..", 1, "1"}, {"P..", 2, "1"}},
     "c cb"},
    {"one makes room for another that can go nowhere else",
     {NODE(.name = "a", .free_slots = 9), NODE(.name = "b", .free_slots = 0, .zone = "2"),
      NODE(.name = "c", .free_slots = 1, .zone = "3")},
     {{"PR.", 1, ""}, {"P..", 1, "2"}},
     "c b"},
    {"nothing wanted",
     {NODE(.name = "a", .free_slots = 9), NODE(.name = "b", .free_slots = 9)},
     {{"PR", 0, "1"}},
     ""},
};

static void render(const struct scene *scene, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t v = 0; v < scene->n_volumes; v++) {
        used += (size_t)snprintf(out + used, size - used, "%s", v ? " " : "");
        for (size_t i = 0; i < scene->found[v].n; i++)
            used += (size_t)snprintf(out + used, size - used, "%s",
                                     scene->nodes[scene->found[v].nodes[i]].name);
    }
}

/* What a row does not say: no zone is zone 1. */
static void complete(struct scene *scene)
{
    for (size_t i = 0; i < scene->n_nodes; i++) {
        struct placement_node *node = &scene->nodes[i];

        node->zone = node->zone ? node->zone : "1";
        node->fault_domain = node->fault_domain ? node->fault_domain : "";
        node->pool = node->pool ? node->pool : "";
    }
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct scene scene = {.n_nodes = strlen(rows[i].volumes[0].there)};
        char text[64];

        memcpy(scene.nodes, rows[i].nodes, sizeof scene.nodes);
        complete(&scene);
        for (size_t v = 0; v < MAX_VOLUMES && rows[i].volumes[v].there; v++)
            add_volume(&scene, &rows[i].volumes[v]);
        solve(&scene);
        render(&scene, text, sizeof text);
        if (strcmp(text, rows[i].found) != 0)
            fail_msg("%s: expected \"%s\", got \"%s\"", rows[i].why, rows[i].found, text);
    }
}

/* ---- against all that there is ---- */

static const char *const zones[] = {"1", "2", ""};
static const char *const names[MAX_NODES] = {"a", "b", "c", "d", "e", "f"};

static void fill(struct scene *scene, unsigned seed)
{
    static char there[MAX_VOLUMES][MAX_NODES + 1];
    unsigned r = seed, n_volumes = 1 + rand_r(&r) % MAX_VOLUMES;
    unsigned equal = rand_r(&r) % 2 ? 1 + rand_r(&r) % 2 : 0;

    *scene = (struct scene){.n_nodes = 2 + rand_r(&r) % (n_volumes == 3 ? 3 : 4)};
    for (size_t i = 0; i < scene->n_nodes; i++)
        scene->nodes[i] = (struct placement_node){
            .name = names[i],
            .zone = zones[rand_r(&r) % 2],
            .fault_domain = "",
            .pool = zones[rand_r(&r) % 2],
            .spot = rand_r(&r) % 4 == 0,
            .reason = rand_r(&r) % 5 == 0 ? UNSCHEDULABLE_TAINT : UNSCHEDULABLE_NONE,
            .free_slots = rand_r(&r) % 3,
            .load = rand_r(&r) % 3,
        };
    for (size_t v = 0; v < n_volumes; v++) {
        struct volume volume = {there[v], equal ? equal : (unsigned)rand_r(&r) % 3,
                                zones[rand_r(&r) % 3]};

        memset(there[v], 0, sizeof there[v]);
        for (size_t i = 0; i < scene->n_nodes; i++)
            there[v][i] = "...RU-"[rand_r(&r) % 6];
        there[v][0] = 'P';
        add_volume(scene, &volume);
    }
}

static char hold_of(const struct scene *scene, size_t v, size_t node)
{
    for (size_t i = 0; i < scene->volumes[v].n_holds; i++) {
        const struct placement_hold *hold = &scene->volumes[v].holds[i];

        if (hold->node == node)
            return hold->primary ? 'P' : hold->leaving ? '-' : hold->useful ? 'R' : 'U';
    }
    return '.';
}

static bool is_replica(const struct placement_hold *hold)
{
    return !hold->primary && !hold->leaving;
}

static bool may_be_on(const struct scene *scene, size_t v, size_t node)
{
    const char *zone = scene->volumes[v].zone;
    char hold = hold_of(scene, v, node);

    return hold == 'R' || (hold == '.' && !scene->nodes[node].reason &&
                           (!*zone || strcmp(zone, scene->nodes[node].zone) == 0));
}

/* Slots of a node that none but these volumes' replicas could have. */
static unsigned room_on(const struct scene *scene, size_t node)
{
    unsigned room = scene->nodes[node].free_slots;

    for (size_t v = 0; v < scene->n_volumes; v++)
        room += strchr("RU", hold_of(scene, v, node)) != NULL;
    return room;
}

/* What an assignment, a set of nodes for each volume, comes to; -1 if it is against the rules. */
struct worth {
    int placed, together;
};

static struct worth worth_of(const struct scene *scene, const unsigned *sets)
{
    struct worth worth = {0, 0};
    unsigned all = ~0U;

    for (size_t v = 0; v < scene->n_volumes; v++) {
        unsigned n = (unsigned)__builtin_popcount(sets[v]);

        if (n > scene->volumes[v].wanted)
            return (struct worth){-1, -1};
        worth.placed += (int)n;
        all &= sets[v];
    }
    for (size_t node = 0; node < scene->n_nodes; node++) {
        unsigned used = 0;

        for (size_t v = 0; v < scene->n_volumes; v++) {
            if (!(sets[v] >> node & 1))
                continue;
            used++;
            if (!may_be_on(scene, v, node))
                return (struct worth){-1, -1};
        }
        if (used > room_on(scene, node))
            return (struct worth){-1, -1};
    }
    worth.together = __builtin_popcount(all);
    return worth;
}

static bool is_better(struct worth a, struct worth b)
{
    return a.placed != b.placed ? a.placed > b.placed : a.together > b.together;
}

static struct worth best_worth(const struct scene *scene)
{
    unsigned n_sets = 1U << scene->n_nodes, n = 1;
    struct worth best = {-1, -1};

    for (size_t v = 0; v < scene->n_volumes; v++)
        n *= n_sets;
    for (unsigned i = 0; i < n; i++) {
        unsigned sets[MAX_VOLUMES] = {i % n_sets, i / n_sets % n_sets, i / n_sets / n_sets};
        struct worth worth = worth_of(scene, sets);

        if (is_better(worth, best))
            best = worth;
    }
    return best;
}

static void sets_of_found(const struct scene *scene, unsigned *sets)
{
    for (size_t v = 0; v < scene->n_volumes; v++) {
        sets[v] = 0;
        for (size_t i = 0; i < scene->found[v].n; i++) {
            assert_false(sets[v] >> scene->found[v].nodes[i] & 1);
            sets[v] |= 1U << scene->found[v].nodes[i];
        }
    }
}

static void test_nothing_is_better(void **state)
{
    unsigned full = 0;

    (void)state;
    for (unsigned seed = 1; seed <= 6000; seed++) {
        struct scene scene;
        unsigned sets[MAX_VOLUMES], wanted = 0;

        fill(&scene, seed);
        solve(&scene);
        sets_of_found(&scene, sets);
        struct worth found = worth_of(&scene, sets), best = best_worth(&scene);
        if (found.placed != best.placed || found.together != best.together)
            fail_msg("seed %u: %d placed and %d together, of %d and %d", seed, found.placed,
                     found.together, best.placed, best.together);
        for (size_t v = 0; v < scene.n_volumes; v++)
            wanted += scene.volumes[v].wanted;
        full += best.placed == (int)wanted;
    }
    assert_in_range(full, 1000, 5000); /* both kinds of clusters were among them */
}

/* What is good stays: a placement that was carried out is found again. */
static void test_what_was_placed_stays(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 6000; seed++) {
        struct scene scene;
        unsigned before[MAX_VOLUMES], after[MAX_VOLUMES];

        fill(&scene, seed);
        solve(&scene);
        sets_of_found(&scene, before);
        for (size_t node = 0; node < scene.n_nodes; node++) {
            unsigned room = room_on(&scene, node);

            for (size_t v = 0; v < scene.n_volumes; v++)
                room -= before[v] >> node & 1;
            scene.nodes[node].free_slots = room;
        }
        for (size_t v = 0; v < scene.n_volumes; v++) {
            size_t kept = 0;

            for (size_t i = 0; i < scene.volumes[v].n_holds; i++)
                if (!is_replica(&scene.holds[v][i]) || !scene.holds[v][i].useful) {
                    scene.holds[v][kept] = scene.holds[v][i];
                    scene.holds[v][kept].leaving = !scene.holds[v][i].primary;
                    kept++;
                }
            for (size_t i = 0; i < scene.found[v].n; i++)
                scene.holds[v][kept++] =
                    (struct placement_hold){.node = scene.found[v].nodes[i], .useful = true};
            scene.volumes[v].n_holds = kept;
        }
        solve(&scene);
        sets_of_found(&scene, after);
        for (size_t v = 0; v < scene.n_volumes; v++)
            if (__builtin_popcount(before[v]) == (int)scene.volumes[v].wanted)
                assert_int_equal(after[v], before[v]);
    }
}

static bool is_found(const struct scene *scene, size_t v, size_t node)
{
    for (size_t i = 0; i < scene->found[v].n; i++)
        if (scene->found[v].nodes[i] == node)
            return true;
    return false;
}

static void keep_primaries(struct scene *scene)
{
    for (size_t v = 0; v < scene->n_volumes; v++) {
        size_t kept = 0;

        for (size_t i = 0; i < scene->volumes[v].n_holds; i++)
            if (scene->holds[v][i].primary)
                scene->holds[v][kept++] = scene->holds[v][i];
        scene->volumes[v].n_holds = kept;
    }
}

/* One replica of those that were found and are not there yet; false if that is none, or if its node
 * waits for another one to leave. */
static bool attach_one(struct scene *scene, unsigned first)
{
    for (size_t k = 0; k < scene->n_volumes; k++) {
        size_t v = (first + k) % scene->n_volumes;

        for (size_t i = 0; i < scene->found[v].n; i++) {
            size_t node = scene->found[v].nodes[i];

            if (hold_of(scene, v, node) != '.' || scene->nodes[node].free_slots == 0)
                continue;
            scene->nodes[node].free_slots--;
            scene->holds[v][scene->volumes[v].n_holds++] =
                (struct placement_hold){.node = node, .useful = true};
            return true;
        }
    }
    return false;
}

/* Volumes of a pod get their replicas one by one: what the first one did by a common plan, it does
 * not undo because the plan looks different with a part of it carried out. */
static void test_what_is_half_done_is_not_undone(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 20000; seed++) {
        struct scene scene;

        fill(&scene, seed);
        keep_primaries(&scene);
        solve(&scene);
        for (unsigned turn = 0; attach_one(&scene, seed + turn * (seed % 3)); turn++) {
            solve(&scene);
            for (size_t v = 0; v < scene.n_volumes; v++)
                for (size_t i = 0; i < scene.volumes[v].n_holds; i++)
                    if (!scene.holds[v][i].primary && !is_found(&scene, v, scene.holds[v][i].node))
                        fail_msg("seed %u, turn %u: volume %zu is to leave %s", seed, turn, v,
                                 scene.nodes[scene.holds[v][i].node].name);
        }
    }
}

/* The order of nodes decides nothing. */
static void test_order_of_nodes(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 3000; seed++) {
        struct scene scene, turned;
        char text[64], other[64];

        fill(&scene, seed);
        turned = scene;
        for (size_t i = 0; i < scene.n_nodes; i++)
            turned.nodes[scene.n_nodes - 1 - i] = scene.nodes[i];
        for (size_t v = 0; v < scene.n_volumes; v++) {
            turned.volumes[v].holds = turned.holds[v];
            for (size_t i = 0; i < scene.volumes[v].n_holds; i++)
                turned.holds[v][i].node = scene.n_nodes - 1 - scene.holds[v][i].node;
        }
        solve(&scene);
        solve(&turned);
        render(&scene, text, sizeof text);
        render(&turned, other, sizeof other);
        if (strcmp(text, other) != 0)
            fail_msg("seed %u: \"%s\" and \"%s\"", seed, text, other);
    }
}

static size_t find_emptiest(const struct scene *scene)
{
    size_t found = 0;

    for (size_t i = 1; i < scene->n_nodes; i++)
        if (scene->nodes[i].free_slots > scene->nodes[found].free_slots)
            found = i;
    return found;
}

/* Volumes come one after the other, each to the emptiest node, until all places are taken: none of
 * them is where no replica can use it. */
static void test_a_cluster_that_becomes_full(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 3000; seed++) {
        unsigned r = seed, n_nodes = 2 + rand_r(&r) % (MAX_NODES - 1), slots = 2 + rand_r(&r) % 7;
        unsigned replicas = 1 + rand_r(&r) % (n_nodes - 1), places = n_nodes * slots;
        struct scene scene = {.n_nodes = n_nodes};

        for (size_t i = 0; i < n_nodes; i++)
            scene.nodes[i] = (struct placement_node){.name = names[i], .free_slots = slots};
        complete(&scene);
        for (; places >= 1 + replicas; places -= 1 + replicas) {
            char there[MAX_NODES + 1] = "......";
            size_t primary = find_emptiest(&scene);

            there[n_nodes] = '\0';
            there[primary] = 'P';
            scene.nodes[primary].free_slots--;
            scene.n_volumes = 0;
            add_volume(&scene, &(struct volume){there, replicas, ""});
            solve(&scene);
            if (scene.found[0].n < replicas)
                fail_msg("seed %u: %zu of %u replicas, with %u places left", seed, scene.found[0].n,
                         replicas, places - 1);
            for (size_t i = 0; i < replicas; i++)
                scene.nodes[scene.found[0].nodes[i]].free_slots--;
        }
    }
}

static void test_why_not(void **state)
{
    struct scene scene = {
        .nodes = {NODE(.name = "a", .free_slots = 9),
                  NODE(.name = "b", .free_slots = 9, .reason = UNSCHEDULABLE_CORDONED),
                  NODE(.name = "c", .free_slots = 9, .zone = "2"),
                  NODE(.name = "d", .free_slots = 0), NODE(.name = "e", .free_slots = 1)},
        .n_nodes = 5};
    struct unschedulable_reasons reasons;

    (void)state;
    complete(&scene);
    add_volume(&scene, &(struct volume){"P....", 2, "1"});
    solve(&scene);
    struct placement_snapshot in = snapshot_of(&scene);
    placement_explain(&in, scene.found, 0, &reasons);
    CLEANUP(freep) char *text = unschedulable_reasons_text(&reasons);
    assert_string_equal(text, "0/5 nodes are available: 1 already used by this volume, 1 cordoned, "
                              "1 outside the disk's zone, 2 without a free disk slot");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_nothing_is_better),
        cmocka_unit_test(test_what_was_placed_stays),
        cmocka_unit_test(test_what_is_half_done_is_not_undone),
        cmocka_unit_test(test_order_of_nodes),
        cmocka_unit_test(test_a_cluster_that_becomes_full),
        cmocka_unit_test(test_why_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
