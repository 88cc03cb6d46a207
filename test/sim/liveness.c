#include "test/sim/liveness.h"

#include <stdlib.h>
#include <string.h>

#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "test/azsim/model/attachment.h"
#include "test/sim/attacher_sync.h"
#include "test/sim/azure_side.h"
#include "test/sim/controller_process.h"
#include "test/sim/invariant_check.h"
#include "test/sim/other_cluster.h"
#include "test/sim/scheduler.h"
#include "test/sim/workload.h"

/* ---- wishes ---- */

static void check_wishes(struct sim *sim)
{
    CLEANUP(freep) char *why = NULL;

    if (!world_is_settled(sim, &why))
        verdict_violated(sim, WISHES, "at the end: %s", why ? why : "the world is not settled");
}

/* ---- records, and what they are of ---- */

static void check_attachment(struct sim *sim, const struct record *record)
{
    const char *volume = record->volume->name, *node = record->node;
    const struct disk *disk = disk_find(sim->azure, record->volume->disk);
    const struct vm *vm = vm_find_by_name(sim->azure, node);
    const struct attachment *attachment = disk && vm ? attachment_find(vm, disk) : NULL;

    if (record->deleting) {
        verdict_violated(sim, WISHES, "the attachment of %s to %s is still going, %s", volume, node,
                         record->state);
        return;
    }
    if (strcmp(record->state, "Attached") != 0 || record->primary != record->is_primary) {
        verdict_violated(sim, WISHES, "the attachment of %s to %s is still %s, %s and to be %s",
                         volume, node, record->state, record->is_primary ? "primary" : "replica",
                         record->primary ? "primary" : "replica");
        return;
    }
    if (!attachment || !attachment->attached || (int)attachment->lun != record->lun)
        verdict_violated(sim, RECORDS_TRUE, "%s has %s Attached at LUN %d by its record; %s", node,
                         volume, record->lun,
                         !vm           ? "there is no such VM"
                         : !disk       ? "there is no such disk"
                         : !attachment ? "the VM does not have it"
                                       : "the VM has it elsewhere");
}

/* A disk for which nobody has an AzVolume may be somebody else's. */
static bool is_ours(const struct sim *sim, const char *disk)
{
    return record_volume(sim, disk) || volume_of_disk(sim, disk);
}

static void check_vm(struct sim *sim, const struct vm *vm)
{
    LIST_FOREACH(&vm->attachments, link) {
        const char *disk = ATTACHMENT_OF_VM(link)->disk->key;

        if (is_ours(sim, disk) && !record_find(sim, disk, vm->spec.name))
            verdict_violated(sim, NOTHING_LEFT, "disk %s is attached to %s and has no attachment",
                             disk, vm->spec.name);
    }
    for (size_t i = 0; i < vm->data_disks.n; i++) {
        const char *disk = vm->data_disks.items[i].key;

        if (is_ours(sim, disk) && !record_find(sim, disk, vm->spec.name))
            verdict_violated(sim, NOTHING_LEFT, "%s has disk %s in its model and no attachment",
                             vm->spec.name, disk);
    }
}

/* ---- volumes ---- */

static const struct disk *find_own_disk(const struct sim *sim, const char *key)
{
    return other_cluster_has(sim->world, key) ? NULL : disk_find(sim->azure, key);
}

/* Its creation has failed, and is there for people to read of for a while. */
static bool is_kept(const struct sim *sim, const struct volume_record *record)
{
    const json_t *object = kube_server_get(sim->kube, &AZ_VOLUMES, WORLD_NAMESPACE, record->name);
    const json_t *notes = json_object_get(json_object_get(object, "status"), "annotation");
    const char *until = json_string_value(json_object_get(notes, ANNOTATION_FORGET_AFTER));

    return timestamp_noted(until) > loop_wall_us(sim->loop);
}

static void check_volume(struct sim *sim, const struct volume *volume)
{
    CLEANUP(freep)
    char *key = volume->disk ? mem_strdup(volume->disk)
                             : azure_side_disk_key(sim->azure, &sim->landscape, volume->pv);
    const struct volume_record *record = record_volume(sim, key);
    const struct disk *disk = find_own_disk(sim, key);
    bool exists = record && record->exists;

    if (volume->phase == VOLUME_GONE && ((exists && !is_kept(sim, record)) || disk))
        verdict_violated(sim, NOTHING_LEFT, "volume %s is gone, and its %s is there", key,
                         exists ? "AzVolume" : "disk");
    else if (volume->phase == VOLUME_BOUND && (!exists || !disk))
        verdict_violated(sim, RECORDS_TRUE, "volume %s is in use, and has no %s", key,
                         exists ? "disk" : "AzVolume");
}

/* Nobody has it, and nobody deletes it: its PersistentVolume is all that there has to be. */
static bool is_retained(const struct sim *sim, const char *disk)
{
    LIST_FOREACH(&sim->world->volumes, link) {
        const struct volume *volume = VOLUME_OF(link);

        if (volume->disk && strcmp(volume->disk, disk) == 0)
            return volume->phase == VOLUME_RELEASED && volume->wish.retain;
    }
    return false;
}

/* What `kubectl get azvolumes -o wide` shows of it. */
static void check_summary(struct sim *sim, const struct volume_record *volume)
{
    CLEANUP(freep) char *listed = mem_printf(",%s,", volume->primary_nodes);
    unsigned primaries = 0, ready = 0, names = *volume->primary_nodes != '\0';

    LIST_FOREACH(&volume->attachments, link) {
        CLEANUP(freep) char *name = mem_printf(",%s,", RECORD_OF(link)->node);

        if (!RECORD_OF(link)->is_primary)
            ready++;
        else if (strstr(listed, name))
            primaries++;
        else
            verdict_violated(sim, RECORDS_TRUE, "volume %s is published to %s, and not to %s",
                             volume->name, volume->primary_nodes, RECORD_OF(link)->node);
    }
    for (const char *comma = volume->primary_nodes; (comma = strchr(comma, ',')); comma++)
        names++;
    if (names != primaries || ready != volume->ready)
        verdict_violated(sim, RECORDS_TRUE, "volume %s says it is on \"%s\" with %u replicas of %u",
                         volume->name, volume->primary_nodes, volume->ready, ready);
}

static void check_az_volume(struct sim *sim, const struct volume_record *record)
{
    const struct disk *disk = find_own_disk(sim, record->disk);

    if (!record->exists && record_volume(sim, record->disk) != record)
        return; /* another one is about it now */
    if (record->exists && record->deleting)
        verdict_violated(sim, WISHES, "AzVolume %s is still being deleted", record->name);
    else if (record->exists != (disk != NULL) &&
             !(disk ? is_retained(sim, record->disk) : is_kept(sim, record)))
        verdict_violated(sim, NOTHING_LEFT, "%s is there, and its %s is not", record->name,
                         disk ? "AzVolume" : "disk");
    else if (record->exists && record->created)
        check_summary(sim, record);
}

/* ---- replicas ---- */

static bool has_place(const struct sim *sim, const struct volume *volume,
                      const struct machine *machine)
{
    const struct vm *vm = machine_vm(machine);

    return vm && vm->power == POWER_RUNNING && vm->data_disks.n < vm->size->max_data_disks &&
           machine->registered && machine->ready && !machine->cordoned &&
           !machine_is_out_of_service(machine) && !machine->moved &&
           machine_is_connected(machine) && volume->zones & 1U << machine->zone &&
           !record_find(sim, volume->disk, machine->name);
}

/* A pod that can only be in one zone, or not beside its siblings, needs no replica elsewhere. */
static bool pods_allow(const struct sim *sim, const struct volume *volume,
                       const struct machine *machine)
{
    LIST_FOREACH(&sim->world->pods, link) {
        const struct pod *pod = POD_OF(link);

        if (pod_uses(pod, volume) && ((pod->zone >= 0 && (unsigned)pod->zone != machine->zone) ||
                                      (pod->workload->spread && machine_has_sibling(machine, pod))))
            return false;
    }
    return true;
}

static void check_replicas(struct sim *sim, const struct volume *volume)
{
    const struct volume_record *record = record_volume(sim, volume->disk);
    unsigned primaries = 0, replicas = 0;

    LIST_FOREACH(&record->attachments, link) {
        primaries += RECORD_OF(link)->primary;
        replicas += !RECORD_OF(link)->primary;
    }
    if (replicas > record->replicas || (primaries == 0 && replicas > 0))
        verdict_violated(sim, NOTHING_LEFT, "volume %s has %u replicas and wants %u", record->name,
                         replicas, primaries ? record->replicas : 0);
    if (primaries + replicas > volume_shares(volume))
        verdict_violated(sim, SHARES, "volume %s has %u attachments, and its disk %u shares",
                         record->name, primaries + replicas, volume_shares(volume));
    if (primaries == 0 || replicas >= record->replicas ||
        primaries + replicas >= volume_shares(volume))
        return;
    LIST_FOREACH(&sim->world->machines, link) {
        const struct machine *machine = MACHINE_OF(link);

        if (has_place(sim, volume, machine) && pods_allow(sim, volume, machine))
            verdict_violated(sim, REPLICAS_THERE, "volume %s has %u replicas of %u, and none on %s",
                             record->name, replicas, record->replicas, machine->name);
    }
}

/* ---- what is listed ---- */

/* By each controller, as external-attacher knows it: else it would publish again every minute. */
static void check_list(struct sim *sim, struct controller_process *process)
{
    Csi__V1__ListVolumesResponse *response = controller_process_list(process);
    size_t published = 0, listed = 0;

    if (!response)
        return;
    for (size_t i = 0; i < response->n_entries; i++)
        listed += response->entries[i]->status->n_published_node_ids;
    LIST_FOREACH(&sim->world->publications, link) {
        const struct publication *publication = PUBLICATION_OF(link);

        if (!publication->attached || publication->deleting)
            continue;
        published++;
        if (!attacher_sync_lists(response, publication))
            verdict_violated(sim, RECORDS_TRUE, "volume %s is published on %s, and not listed so",
                             publication->volume->pv, publication->machine->name);
    }
    if (listed != published)
        verdict_violated(sim, RECORDS_TRUE, "%zu volumes are published, and %zu are listed so",
                         published, listed);
    protobuf_c_message_free_unpacked(&response->base, NULL);
}

/* ---- secrets ---- */

static void check_secrets(struct sim *sim)
{
    static const struct api_resource *const kinds_of_ours[] = {
        &AZ_VOLUMES, &AZ_VOLUME_ATTACHMENTS, &AZ_SNAPSHOTS, &AZ_DRIVER_NODES, &EVENTS, &LEASES,
    };
    struct azure_config config;

    azure_side_config(&config);
    for (size_t i = 0; i < COUNT_OF(kinds_of_ours); i++)
        for (size_t n = 0; n < kube_server_count(sim->kube, kinds_of_ours[i]); n++) {
            CLEANUP(freep)
            char *text = json_dumps(kube_server_at(sim->kube, kinds_of_ours[i], n), JSON_COMPACT);

            if (strstr(text, config.client_secret))
                verdict_violated(sim, NO_SECRETS, "it is in %s", text);
        }
    azure_config_fini(&config);
}

bool liveness_is_moving(const struct sim *sim)
{
    HASH_FOREACH(invariants_records(sim->invariants)->volumes, volume) {
        LIST_FOREACH(&volume->attachments, link) {
            const char *state = RECORD_OF(link)->state;

            if (strcmp(state, "Attaching") == 0 || strcmp(state, "Detaching") == 0)
                return true;
        }
    }
    return false;
}

bool liveness_holds(struct sim *sim)
{
    check_wishes(sim);
    HASH_FOREACH(invariants_records(sim->invariants)->volumes, volume) {
        check_az_volume(sim, volume);
        LIST_FOREACH(&volume->attachments, link) {
            check_attachment(sim, RECORD_OF(link));
        }
    }
    HASH_FOREACH(sim->azure->vms, vm) {
        check_vm(sim, vm);
    }
    LIST_FOREACH(&sim->world->volumes, link) {
        const struct volume *volume = VOLUME_OF(link);

        check_volume(sim, volume);
        check_changes_at_end(sim, volume);
        if (volume->phase == VOLUME_BOUND && !volume->wish.block && volume->disk &&
            record_volume(sim, volume->disk))
            check_replicas(sim, volume);
    }
    for (size_t i = 0; i < sim->n_controllers; i++)
        if (sim->controllers[i])
            check_list(sim, sim->controllers[i]);
    check_snapshots_at_end(sim);
    check_secrets(sim);
    return verdict_is_good(sim->verdict);
}
