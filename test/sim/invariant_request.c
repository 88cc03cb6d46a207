/* Invariants of what the driver asks of Azure, and how often. */

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "test/azsim/model/attachment.h"
#include "test/azsim/model/resource.h"
#include "test/sim/coverage.h"
#include "test/sim/invariant_check.h"
#include "test/sim/other_cluster.h"

enum {
    SETTLING_MS = 30 * 1000,
    LEARNED_MS = 5 * 60 * 1000, /* while Azure has troubles: looks are a minute apart, or more */
    US_IN_MS = 1000,
};

/* ---- I3, I5: what is taken away ---- */

uint64_t came_at(const struct sim *sim, const struct arm_record *record)
{
    int64_t ago_us = loop_wall_us(sim->loop) - record->wall_us;
    uint64_t ago_ms = ago_us > 0 ? (uint64_t)ago_us / 1000 : 0;

    return loop_now(sim->loop) - ago_ms;
}

/* It was lost, and could not be attached again: Azure has it in the VM's model all the same. */
static bool is_being_attached(const struct sim *sim, const char *disk, const char *node)
{
    const struct record *record = record_find(sim, disk, node);

    return record && record->lun >= 0 &&
           (strcmp(record->state, STATE_ATTACHING) == 0 ||
            strcmp(record->state, STATE_ATTACHMENT_FAILED) == 0);
}

static void check_detach(struct invariants *invariants, const struct arm_record *record,
                         const char *disk)
{
    struct sim *sim = invariants->sim;
    const struct publishing *publishing = publishing_find(invariants, disk, record->vm);

    if (!volume_of_disk(sim, disk) && !record_volume(sim, disk)) {
        verdict_violated(sim, NOT_OURS, "disk %s of somebody else is detached from %s", disk,
                         record->vm);
        return;
    }
    if (is_published(invariants, disk, record->vm) && publishing->since < came_at(sim, record) &&
        !is_being_attached(sim, disk, record->vm))
        verdict_violated(sim, PUBLISHED_STAYS,
                         "volume %s is published to %s since %.3f s and is detached: %s %s", disk,
                         record->vm, (double)publishing->since / 1000, record->kind,
                         record->call->body ? record->call->body : "");
}

static void check_delete(struct invariants *invariants, const struct arm_record *record)
{
    struct sim *sim = invariants->sim;
    CLEANUP(freep) char *disk = resource_key(record->call->path);
    const struct volume *volume = volume_of_disk(sim, disk);

    if (other_cluster_has(sim->world, disk) || (!volume && !record_volume(sim, disk)))
        verdict_violated(sim, NOT_OURS, "disk %s of somebody else is deleted", record->resource);
    else if (volume && !volume->delete_asked)
        verdict_violated(sim, USED_STAYS, "disk %s is deleted, and nobody has asked for that",
                         record->resource);
}

/* ---- I4: whose turn it is ---- */

static bool names(const json_t *list, const char *disk)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcasecmp(json_string_value(json_array_get(list, i)), disk) == 0)
            return true;
    return false;
}

/* And whoever sent the request had heard of it. */
static bool waits_for_disk(const struct sim *sim, const struct arm_record *request,
                           const struct record *record)
{
    const uint64_t late_until[] = {kube_server_late_until(sim->kube, &AZ_VOLUME_ATTACHMENTS),
                                   sim->to_kube.streams_late_until};
    uint64_t since = record->since, came = came_at(sim, request);

    for (size_t i = 0; i < COUNT_OF(late_until); i++)
        since = late_until[i] > since ? late_until[i] : since;

    return record->primary && !record->deleting && strcmp(record->state, "Attached") != 0 &&
           came > since && came - since > SETTLING_MS;
}

bool vm_has_disk(const struct vm *vm, const char *disk)
{
    for (size_t i = 0; i < vm->data_disks.n; i++) {
        const struct disk *one = data_disk_disk(vm->model, &vm->data_disks.items[i]);

        if (one && strcmp(one->key, disk) == 0)
            return true;
    }
    return false;
}

/* A place would be of no use to it. */
static bool waits_for_share(const struct sim *sim, const struct record *record)
{
    const struct volume *volume = volume_of_disk(sim, record->volume->disk);

    return record->lun < 0 && volume && record_shares_held(record->volume) >= volume_shares(volume);
}

/* A replica takes the last place of a VM, and a primary has been waiting for one. */
static void check_place(struct invariants *invariants, const struct arm_record *request,
                        const struct record *replica)
{
    struct sim *sim = invariants->sim;
    const struct vm *vm = vm_find_by_name(sim->azure, request->vm);

    if (!vm || vm->data_disks.n < vm->size->max_data_disks)
        return;
    HASH_FOREACH(invariants->records.volumes, volume) {
        const struct record *other = record_on(volume, request->vm);

        if (other && waits_for_disk(sim, request, other) && !waits_for_share(sim, other) &&
            !names(request->attached, volume->disk) && !vm_has_disk(vm, volume->disk))
            verdict_violated(sim, PRIMARY_FIRST,
                             "replica %s takes the last place of %s, for which primary %s waits",
                             replica->volume->name, request->vm, volume->name);
    }
}

/* Azure has, or will have, forgotten what it has begun with, and nobody can have learned of it:
 * that the operation has ended says nothing, and it may refuse the look at the VM for a while. */
static bool may_come(const struct invariants *invariants, const struct record *record)
{
    const struct model *azure = invariants->sim->azure;
    const struct operation *operation = operation_find(azure, record->attaching);
    uint64_t calm_ms = loop_now(invariants->sim->loop) - invariants->server_trouble_at;
    bool azure_troubles = invariants->server_troubles > invariants->control_troubles ||
                          calm_ms < SETTLING_MS; /* who waited for the end has not looked yet */
    int64_t learned_ms = azure_troubles ? LEARNED_MS : SETTLING_MS;

    return operation && (operation->status == OPERATION_IN_PROGRESS ||
                         model_now_us(azure) - operation->end_us < learned_ms * US_IN_MS);
}

/* A replica takes a share, and its volume's primary waits for one. */
static void check_share(struct invariants *invariants, const struct arm_record *request,
                        const struct record *replica)
{
    struct sim *sim = invariants->sim;

    LIST_FOREACH(&replica->volume->attachments, link) {
        const struct record *other = RECORD_OF(link);
        const struct vm *vm = vm_find_by_name(sim->azure, other->node);

        if (waits_for_disk(sim, request, other) && vm && !vm_has_disk(vm, replica->volume->disk) &&
            !may_come(invariants, other))
            verdict_violated(sim, PRIMARY_FIRST,
                             "volume %s gets a replica on %s, and its primary on %s waits",
                             replica->volume->name, replica->node, other->node);
    }
}

static void check_attach(struct invariants *invariants, const struct arm_record *request,
                         const char *disk)
{
    const struct record *record = record_find(invariants->sim, disk, request->vm);

    if (other_cluster_has(invariants->sim->world, disk))
        verdict_violated(invariants->sim, NOT_OURS, "disk %s of another cluster is attached to %s",
                         disk, request->vm);
    /* What was a primary's when it was asked for took nothing from one. */
    if (!record || record->primary || record->since >= came_at(invariants->sim, request))
        return;
    check_place(invariants, request, record);
    check_share(invariants, request, record);
}

/* ---- how often ---- */

/* By a bucket, not by a fault. */
static void count_refusal(const struct arm_record *record)
{
    if (record->status != 429 || record->fault)
        return;
    for (size_t i = 0; i < COUNT_OF(record->charges); i++)
        if (record->charges[i] && record->charges[i]->refused)
            coverage_count("throttled", record->charges[i]->refused, record->kind);
}

/* ---- all of them ---- */

static void note_change(struct sim *sim, const struct arm_record *record)
{
    const char *about = record->vm ? record->vm : record->resource ? record->resource : "";

    if (strcmp(record->call->method, "GET") != 0)
        sim_note(sim, "%s of %s, which came at %.3f, is answered with %d%s%s", record->kind, about,
                 (double)came_at(sim, record) / 1000, record->status, record->fault ? ", " : "",
                 record->fault ? record->fault : "");
}

/* It may have ended by now. */
static const struct operation *last_operation(const struct vm *vm)
{
    const struct operation *last = NULL;

    HASH_FOREACH(vm->model->operations, one)
        if (strcmp(one->target, vm->key) == 0 && (!last || one->start_us > last->start_us))
            last = one;
    return last;
}

static void note_attaches(struct invariants *invariants, const struct arm_record *record)
{
    const struct vm *vm = record->vm ? vm_find_by_name(invariants->sim->azure, record->vm) : NULL;
    CLEANUP(json_decrefp)
    json_t *body = record->call->body ? json_loads(record->call->body, 0, NULL) : NULL;
    const json_t *entries = json_object_get(body, "dataDisksToAttach");
    const struct operation *last = json_array_size(entries) && vm ? last_operation(vm) : NULL;

    for (size_t i = 0; last && i < json_array_size(entries); i++) {
        const json_t *id = json_object_get(json_array_get(entries, i), "diskId");
        CLEANUP(freep) char *disk = resource_key(json_string_value(id));

        records_see_operation(&invariants->records, disk, record->vm, last->id);
    }
}

static char *key_at(const json_t *ids, size_t i)
{
    return resource_key(json_string_value(json_array_get(ids, i)));
}

void check_request(struct invariants *invariants, const struct arm_record *record)
{
    bool accepted = record->status >= 200 && record->status < 300;

    note_change(invariants->sim, record);
    count_refusal(record);
    if (strcmp(record->kind, "disks.createOrUpdate") == 0)
        check_creation(invariants, record);
    if (strcmp(record->kind, "disks.update") == 0)
        check_change_request(invariants, record);
    if (!accepted)
        return;
    note_attaches(invariants, record);
    for (size_t i = 0; record->vm && i < json_array_size(record->detached); i++) {
        CLEANUP(freep) char *disk = key_at(record->detached, i);

        check_detach(invariants, record, disk);
    }
    for (size_t i = 0; record->vm && i < json_array_size(record->attached); i++) {
        CLEANUP(freep) char *disk = key_at(record->attached, i);

        check_attach(invariants, record, disk);
    }
    if (strcmp(record->kind, "disks.delete") == 0 && record->status != 204)
        check_delete(invariants, record);
}
