#include "test/sim/attach_detach.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "test/sim/attacher.h"
#include "test/sim/kube/kinds.h"
#include "test/sim/node_objects.h"
#include "test/sim/record.h"
#include "test/sim/world.h"

enum {
    PERIOD_MS = 100,               /* of its reconciler, while there is anything new */
    LOOK_MS = 10 * 1000,           /* at how long a node has kept a volume */
    FORCE_AFTER_MS = 6 * 60 * 1000 /* maxWaitForUnmountDuration */
};

/* ---- publications ---- */

struct publication *publication_find(const struct machine *machine, const struct volume *volume)
{
    LIST_FOREACH(&machine->publications, link) {
        if (PUBLICATION_ON(link)->volume == volume)
            return PUBLICATION_ON(link);
    }
    return NULL;
}

bool publication_holds(const struct publication *publication)
{
    return publication->attached && !publication->unpublishing;
}

void publication_free(struct publication *publication)
{
    list_remove(&publication->link);
    list_remove(&publication->by_machine);
    free(publication->name);
    free(publication->error);
    free(publication);
}

static bool has_replica(const struct machine *machine, const struct volume *volume)
{
    const struct record *record =
        volume->disk ? record_find(machine->world->sim, volume->disk, machine->name) : NULL;

    return record && !record->primary && !record->deleting &&
           strcmp(record->state, "Attached") == 0;
}

static struct publication *publication_new(struct machine *machine, struct volume *volume)
{
    struct world *world = machine->world;
    struct publication *publication = mem_alloc(sizeof *publication);
    char uid[UUID_SIZE];

    random_uuid(loop_random(world->sim->loop), uid);
    *publication = (struct publication){
        .volume = volume,
        .machine = machine,
        .name = mem_printf("csi-%s", uid),
        .began = world_now(world),
        .was_replica = has_replica(machine, volume),
    };
    waiters_init(&publication->changed);
    list_append(&world->publications, &publication->link);
    list_append(&machine->publications, &publication->by_machine);
    sim_note(world->sim, "volume %s is wanted on %s", volume->pv, machine->name);
    world_create(world, &VOLUME_ATTACHMENTS, NULL,
                 json_pack("{s:{s:s}, s:{s:s, s:s, s:{s:s}}}", "metadata", "name",
                           publication->name, "spec", "attacher", WORLD_DRIVER, "nodeName",
                           machine->name, "source", "persistentVolumeName", volume_any_pv(volume)));
    attacher_start(publication);
    return publication;
}

void publication_by_hand_on(struct machine *machine, struct volume *volume, uint64_t duration_ms)
{
    publication_new(machine, volume)->by_hand_until = world_now(machine->world) + duration_ms;
    attach_detach_poke(machine->world);
}

void publication_by_hand(struct volume *volume, uint64_t duration_ms)
{
    struct world *world = volume->world;

    LIST_FOREACH(&world->machines, link) {
        struct machine *machine = MACHINE_OF(link);

        if (machine->registered && machine->ready && machine_vm(machine) &&
            !publication_find(machine, volume)) {
            publication_by_hand_on(machine, volume, duration_ms);
            return;
        }
    }
}

/* First the node must no longer read that it is attached. */
static void delete (struct publication *publication, bool forced)
{
    struct world *world = publication->volume->world;

    if (publication->reported) {
        publication->reported = false;
        node_write_attached(publication->machine);
    }
    publication->deleting = true;
    publication->forced = forced;
    sim_note(world->sim, "volume %s is no longer wanted on %s%s", publication->volume->pv,
             publication->machine->name, forced ? ", which has not let go of it" : "");
    world_delete(world, &VOLUME_ATTACHMENTS, NULL, publication->name);
    waiters_wake(&publication->changed);
    waiters_wake(&publication->machine->changed);
}

/* ---- what is wanted ---- */

static bool is_wanted(const struct publication *publication)
{
    const struct world *world = publication->volume->world;

    if (world_now(world) < publication->by_hand_until)
        return true;
    LIST_FOREACH(&world->pods, link) {
        const struct pod *pod = POD_OF(link);

        if (pod->machine == publication->machine && pod_uses(pod, publication->volume))
            return true;
    }
    return false;
}

/* A volume of one node waits until all others are done with it, as far as Kubernetes knows. */
static bool may_be_attached(const struct world *world, const struct machine *machine,
                            const struct volume *volume)
{
    LIST_FOREACH(&world->publications, link) {
        const struct publication *other = PUBLICATION_OF(link);

        bool waits = other->machine == machine ||
                     (!volume->wish.block && world_now(world) >= other->by_hand_until);

        if (other->volume == volume && waits)
            return false;
    }
    return machine->registered && volume->phase == VOLUME_BOUND;
}

static void attach(struct machine *machine, struct volume *volume)
{
    uint64_t by_hand_ms = volume->by_hand_ms;

    publication_new(machine, volume);
    volume->by_hand_ms = 0;
    if (by_hand_ms > 0)
        publication_by_hand(volume, by_hand_ms);
}

static void attach_wanted(struct world *world)
{
    LIST_FOREACH(&world->pods, link) {
        struct pod *pod = POD_OF(link);

        for (size_t i = 0; pod->machine && i < pod->n_volumes; i++)
            if (may_be_attached(world, pod->machine, pod->volumes[i]))
                attach(pod->machine, pod->volumes[i]);
    }
}

static void detach_if_unused(struct publication *publication)
{
    const struct machine *machine = publication->machine;
    uint64_t now = world_now(publication->volume->world);

    if (is_wanted(publication)) {
        publication->unused_since = 0;
        return;
    }
    if (!publication->unused_since)
        publication->unused_since = now;
    bool let_go = !machine_reports(machine, publication->volume);
    bool given_up = machine_is_out_of_service(machine) ||
                    (!machine->ready && now - publication->unused_since > FORCE_AFTER_MS);
    if (let_go || given_up)
        delete (publication, !let_go);
}

static void look_at(struct publication *publication)
{
    if (publication->deleting)
        return;
    detach_if_unused(publication);
    if (publication->attached && !publication->reported && !publication->deleting) {
        publication->reported = true;
        node_write_attached(publication->machine);
    }
}

void attach_detach_poke(struct world *world)
{
    waiters_wake(&world->wants_changed);
}

void attach_detach_run(struct task *self, void *arg)
{
    struct world *world = arg;

    for (;;) {
        LIST_FOREACH(&world->publications, link)
            look_at(PUBLICATION_OF(link));
        attach_wanted(world);
        struct err *err = wait_for_change(self, &world->wants_changed, world_now(world) + LOOK_MS);
        if (err && err_kind(err) == ERR_TIMEOUT)
            err_free(TAKE_PTR(err));
        if (!err)
            err = task_sleep(self, PERIOD_MS);
        if (err) {
            err_free(err);
            return;
        }
    }
}
