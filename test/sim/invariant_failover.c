/* Invariants of nodes that are given up because nothing is heard of them, and of the fences that
 * this relies on (docs/failover.md). What is true is what disks and machines say. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/host/reservation.h"
#include "test/sim/coverage.h"
#include "test/sim/disk_keys.h"
#include "test/sim/invariant_check.h"
#include "test/sim/node_fence.h"
#include "test/sim/node_lease.h"
#include "test/sim/node_objects.h"
#include "test/sim/other_driver.h"
#include "test/sim/running_job.h"
#include "test/sim/silent_count.h"

enum {
    LOOK_MS = 1000,
    MINUTE_MS = 60 * 1000,
    SETTLED_MS = 30 * 1000,    /* what has been so for as long is known to all */
    MOST_PAUSE_MS = 61 * 1000, /* between two questions whether a machine is off */
    TAKE_BACK_MS = 30 * 1000,
    AGAIN_MS = 5 * 60 * 1000, /* external-attacher's longest pause after a refusal */
    PUBLISH_MS = 15 * 1000,   /* where a replica is: no call to Azure takes as little */
    KUBELET_MS = 40 * 1000,   /* its promise */
    MOST_SILENT = 2,
};

/* ---- how many are silent ---- */

/* Nothing has been wrong with controllers, servers and the ways between them since then. */
static bool servers_were_well(const struct invariants *invariants, uint64_t since)
{
    return invariants->server_troubles == 0 && invariants->server_trouble_at <= since &&
           invariants->led_since <= since;
}

static void check_many(const struct invariants *invariants, const struct machine *machine)
{
    unsigned n = silent_count_cut_with(machine);

    if (!machine->registered || n <= MOST_SILENT ||
        !servers_were_well(invariants,
                           machine->silent_since - node_lease_renewal_ms(invariants->sim)))
        return;
    verdict_violated(invariants->sim, NETWORK_IS_DOWN,
                     "%s is given up, and %u nodes are cut off since %.3f s", machine->name, n,
                     (double)machine->silent_since / 1000);
}

/* ---- the moment of the taint ---- */

/* As long as it is registered, nobody has taken it away. One that has, and had the disk from then
 * on, may have lost it again, with the reservation: that nobody else has mounted it by then is
 * I6's. */
static bool is_registered(const struct sim *sim, const struct disk *disk, uint64_t key)
{
    struct reservation seen;

    disk_keys_read(&sim->world->disk_keys, disk, &seen);
    for (size_t i = 0; i < seen.n_keys; i++)
        if (seen.keys[i] == key)
            return true;
    return false;
}

bool mount_may_write(const struct mount *mount)
{
    const struct attachment *device = mount_attachment(mount);

    return device &&
           (!mount->key || is_registered(mount->machine->world->sim, device->disk, mount->key));
}

static void check_writes(const struct machine *machine)
{
    struct sim *sim = machine->world->sim;
    struct vm *vm = machine_vm(machine);

    LIST_FOREACH(&machine->mounts, link) {
        const struct mount *mount = MOUNT_OF(link);

        if (mount_may_write(mount))
            verdict_violated(sim, NO_PROOF, "%s is given up, and can write to volume %s",
                             machine->name, mount->volume->disk);
    }
    LIST_FOREACH(&machine->jobs, link) {
        const struct running_job *job = RUNNING_JOB_OF(link);
        const struct attachment *device = vm ? attachment_at(vm, job->place.lun) : NULL;

        if (device && device->sequence == job->attachment && !volume_is_fenced(job->volume))
            verdict_violated(sim, NO_PROOF, "%s is given up, and a program of it can write to %s",
                             machine->name, job->volume->disk);
    }
}

/* The key under which the record says that the disk knows the node; 0: it has no fence. */
static uint64_t key_on_record(const struct sim *sim, const struct record *record)
{
    const json_t *object =
        kube_server_get(sim->kube, &AZ_VOLUME_ATTACHMENTS, WORLD_NAMESPACE, record->name);
    const json_t *notes = json_object_get(json_object_get(object, "status"), "annotation");
    const char *fence = json_string_value(json_object_get(notes, ANNOTATION_FENCE));

    return fence && strncmp(fence, "held ", strlen("held ")) == 0
               ? strtoull(fence + strlen("held "), NULL, 16)
               : 0;
}

/* The boot that is given up: it may have been started anew since Azure has said that it is off. */
static bool has_ended(const struct machine *machine, const char *given_up)
{
    CLEANUP(freep) char *boot = machine_boot_id(machine);

    return !machine->up || strcmp(given_up, boot) != 0;
}

static void check_given_up_volume(const struct invariants *invariants,
                                  const struct machine *machine, const struct record *record,
                                  bool ended)
{
    struct sim *sim = invariants->sim;
    struct volume *volume = volume_of_disk(sim, record->volume->disk);
    const struct disk *disk = disk_find(sim->azure, record->volume->disk);
    uint64_t key = key_on_record(sim, record);

    if (!volume || loop_now(sim->loop) - record->promoted < SETTLED_MS)
        return;
    volume->given_up_at = loop_now(sim->loop);
    if (!volume->wish.failover)
        verdict_violated(sim, NO_PROOF, "%s is given up, and volume %s of it did not ask for it",
                         machine->name, record->volume->name);
    if (disk && key && !ended && is_registered(sim, disk, key))
        verdict_violated(sim, NO_PROOF,
                         "%s is given up, and the disk of volume %s knows %#" PRIx64 " still",
                         machine->name, record->volume->name, key);
}

static void check_given_up(const struct invariants *invariants, const struct machine *machine,
                           const char *given_up)
{
    struct sim *sim = invariants->sim;
    uint64_t now = loop_now(sim->loop);
    bool ended = has_ended(machine, given_up);

    coverage_count("failover", machine->up ? "alive" : "dead",
                   machine->registered ? "given up" : "deleted");
    check_writes(machine);
    if (machine->registered && !ended && machine->lease_boot != machine->boots)
        verdict_violated(sim, SILENCE_OF_ANOTHER,
                         "%s is given up in boot %u, and its plug-in was last heard of in boot %u",
                         machine->name, machine->boots, machine->lease_boot);
    check_many(invariants, machine);
    HASH_FOREACH(invariants->records.volumes, volume) {
        const struct record *record = record_on(volume, machine->name);

        if (record && (record->primary || record->is_primary))
            check_given_up_volume(invariants, machine, record, ended);
    }
    if ((other_driver_is_on(machine) || other_driver_is_shared_on(machine)) && !ended)
        verdict_violated(sim, NO_PROOF, "%s is given up, and has a volume of another driver",
                         machine->name);
    if (machine_is_connected(machine) && !machine->dismissed &&
        now - machine->connected_since > MINUTE_MS && now - invariants->mended > MINUTE_MS)
        verdict_violated(sim, HEARD_OF, "%s is given up, and its kubelet is heard of since %.3f s",
                         machine->name, (double)machine->connected_since / 1000);
}

static const char *boot_of(const json_t *node)
{
    const json_t *info = json_object_get(json_object_get(node, "status"), "nodeInfo");
    const char *boot = json_string_value(json_object_get(info, "bootID"));

    return boot ? boot : "";
}

void check_taint(struct invariants *invariants, const json_t *before, const json_t *after)
{
    const char *former = node_given_up(before), *given_up = node_given_up(after);
    const json_t *metadata = json_object_get(after, "metadata");
    const struct machine *machine =
        after ? machine_find(invariants->sim->world,
                             json_string_value(json_object_get(metadata, "name")))
              : NULL;

    if (!machine)
        return;
    if (given_up && !former)
        check_given_up(invariants, machine, given_up);
    if (before && former && !given_up && strcmp(boot_of(after), former) == 0)
        verdict_violated(invariants->sim, STAYS_GIVEN_UP,
                         "%s was given up, and is taken back without having been started anew",
                         machine->name);
}

/* ---- fences of nodes that are heard of ---- */

static bool was_heard_since(const struct machine *machine, uint64_t since)
{
    return machine_is_connected(machine) && machine->registered && !machine->given_up &&
           machine->connected_since <= since && machine->plugin_back <= since &&
           machine->cut_disks_until <= since && !machine->disks_cut;
}

void invariants_preempted(struct sim *sim, const char *by, uint64_t key)
{
    uint64_t now = loop_now(sim->loop);
    uint64_t since = now > MINUTE_MS ? now - MINUTE_MS : 0;

    if (!sim->invariants || !servers_were_well(sim->invariants, since))
        return;
    LIST_FOREACH(&sim->world->machines, link) {
        const struct machine *machine = MACHINE_OF(link);

        if (!was_heard_since(machine, since) || !machine->holds_lease)
            continue;
        LIST_FOREACH(&machine->mounts, mount) {
            if (MOUNT_OF(mount)->staged && MOUNT_OF(mount)->key == key &&
                MOUNT_OF(mount)->since <= since)
                verdict_violated(sim, KEEPS_FENCE, "%s preempts the key of %s, which is heard of",
                                 by, machine->name);
        }
    }
}

/* ---- in time ---- */

static bool is_wanted(const struct invariants *invariants, const struct machine *machine,
                      const struct record *record, uint64_t since)
{
    const struct volume *volume = volume_of_disk(invariants->sim, record->volume->disk);

    (void)machine;
    return volume && volume->wish.failover && !record->deleting && record->promoted <= since &&
           record->is_primary && record->primary;
}

static bool is_mounted(const struct machine *machine, const struct volume *volume, uint64_t since)
{
    const struct mount *mount = machine_mount(machine, volume);

    return mount && mount->staged && !mount->fence_lost && mount->since <= since;
}

/* Whoever has asked for failover, the StorageClass or the pods: the node is to be listened for. */
static void check_listened_for(const struct invariants *invariants, const struct machine *machine)
{
    uint64_t now = loop_now(invariants->sim->loop);
    uint64_t since = now > MINUTE_MS ? now - MINUTE_MS : 0;

    if (!since || machine->holds_lease || !was_heard_since(machine, since) ||
        !servers_were_well(invariants, since))
        return;
    HASH_FOREACH(invariants->records.volumes, at) {
        const struct record *record = record_on(at, machine->name);

        if (!record || !is_wanted(invariants, machine, record, since))
            continue;
        const struct volume *volume = volume_of_disk(invariants->sim, at->disk);
        if (is_mounted(machine, volume, since))
            verdict_violated(invariants->sim, GIVEN_UP_IN_TIME,
                             "%s has volume %s, which is to fail over, and holds no Lease",
                             machine->name, volume->pv);
    }
}

static bool is_provable(const struct invariants *invariants, const struct machine *machine,
                        const struct record *record, uint64_t since)
{
    const struct sim *sim = invariants->sim;

    if (!is_wanted(invariants, machine, record, since) || !key_on_record(sim, record))
        return false;
    LIST_FOREACH(&record->volume->attachments, link) {
        const struct record *other = RECORD_OF(link);
        const struct machine *helper = machine_find(sim->world, other->node);

        if (other == record)
            continue;
        /* Whoever is asked first is to answer, and need not be the one that can. */
        if (other->primary || other->is_primary || other->deleting || other->since > since ||
            strcmp(other->state, "Attached") != 0 || helper == machine || !helper ||
            !helper->ready || helper->moved || !was_heard_since(helper, since))
            return false;
    }
    return volume_of_disk(sim, record->volume->disk)->wish.max_shares > 1 &&
           record->volume->attachments.next->next != &record->volume->attachments;
}

/* Its volumes, all of them published and mounted before. */
static bool all_are(const struct invariants *invariants, const struct machine *machine,
                    uint64_t since,
                    bool (*is_it)(const struct invariants *, const struct machine *,
                                  const struct record *, uint64_t))
{
    size_t primaries = 0, published = 0;

    HASH_FOREACH(invariants->records.volumes, volume) {
        const struct record *record = record_on(volume, machine->name);

        if (!record || !(record->primary || record->is_primary))
            continue;
        primaries++;
        if (!is_it(invariants, machine, record, since))
            return false;
    }
    LIST_FOREACH(&machine->publications, link) {
        if (!PUBLICATION_ON(link)->attached || PUBLICATION_ON(link)->deleting)
            return false;
        published++;
    }
    return primaries > 0 && primaries == published;
}

/* Since then nothing but its silence was in the way of anybody's decision. */
static bool may_be_late(const struct invariants *invariants, const struct machine *machine,
                        uint64_t since)
{
    return !servers_were_well(invariants, since) || !node_lease_is_held(machine) ||
           machine->lease_boot != machine->boots;
}

/* Either by the disks of its volumes or by Azure's word, for which it is asked again and again. */
static void note_provable(const struct invariants *invariants, struct machine *machine,
                          uint64_t since)
{
    const struct sim *sim = invariants->sim;
    if (!pods_can_move(machine) || !all_are(invariants, machine, since, is_provable))
        machine->immovable_at = loop_now(sim->loop);
    if (other_driver_is_on(machine) || machine->immovable_at == loop_now(sim->loop))
        machine->unprovable_at = loop_now(sim->loop);
    if (!machine_is_off(machine) || sim->landscape.no_provider_ids ||
        !all_are(invariants, machine, since, is_wanted))
        machine->may_run_at = loop_now(sim->loop);
}

/* `began`: since then somebody asks. */
static bool was_provable(const struct machine *machine, uint64_t began, uint64_t now)
{
    uint64_t off_since = machine->may_run_at > began ? machine->may_run_at : began;

    return now >= machine->unprovable_at + FAILOVER_DECISION_MS ||
           now >= off_since + MOST_PAUSE_MS + FAILOVER_DECISION_MS;
}

/* Kubelet counts as alive for as long as it has promised, if it was heard of after the plug-in; and
 * it is not listened for while too many are silent. */
static uint64_t due_at(const struct sim *sim, const struct machine *machine)
{
    bool outlived = machine->renewed > machine->lease_renewed + node_lease_renewal_ms(sim);
    uint64_t silent = machine->silent_since + sim->node_grace_ms;
    uint64_t few = machine->crowded_at;

    return (few > silent ? few : silent) + FAILOVER_DECISION_MS + (outlived ? KUBELET_MS : 0);
}

static void check_silent(const struct invariants *invariants, struct machine *machine)
{
    struct sim *sim = invariants->sim;
    uint64_t now = loop_now(sim->loop);
    if (silent_count_with(machine) > MOST_SILENT)
        machine->crowded_at = now;
    uint64_t due = due_at(sim, machine);

    if (machine_is_connected(machine) || machine_is_out_of_service(machine) ||
        !machine->registered || machine->dismissed || machine->silent_since < 2 * MINUTE_MS)
        return;
    uint64_t since = machine->silent_since - MINUTE_MS;
    note_provable(invariants, machine, since);
    if (may_be_late(invariants, machine, since))
        return;
    check_moved_in_time(machine, due);
    if (now < due || !was_provable(machine, due, now))
        return;
    verdict_violated(sim, GIVEN_UP_IN_TIME,
                     "nothing is heard of %s since %.3f s, and all of its volumes are provable",
                     machine->name, (double)machine->silent_since / 1000);
}

/* Its Node is gone, whether or not it lives on. */
static void check_deleted(const struct invariants *invariants, struct machine *machine)
{
    uint64_t now = loop_now(invariants->sim->loop), deleted = machine->unready_since;

    if (machine->registered || machine->given_up || deleted < 2 * MINUTE_MS)
        return;
    uint64_t since = deleted - MINUTE_MS;
    note_provable(invariants, machine, since);
    if (now < deleted + FAILOVER_DECISION_MS || !was_provable(machine, deleted, now) ||
        !servers_were_well(invariants, since))
        return;
    verdict_violated(invariants->sim, GIVEN_UP_IN_TIME,
                     "the Node of %s was deleted at %.3f s, and all of its volumes are provable",
                     machine->name, (double)deleted / 1000);
}

static void check_taken_back(const struct invariants *invariants, const struct machine *machine)
{
    struct sim *sim = invariants->sim;
    uint64_t now = loop_now(sim->loop);
    const char *former = machine->given_up ? machine->given_up : machine->moved;
    CLEANUP(freep) char *boot = machine_boot_id(machine);

    if (!former || strcmp(former, boot) == 0 || !machine_is_connected(machine) || !machine->ready ||
        now < TAKE_BACK_MS || machine->connected_since > now - TAKE_BACK_MS)
        return;
    if (servers_were_well(invariants, now > MINUTE_MS ? now - MINUTE_MS : 0))
        verdict_violated(sim, TAKEN_BACK, "%s was started anew at %.3f s, and has its taint still",
                         machine->name, (double)machine->connected_since / 1000);
}

/* Somebody has deleted the Node, and it is not back, or its plug-in is not; or somebody has
 * attached the volume by hand, here or elsewhere, and one of the two comes first. */
static bool is_hindered(const struct sim *sim, const struct publication *publication)
{
    const struct machine *machine = publication->machine;

    if (!machine->registered ||
        !kube_server_get(sim->kube, &AZ_DRIVER_NODES, WORLD_NAMESPACE, machine->name))
        return true;
    LIST_FOREACH(&sim->world->publications, link) {
        const struct publication *other = PUBLICATION_OF(link);

        if (other != publication && other->volume == publication->volume &&
            (other->by_hand_until || publication->by_hand_until))
            return true;
    }
    return false;
}

/* What the silent node had is published where there was a replica. */
static void check_publication(const struct invariants *invariants, struct publication *publication)
{
    struct sim *sim = invariants->sim;
    const struct volume *volume = publication->volume;
    uint64_t now = loop_now(sim->loop);

    if (!volume->given_up_at || !publication->was_replica || publication->deleting ||
        publication->began < volume->given_up_at || now < 2 * MINUTE_MS)
        return;
    if (is_hindered(sim, publication))
        publication->hindered_at = now;
    uint64_t due = publication->hindered_at > publication->began
                       ? publication->hindered_at + AGAIN_MS
                       : publication->began + PUBLISH_MS;
    const struct record *record = record_find(sim, volume->disk, publication->machine->name);
    if (publication->attached || now < due || !record || record->deleting ||
        strcmp(record->state, "Attached") != 0)
        return;
    if (servers_were_well(invariants, publication->began - MINUTE_MS))
        verdict_violated(sim, RUNS_ELSEWHERE, "%s has a replica of %s since %.3f s, and waits",
                         publication->machine->name, record->volume->name,
                         (double)publication->began / 1000);
}

void check_failovers(struct invariants *invariants)
{
    struct sim *sim = invariants->sim;
    uint64_t now = loop_now(sim->loop);

    if (!sim->landscape.failover || now < invariants->failovers_seen + LOOK_MS)
        return;
    invariants->failovers_seen = now;
    LIST_FOREACH(&sim->world->machines, link) {
        check_silent(invariants, MACHINE_OF(link));
        check_listened_for(invariants, MACHINE_OF(link));
        check_deleted(invariants, MACHINE_OF(link));
        check_taken_back(invariants, MACHINE_OF(link));
    }
    LIST_FOREACH(&sim->world->publications, link)
        check_publication(invariants, PUBLICATION_OF(link));
}
