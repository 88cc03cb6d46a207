#include "test/sim/workload.h"

#include "lib/base/alloc.h"
#include "test/sim/world.h"

enum {
    LOOK_MS = 10 * 1000,
    DELAY_MS = 200,
    BLOCK_PODS = 2,          /* as many nodes as each zone has at least */
    VOLUMES_PER_MACHINE = 3, /* so that there is room, even with a machine less */
    MORE_GIB = 50,           /* than its source, at most, has a copy at first */
    RARELY_NOT = 12,      /* one workload in so many has no automatic failover, though it could */
    RARELY_BY_LABEL = 4,  /* likewise, whose pods ask for it */
    RARELY_SHARED = 8,    /* pods that use another driver's volume, too */
    RARELY_UNFENCED = 15, /* or devices without reservations */
    RARELY_OTHERWISE = 4, /* one copy in so many is not of the kind that its source is */
};

/* ---- life ---- */

static unsigned count_volumes(const struct world *world)
{
    unsigned n = 0;

    LIST_FOREACH(&world->volumes, link)
        n += VOLUME_OF(link)->phase < VOLUME_RELEASED;
    return n;
}

static unsigned count_machines(const struct world *world)
{
    unsigned n = 0;

    LIST_FOREACH(&world->machines, link)
        n += machine_vm(MACHINE_OF(link)) != NULL;
    return n;
}

static struct workload *add(struct world *world, struct random *random, bool block)
{
    struct workload *workload = mem_alloc(sizeof *workload);

    *workload = (struct workload){
        .world = world,
        .name = mem_printf("app-%u", world->workloads_made++),
        .stateful = !block && random_below(random, 3) > 0,
        .spread = block,
        .zone = random_below(random, 4) == 0 ? (int)random_below(random, WORLD_ZONES) : -1,
        .toleration_ms = random_below(random, 2) == 0 ? 300 * 1000 : 30 * 1000,
    };
    list_append(&world->workloads, &workload->link);
    return workload;
}

/* New pods come by themselves; that there is room for all of its volumes is seen to here. */
static struct workload *announce(struct workload *workload)
{
    static const char *const origins[] = {
        [VOLUME_DYNAMIC] = "", [VOLUME_STATIC] = ", by hand", [VOLUME_IN_TREE] = ", in-tree"};
    const struct volume_wish *wish = &workload->wish;

    sim_note(workload->world->sim,
             "%s %s: %u pods, %u volumes each, maxShares %u, %u replicas, %s%s",
             workload->stateful ? "StatefulSet" : "Deployment", workload->name, workload->replicas,
             workload->volumes_per_pod, wish->max_shares, wish->replicas,
             wish->zonal ? "LRS" : "ZRS", origins[wish->origin]);
    waiters_wake(&workload->world->pods_changed);
    return workload;
}

static bool has_room(const struct world *world, unsigned volumes)
{
    unsigned n = count_volumes(world) + volumes;

    return n <= WORLD_VOLUMES && n <= VOLUMES_PER_MACHINE * count_machines(world);
}

/* By a stream of its own, so that what else is drawn stays what it was. */
static void draw_origin(struct workload *workload)
{
    const struct sim *sim = workload->world->sim;
    const struct landscape *landscape = &sim->landscape;
    struct random random = {.state = sim->seed * 1000 + workload->world->workloads_made};
    struct volume_wish *wish = &workload->wish;

    if (landscape->static_volumes && random_below(&random, 2) == 0)
        wish->origin = VOLUME_STATIC;
    else if (landscape->in_tree_volumes && random_below(&random, 2) == 0)
        wish->origin = VOLUME_IN_TREE;
    if (wish->origin == VOLUME_DYNAMIC) {
        if (landscape->shared_group && random_below(&random, 2) == 0)
            wish->taken = NAME_OF_OTHER_CLUSTER + random_below(&random, NAME_OF_EARLIER_VERSION);
        wish->taken_differs = wish->taken && random_below(&random, 3) == 0;
        return;
    }
    wish->large = random_below(&random, 3) == 0;
    wish->silent = wish->origin == VOLUME_IN_TREE || random_below(&random, 2) == 0;
    wish->old_pv = landscape->old_pvs && random_below(&random, 2) == 0;
    if (wish->silent) /* the driver learns of the shares, and makes replicas of none */
        wish->replicas = 0;
    if (wish->origin == VOLUME_IN_TREE) /* that knew no shared disks */
        wish->max_shares = 1;
}

/* Where nodes are failed over, most of what can be is to be. */
static void draw_failover(struct workload *workload)
{
    const struct sim *sim = workload->world->sim;
    struct random random = {.state = sim->seed * 1000 + 700 + workload->world->workloads_made};
    struct volume_wish *wish = &workload->wish;

    if (!sim->landscape.failover)
        return;
    if (wish->replicas == 0 && wish->origin == VOLUME_DYNAMIC && random_below(&random, 2)) {
        wish->max_shares = 2 + (unsigned)random_below(&random, 2);
        wish->replicas = wish->max_shares - 1;
    }
    wish->failover = wish->origin == VOLUME_DYNAMIC && random_below(&random, RARELY_NOT) > 0;
    wish->unfenced = random_below(&random, RARELY_UNFENCED) == 0;
    workload->uses_share = random_below(&random, RARELY_SHARED) == 0;
    wish->by_label = random_below(&random, RARELY_BY_LABEL) == 0;
    wish->failover |= wish->by_label;
}

struct workload *workload_draw(struct world *world, struct random *random)
{
    unsigned replicas = 1 + (unsigned)random_below(random, 3);
    unsigned volumes = 1 + (unsigned)random_below(random, 3);
    unsigned max_shares = 1 + (unsigned)random_below(random, 3);

    if (!has_room(world, replicas * volumes))
        return NULL;
    struct workload *workload = add(world, random, false);
    workload->replicas = replicas;
    workload->volumes_per_pod = volumes;
    workload->wish = (struct volume_wish){
        .max_shares = max_shares,
        .replicas = (unsigned)random_below(random, max_shares),
        .zonal = random_below(random, 2) == 0,
        .retain = random_below(random, 8) == 0,
    };
    /* Where zones are too small for that, some pod would never find a node. */
    workload->spread = workload->zone < 0 && !workload->wish.zonal && random_below(random, 2) == 0;
    if (workload->wish.replicas + 1 < max_shares && random_below(random, 2) == 0)
        workload->wish.replicas = max_shares - 1;
    draw_origin(workload);
    draw_failover(workload);
    return announce(workload);
}

struct workload *workload_draw_block(struct world *world, struct random *random)
{
    if (!has_room(world, 1))
        return NULL;
    struct workload *workload = add(world, random, true);
    workload->replicas = BLOCK_PODS;
    workload->volumes_per_pod = 1;
    workload->wish = (struct volume_wish){
        .max_shares = 2 + (unsigned)random_below(random, 2),
        .zonal = random_below(random, 2) == 0,
        .block = true,
    };
    return announce(workload);
}

void workload_free(struct workload *workload)
{
    free(workload->name);
    free(workload);
}

/* By a stream of its own, as its origin is. */
static void draw_copy(const struct workload *workload, struct volume_wish *wish)
{
    struct world *world = workload->world;
    struct random random = {.state = world->sim->seed * 1000 + 500 + world->copies_drawn++};

    if (wish->origin != VOLUME_DYNAMIC || (!workload->copies && random_below(&random, 2) == 0))
        return;
    wish->source = copy_source_draw(workload, &random);
    if (!copy_source_is_any(&wish->source))
        return;
    wish->taken = NAME_FREE;
    wish->gib = copy_source_gib(&wish->source);
    wish->gib += random_below(&random, 2) ? (int64_t)random_below(&random, MORE_GIB) : 0;
    if (random_below(&random, RARELY_OTHERWISE) == 0)
        wish->gib = 0; /* it will be as large as its source */
    wish->fast = wish->zonal && (copy_source_is_slow(&wish->source) !=
                                 (random_below(&random, RARELY_OTHERWISE) == 0));
}

static struct volume *new_volume(struct workload *workload, unsigned place, unsigned nth)
{
    struct volume_wish wish = workload->wish;
    CLEANUP(freep) char *claim = mem_printf("data-%u-%s-%u", nth, workload->name, place);
    CLEANUP(freep) char *again = mem_printf("%s-again-%u", claim, workload->given_up);

    if (workload->copies || workload->world->sim->landscape.copies)
        draw_copy(workload, &wish);
    return volume_new(workload->world, workload->given_up ? again : claim, &wish);
}

size_t workload_volumes(struct workload *workload, unsigned ordinal,
                        struct volume *ret[POD_VOLUMES])
{
    unsigned place = workload->wish.block ? 0 : ordinal;

    for (unsigned i = 0; i < workload->volumes_per_pod; i++) {
        struct volume **volume = &workload->volumes[place * POD_VOLUMES + i];

        if (!*volume)
            *volume = new_volume(workload, place, i);
        ret[i] = *volume;
    }
    return workload->volumes_per_pod;
}

/* ---- what people want of it ---- */

void workload_scale(struct workload *workload, unsigned replicas)
{
    unsigned most = workload->wish.block ? BLOCK_PODS : WORKLOAD_PODS;

    if (replicas > most)
        replicas = most;
    if (replicas > workload->replicas &&
        !has_room(workload->world, (replicas - workload->replicas) * workload->volumes_per_pod))
        return;
    workload->replicas = replicas;
    sim_note(workload->world->sim, "%s is scaled to %u", workload->name, replicas);
    waiters_wake(&workload->world->pods_changed);
}

void workload_delete(struct workload *workload, bool with_claims)
{
    sim_note(workload->world->sim, "%s is deleted%s", workload->name,
             with_claims ? " with its claims" : "");
    workload->deleted = true;
    workload->with_claims = with_claims;
    workload->replicas = 0;
    waiters_wake(&workload->world->pods_changed);
}

bool workload_has(const struct workload *workload, const struct volume *volume)
{
    for (size_t i = 0; i < COUNT_OF(workload->volumes); i++)
        if (workload->volumes[i] == volume)
            return true;
    return false;
}

/* The next one is drawn anew, and where nothing can be copied it is empty. */
static void forget_volume(struct workload *workload, const struct volume *volume)
{
    for (size_t i = 0; i < COUNT_OF(workload->volumes); i++)
        if (workload->volumes[i] == volume)
            workload->volumes[i] = NULL;
    workload->given_up++;
}

void workload_give_up(const struct world *world, struct volume *volume)
{
    LIST_FOREACH(&world->workloads, link) {
        if (workload_has(WORKLOAD_OF(link), volume))
            forget_volume(WORKLOAD_OF(link), volume);
    }
    volume_delete(volume);
    LIST_FOREACH(&world->pods, link) {
        if (pod_uses(POD_OF(link), volume))
            pod_delete(POD_OF(link));
    }
}

struct workload *workload_any(struct world *world, struct random *random)
{
    struct workload *found = NULL;
    unsigned n = 0;

    LIST_FOREACH(&world->workloads, link) {
        if (!WORKLOAD_OF(link)->deleted && random_below(random, ++n) == 0)
            found = WORKLOAD_OF(link);
    }
    return found;
}

struct pod *workload_any_pod(const struct workload *workload, struct random *random)
{
    struct pod *found = NULL;
    unsigned n = 0;

    LIST_FOREACH(&workload->world->pods, link) {
        struct pod *pod = POD_OF(link);

        if (pod->workload == workload && pod->runs && !pod->deleting &&
            random_below(random, ++n) == 0)
            found = pod;
    }
    return found;
}

/* ---- its controller ---- */

/* What stands in the way of a new pod in a place, or is it. */
static struct pod *pod_in_place(const struct workload *workload, unsigned ordinal)
{
    LIST_FOREACH(&workload->world->pods, link) {
        struct pod *pod = POD_OF(link);

        if (pod->workload == workload && pod->ordinal == ordinal &&
            (workload->stateful || !pod->deleting))
            return pod;
    }
    return NULL;
}

static void fill_place(struct workload *workload, unsigned ordinal)
{
    unsigned number = workload->stateful ? ordinal : workload->world->pods_made++;
    CLEANUP(freep) char *name = mem_printf("%s-%u", workload->name, number);

    pod_new(workload, ordinal, name);
}

static bool has_pods(const struct workload *workload)
{
    LIST_FOREACH(&workload->world->pods, link) {
        if (POD_OF(link)->workload == workload)
            return true;
    }
    return false;
}

static void delete_claims(struct workload *workload)
{
    for (size_t i = 0; i < COUNT_OF(workload->volumes); i++)
        if (workload->volumes[i])
            volume_delete(workload->volumes[i]);
}

static void reconcile(struct workload *workload)
{
    for (unsigned ordinal = 0; ordinal < WORKLOAD_PODS; ordinal++) {
        struct pod *pod = pod_in_place(workload, ordinal);

        if (ordinal < workload->replicas && !pod)
            fill_place(workload, ordinal);
        else if (ordinal >= workload->replicas && pod)
            pod_delete(pod);
    }
    if (workload->deleted && workload->with_claims && !has_pods(workload))
        delete_claims(workload);
}

void workloads_run(struct task *self, void *arg)
{
    struct world *world = arg;

    do {
        LIST_FOREACH(&world->workloads, link)
            reconcile(WORKLOAD_OF(link));
    } while (world_wait_for_pods(self, world, LOOK_MS, DELAY_MS));
}

char *workloads_unsettled(const struct world *world)
{
    LIST_FOREACH(&world->workloads, link) {
        const struct workload *workload = WORKLOAD_OF(link);

        for (unsigned ordinal = 0; ordinal < workload->replicas; ordinal++)
            if (!pod_in_place(workload, ordinal))
                return mem_printf("%s has no pod %u", workload->name, ordinal);
    }
    return NULL;
}
