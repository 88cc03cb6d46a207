#include "controller/scheduling/placement.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"

#define NOWHERE SIZE_MAX

struct solver {
    const struct placement_snapshot *in;
    struct placement *found; /* beside the volumes */
    unsigned *room;          /* beside the nodes: slots that the volumes may still take */
    unsigned *slots;         /* and those that they could have taken at first */
    bool *looked_at;         /* beside the nodes, in one search */
    bool may_move_kept;      /* replicas from where they are */
    size_t *by_name;         /* indexes of nodes in their order; NULL until it is needed */
};

/* ---- what may be where ---- */

static const struct placement_hold *hold_on(const struct placement_volume *volume, size_t node)
{
    for (size_t i = 0; i < volume->n_holds; i++)
        if (volume->holds[i].node == node)
            return &volume->holds[i];
    return NULL;
}

static bool is_replica(const struct placement_hold *hold)
{
    return hold && !hold->primary && !hold->leaving;
}

static bool is_useful(const struct placement_hold *hold)
{
    return is_replica(hold) && hold->useful;
}

static bool zone_fits(const struct placement_volume *volume, const struct placement_node *node)
{
    return volume->zone[0] == '\0' || strcmp(volume->zone, node->zone) == 0;
}

/* Slots aside. */
static bool may_be_on(const struct solver *solver, size_t volume, size_t node)
{
    const struct placement_volume *v = &solver->in->volumes[volume];
    const struct placement_node *n = &solver->in->nodes[node];
    const struct placement_hold *hold = hold_on(v, node);

    if (hold)
        return is_useful(hold);
    return n->reason == UNSCHEDULABLE_NONE && zone_fits(v, n);
}

static bool is_placed_on(const struct solver *solver, size_t volume, size_t node)
{
    const struct placement *found = &solver->found[volume];

    for (size_t i = 0; i < found->n; i++)
        if (found->nodes[i] == node)
            return true;
    return false;
}

static bool is_open(const struct solver *solver, size_t volume)
{
    return solver->found[volume].n < solver->in->volumes[volume].wanted;
}

/* Slots that a replica of these volumes has may be taken by another one of them once it has moved
 * away. */
static void count_room(struct solver *solver)
{
    const struct placement_snapshot *in = solver->in;

    for (size_t i = 0; i < in->n_nodes; i++)
        solver->room[i] = in->nodes[i].free_slots;
    for (size_t v = 0; v < in->n_volumes; v++)
        for (size_t i = 0; i < in->volumes[v].n_holds; i++)
            if (is_replica(&in->volumes[v].holds[i]))
                solver->room[in->volumes[v].holds[i].node]++;
}

static void place(struct solver *solver, size_t volume, size_t node)
{
    struct placement *found = &solver->found[volume];

    assert(solver->room[node] > 0 && found->n < MAX_SHARES_LIMIT);
    found->nodes[found->n++] = node;
    solver->room[node]--;
}

/* ---- which of two nodes is better ---- */

/* A node, measured against those that have the volumes already. */
struct rank {
    bool asked;    /* for a replica of one of them there */
    unsigned here; /* volumes that are or will be there */
    unsigned slots;
    bool spot;
    unsigned same_zone, same_fault_domain, same_pool;
};

static void compare_with(const struct placement_node *node, const struct placement_node *other,
                         struct rank *rank)
{
    rank->same_zone += strcmp(node->zone, other->zone) == 0;
    rank->same_fault_domain += strcmp(node->fault_domain, other->fault_domain) == 0;
    rank->same_pool += strcmp(node->pool, other->pool) == 0;
}

/* `leader` is the volume whose places are spread: with volumes that are placed together, any of
 * them will do. */
static struct rank rank_of(const struct solver *solver, size_t node, size_t leader)
{
    const struct placement_snapshot *in = solver->in;
    const struct placement_node *n = &in->nodes[node];
    struct rank rank = {.spot = n->spot, .slots = solver->slots[node]};

    for (size_t v = 0; v < in->n_volumes; v++) {
        const struct placement_hold *hold = hold_on(&in->volumes[v], node);

        rank.asked |= is_useful(hold) && hold->asked;
        rank.here += is_placed_on(solver, v, node) || (is_open(solver, v) && is_useful(hold));
    }
    for (size_t i = 0; i < in->volumes[leader].n_holds; i++)
        if (in->volumes[leader].holds[i].primary)
            compare_with(n, &in->nodes[in->volumes[leader].holds[i].node], &rank);
    for (size_t i = 0; i < solver->found[leader].n; i++)
        compare_with(n, &in->nodes[solver->found[leader].nodes[i]], &rank);
    return rank;
}

static bool is_better(const struct placement_node *a, const struct rank *ra,
                      const struct placement_node *b, const struct rank *rb)
{
    if (ra->asked != rb->asked)
        return ra->asked;
    if (ra->here != rb->here)
        return ra->here > rb->here;
    if (ra->spot != rb->spot)
        return rb->spot;
    if (ra->same_zone != rb->same_zone)
        return ra->same_zone < rb->same_zone;
    if (ra->same_fault_domain != rb->same_fault_domain)
        return ra->same_fault_domain < rb->same_fault_domain;
    if (ra->same_pool != rb->same_pool)
        return ra->same_pool < rb->same_pool;
    if (a->preference != b->preference)
        return a->preference > b->preference;
    if (ra->slots != rb->slots)
        return ra->slots > rb->slots;
    if (a->load != b->load)
        return a->load < b->load;
    return strcmp(a->name, b->name) < 0;
}

/* The best of the nodes that `fits` accepts, or NOWHERE. */
static size_t best_node(const struct solver *solver, size_t leader,
                        bool (*fits)(const struct solver *solver, size_t volume, size_t node))
{
    const struct placement_node *nodes = solver->in->nodes;
    size_t best = NOWHERE;
    struct rank best_rank = {0};

    for (size_t node = 0; node < solver->in->n_nodes; node++) {
        if (!fits(solver, leader, node))
            continue;
        struct rank rank = rank_of(solver, node, leader);
        if (best == NOWHERE || is_better(&nodes[node], &rank, &nodes[best], &best_rank)) {
            best = node;
            best_rank = rank;
        }
    }
    return best;
}

/* ---- nodes for all volumes that want one more ---- */

static bool fits_all_open(const struct solver *solver, size_t leader, size_t node)
{
    unsigned open = 0;

    (void)leader;
    for (size_t v = 0; v < solver->in->n_volumes; v++) {
        if (!is_open(solver, v))
            continue;
        if (++open > solver->room[node] || is_placed_on(solver, v, node) ||
            !may_be_on(solver, v, node))
            return false;
    }
    return true;
}

static size_t first_open(const struct solver *solver)
{
    size_t v = 0;

    while (v < solver->in->n_volumes && !is_open(solver, v))
        v++;
    return v;
}

/* A node that can take all open volumes never costs a place: in any assignment each of them can
 * have it in exchange for another of its places. */
static void place_together(struct solver *solver)
{
    for (size_t leader; (leader = first_open(solver)) < solver->in->n_volumes;) {
        size_t node = best_node(solver, leader, fits_all_open);

        if (node == NOWHERE)
            return;
        for (size_t v = leader; v < solver->in->n_volumes; v++)
            if (is_open(solver, v))
                place(solver, v, node);
    }
}

/* ---- places for each volume by itself ---- */

static bool fits_kept(const struct solver *solver, size_t volume, size_t node)
{
    return solver->room[node] > 0 && !is_placed_on(solver, volume, node) &&
           is_useful(hold_on(&solver->in->volumes[volume], node));
}

static void keep_places(struct solver *solver)
{
    for (size_t v = 0; v < solver->in->n_volumes; v++)
        while (is_open(solver, v)) {
            size_t node = best_node(solver, v, fits_kept);

            if (node == NOWHERE)
                break;
            place(solver, v, node);
        }
}

static bool fits_one(const struct solver *solver, size_t volume, size_t node)
{
    return solver->room[node] > 0 && !is_placed_on(solver, volume, node) &&
           may_be_on(solver, volume, node);
}

/* One step of a search for places: the volume gives `given` to the one before it. */
struct step {
    size_t volume, given;
    size_t before; /* index of a step */
};

/* The volume of step `last` goes to `node`, the one before to what that one gives, and so on. */
static void shift(struct solver *solver, const struct step *steps, size_t last, size_t node)
{
    solver->room[node]--;
    for (size_t s = last; s > 0; s = steps[s].before) {
        struct placement *found = &solver->found[steps[s].volume];

        for (size_t i = 0; i < found->n; i++)
            if (found->nodes[i] == steps[s].given)
                found->nodes[i] = node;
        node = steps[s].given;
    }
    struct placement *found = &solver->found[steps[0].volume];
    found->nodes[found->n++] = node;
}

static bool may_give(const struct solver *solver, size_t volume, size_t node)
{
    return is_placed_on(solver, volume, node) &&
           (solver->may_move_kept || !is_useful(hold_on(&solver->in->volumes[volume], node)));
}

/* Adds those who could make room on a full node. */
static void ask(struct solver *solver, size_t node, size_t before, struct step *steps, size_t *n)
{
    if (solver->looked_at[node])
        return;
    solver->looked_at[node] = true;
    for (size_t v = 0; v < solver->in->n_volumes; v++) {
        bool asked = false;

        for (size_t s = 0; s < *n; s++)
            asked |= steps[s].volume == v;
        if (!asked && may_give(solver, v, node))
            steps[(*n)++] = (struct step){v, node, before};
    }
}

static int compare_names(const void *a, const void *b, void *nodes)
{
    const struct placement_node *n = nodes;

    return strcmp(n[*(const size_t *)a].name, n[*(const size_t *)b].name);
}

static void sort_nodes(struct solver *solver)
{
    size_t n = solver->in->n_nodes;

    if (solver->by_name)
        return;
    solver->by_name = mem_alloc(n * sizeof *solver->by_name);
    for (size_t i = 0; i < n; i++)
        solver->by_name[i] = i;
    qsort_r(solver->by_name, n, sizeof *solver->by_name, compare_names,
            (void *)(uintptr_t)solver->in->nodes);
}

static void ask_others(struct solver *solver, size_t before, struct step *steps, size_t *n)
{
    size_t volume = steps[before].volume;

    sort_nodes(solver);
    for (size_t i = 0; i < solver->in->n_nodes; i++) {
        size_t node = solver->by_name[i];

        if (may_be_on(solver, volume, node) && !is_placed_on(solver, volume, node))
            ask(solver, node, before, steps, n);
    }
}

/* Room for one more replica of the volume by moving others, breadth first. */
static bool preempt(struct solver *solver, size_t volume)
{
    const struct placement_snapshot *in = solver->in;
    struct step *steps = mem_alloc(in->n_volumes * sizeof *steps);
    size_t n = 0;
    bool made = false;

    memset(solver->looked_at, 0, in->n_nodes * sizeof *solver->looked_at);
    steps[n++] = (struct step){volume, NOWHERE, 0};
    for (size_t s = 0; s < n && !made; s++) {
        size_t node = best_node(solver, steps[s].volume, fits_one);

        made = node != NOWHERE;
        if (made)
            shift(solver, steps, s, node);
        if (!made)
            ask_others(solver, s, steps, &n);
    }
    free(steps);
    return made;
}

static void fill_places(struct solver *solver)
{
    for (size_t v = 0; v < solver->in->n_volumes; v++)
        while (is_open(solver, v) && preempt(solver, v))
            ;
}

/* What is somewhere is moved only if not all can be placed otherwise: else what was decided would
 * be decided differently once a part of it has been carried out. */
static void place_singly(struct solver *solver)
{
    keep_places(solver);
    fill_places(solver);
    solver->may_move_kept = true;
    fill_places(solver);
}

void placement_solve(const struct placement_snapshot *in, struct placement *ret)
{
    struct solver solver = {
        .in = in,
        .found = ret,
        .room = mem_alloc(in->n_nodes * sizeof *solver.room),
        .slots = mem_alloc(in->n_nodes * sizeof *solver.slots),
        .looked_at = mem_alloc(in->n_nodes * sizeof *solver.looked_at),
    };

    memset(ret, 0, in->n_volumes * sizeof *ret);
    count_room(&solver);
    memcpy(solver.slots, solver.room, in->n_nodes * sizeof *solver.slots);
    place_together(&solver);
    place_singly(&solver);
    free(solver.room);
    free(solver.slots);
    free(solver.looked_at);
    free(solver.by_name);
}

/* ---- why not ---- */

static enum unschedulable_reason reason_of(const struct solver *solver, size_t volume, size_t node)
{
    const struct placement_volume *v = &solver->in->volumes[volume];
    const struct placement_node *n = &solver->in->nodes[node];
    const struct placement_hold *hold = hold_on(v, node);

    if (hold && (!is_replica(hold) || is_useful(hold)))
        return UNSCHEDULABLE_HAS_ATTACHMENT;
    if (n->reason)
        return n->reason;
    if (!zone_fits(v, n))
        return UNSCHEDULABLE_ZONE;
    return solver->room[node] == 0 ? UNSCHEDULABLE_NO_SLOT : UNSCHEDULABLE_NONE;
}

void placement_explain(const struct placement_snapshot *in, const struct placement *found,
                       size_t volume, struct unschedulable_reasons *ret)
{
    struct solver solver = {.in = in, .room = mem_alloc(in->n_nodes * sizeof *solver.room)};

    count_room(&solver);
    for (size_t v = 0; v < in->n_volumes; v++)
        for (size_t i = 0; i < found[v].n; i++)
            solver.room[found[v].nodes[i]]--;
    *ret = (struct unschedulable_reasons){0};
    for (size_t node = 0; node < in->n_nodes; node++)
        ret->n[reason_of(&solver, volume, node)]++;
    free(solver.room);
}
