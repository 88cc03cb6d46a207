/* Invariants of CSI calls: what was answered is so. And from the calls, what is published where. */

#include <stdlib.h>
#include <string.h>

#include "lib/api/csi.pb-c.h"
#include "lib/base/alloc.h"
#include "test/azsim/model/attachment.h"
#include "test/azsim/model/disk.h"
#include "test/azsim/model/resource.h"
#include "test/sim/invariant_check.h"
#include "test/sim/other_cluster.h"

typedef Csi__V1__ControllerPublishVolumeRequest publish_request;
typedef Csi__V1__ControllerUnpublishVolumeRequest unpublish_request;

/* ---- what is published ---- */

static struct publishing *find(const struct invariants *invariants, const char *disk,
                               const char *node)
{
    CLEANUP(freep) char *key = mem_printf("%s %s", disk, node);
    struct publishing *publishing;

    HASH_FIND_STR(invariants->publishings, key, publishing);
    return publishing;
}

static struct publishing *get(struct invariants *invariants, const char *disk, const char *node)
{
    struct publishing *publishing = find(invariants, disk, node);

    if (publishing)
        return publishing;
    publishing = mem_alloc(sizeof *publishing);
    publishing->key = mem_printf("%s %s", disk, node);
    HASH_ADD_KEYPTR(hh, invariants->publishings, publishing->key, strlen(publishing->key),
                    publishing);
    return publishing;
}

void calls_fini(struct invariants *invariants)
{
    HASH_FOREACH(invariants->publishings, publishing) {
        HASH_DEL(invariants->publishings, publishing);
        free(publishing->key);
        free(publishing);
    }
}

const struct publishing *publishing_find(const struct invariants *invariants, const char *disk,
                                         const char *node)
{
    return find(invariants, disk, node);
}

bool is_published(const struct invariants *invariants, const char *disk, const char *node)
{
    const struct publishing *publishing = find(invariants, disk, node);
    const struct machine *machine = machine_find(invariants->sim->world, node);

    return publishing && publishing->since > 0 && machine && machine_vm(machine);
}

static struct publishing *publishing_of(struct invariants *invariants, const char *method,
                                        const ProtobufCMessage *request, bool *ret_publish)
{
    const publish_request *publish = (const publish_request *)(const void *)request;
    const unpublish_request *unpublish = (const unpublish_request *)(const void *)request;

    *ret_publish = strcmp(method, "ControllerPublishVolume") == 0;
    if (!*ret_publish && strcmp(method, "ControllerUnpublishVolume") != 0)
        return NULL;
    CLEANUP(freep)
    char *disk = resource_key(*ret_publish ? publish->volume_id : unpublish->volume_id);
    return get(invariants, disk, *ret_publish ? publish->node_id : unpublish->node_id);
}

void note_question(struct invariants *invariants, const char *method,
                   const ProtobufCMessage *request)
{
    bool publish;
    struct publishing *publishing = publishing_of(invariants, method, request, &publish);

    if (strcmp(method, "ControllerExpandVolume") == 0)
        note_growth_question(invariants, request);
    else if (strcmp(method, "CreateVolume") == 0)
        note_copy_question(invariants, request);
    if (!publishing)
        return;
    if (publish) {
        publishing->publishes++;
        publishing->crossed |= publishing->unpublishes > 0;
        return;
    }
    publishing->unpublishes++;
    publishing->crossed |= publishing->publishes > 0;
    publishing->since = 0;
}

void invariants_unpublished_by_hand(struct sim *sim, const char *disk, const char *node)
{
    get(sim->invariants, disk, node)->since = 0;
}

void note_record(struct invariants *invariants, const char *disk, const char *node)
{
    struct publishing *publishing = get(invariants, disk, node);
    const struct record *record = record_find(invariants->sim, disk, node);

    publishing->recorded = invariants->sim->azure->sequence;
    if (record && record->primary && !record->deleting)
        publishing->deleted_by_hand = false;
}

void note_deleted_by_hand(struct invariants *invariants, const char *disk, const char *node)
{
    get(invariants, disk, node)->deleted_by_hand = true;
}

/* ---- what was answered ---- */

static const char *context_lun(const Csi__V1__ControllerPublishVolumeResponse *response)
{
    for (size_t i = 0; i < response->n_publish_context; i++)
        if (strcmp(response->publish_context[i]->key, "LUN") == 0)
            return response->publish_context[i]->value;
    return "";
}

/* Somebody has deleted the record by hand, which who serves the call need not have heard of yet. */
static bool is_unheard_of(const struct invariants *invariants, const struct record *record,
                          const char *disk, const char *node)
{
    const struct publishing *publishing = find(invariants, disk, node);

    return publishing && publishing->deleted_by_hand && (!record || record->deleting) &&
           may_be_behind(invariants, loop_now(invariants->sim->loop));
}

/* The node goes by the record; what is in the answer is what the process that serves the call has
 * heard of it. */
static void check_published(struct invariants *invariants, const publish_request *request,
                            const Csi__V1__ControllerPublishVolumeResponse *response)
{
    struct sim *sim = invariants->sim;
    CLEANUP(freep) char *disk = resource_key(request->volume_id);
    const char *volume = request->volume_id, *node = request->node_id;
    const struct machine *machine = machine_find(sim->world, node);
    const struct record *record = record_find(sim, disk, node);
    const char *lun = context_lun(response);

    if (!machine || !machine->registered || !machine_vm(machine) ||
        is_unheard_of(invariants, record, disk, node))
        return;
    if (!record || !record->primary || record->deleting || !record->is_primary)
        verdict_violated(sim, CALL_WAS_DONE, "volume %s was published to %s, and its attachment %s",
                         volume, node,
                         !record            ? "is not there"
                         : record->deleting ? "is going"
                         : record->primary  ? "is not its primary on record"
                                            : "is a replica");
    else if (!lun[0] || (strtol(lun, NULL, 10) != record->lun && is_calm(invariants)))
        verdict_violated(sim, CALL_WAS_DONE, "volume %s was published to %s as LUN \"%s\" of %d",
                         volume, node, lun, record->lun);
}

/* Published elsewhere, which is on record: then it is not to be published here any more, but for a
 * block volume, which several nodes may have. A controller that has not heard of that record does
 * not know. */
static void check_refused(const struct invariants *invariants, const publish_request *request)
{
    CLEANUP(freep) char *disk = resource_key(request->volume_id);
    const char *volume = request->volume_id, *node = request->node_id;
    const struct record *record = record_find(invariants->sim, disk, node);
    const struct volume *published = volume_of_disk(invariants->sim, disk);

    if ((published && published->wish.block) || !record || !record->primary || record->deleting ||
        may_be_behind(invariants, loop_now(invariants->sim->loop)))
        return;
    LIST_FOREACH(&record->volume->attachments, link) {
        const struct record *other = RECORD_OF(link);

        if (other != record && other->primary && other->is_primary && !other->deleting)
            verdict_violated(invariants->sim, ONE_PRIMARY,
                             "volume %s was refused to %s, which is to be its primary beside %s",
                             volume, node, other->node);
    }
}

static void check_unpublished(struct invariants *invariants, const unpublish_request *request)
{
    struct sim *sim = invariants->sim;
    CLEANUP(freep) char *key = resource_key(request->volume_id);
    const char *volume = request->volume_id, *node = request->node_id;
    const struct publishing *publishing = find(invariants, key, node);
    const struct record *record = record_find(sim, key, node);
    const struct disk *disk = disk_find(sim->azure, key);

    if (record && record->primary)
        verdict_violated(sim, CALL_WAS_DONE, "volume %s was unpublished from %s and is still %s",
                         volume, node, record->deleting ? "being detached" : "its primary");
    const struct vm *vm = vm_find_by_name(sim->azure, node);
    const struct attachment *attachment = disk && vm ? attachment_find(vm, disk) : NULL;
    if (!record && attachment && attachment->sequence <= publishing->recorded)
        verdict_violated(sim, CALL_WAS_DONE,
                         "volume %s was unpublished from %s, which still has the disk", volume,
                         node);
}

static bool disk_exists(const struct sim *sim, const char *id)
{
    CLEANUP(freep) char *key = resource_key(id);
    const struct disk *disk = disk_find(sim->azure, key);

    return disk && disk->provisioning != PROVISIONING_DELETING;
}

static void check_created(struct sim *sim, const Csi__V1__CreateVolumeResponse *response)
{
    const char *id = response->volume->volume_id;
    CLEANUP(freep) char *disk = resource_key(id);
    const struct volume_record *record = record_volume(sim, disk);

    if (!record || !record->exists)
        verdict_violated(sim, CALL_WAS_DONE, "volume %s was created and has no AzVolume", id);
    else if (other_cluster_has(sim->world, disk))
        verdict_violated(sim, NOT_OURS, "volume %s was created and has another cluster's disk", id);
    else if (!disk_exists(sim, id))
        verdict_violated(sim, CALL_WAS_DONE, "volume %s was created and has no disk", id);
}

static void check_deleted(struct sim *sim, const Csi__V1__DeleteVolumeRequest *request)
{
    if (disk_exists(sim, request->volume_id))
        verdict_violated(sim, CALL_WAS_DONE, "volume %s was deleted, and its disk is there",
                         request->volume_id);
}

static void note_answer(struct invariants *invariants, struct publishing *publishing, bool publish,
                        bool good)
{
    unsigned *under_way = publish ? &publishing->publishes : &publishing->unpublishes;

    --*under_way;
    if (publish && good && !publishing->crossed)
        publishing->since = loop_now(invariants->sim->loop);
    if (publishing->publishes == 0 && publishing->unpublishes == 0)
        publishing->crossed = false;
}

void check_answer(struct invariants *invariants, const char *method,
                  const ProtobufCMessage *request, const ProtobufCMessage *response,
                  const struct err *err)
{
    bool publish;
    struct publishing *publishing = publishing_of(invariants, method, request, &publish);
    const void *question = request, *answer = response;

    if (publishing) {
        bool crossed = publishing->crossed;

        note_answer(invariants, publishing, publish, !err);
        if (err && publish && err_kind(err) == ERR_PRECONDITION)
            check_refused(invariants, question);
        else if (!err && !crossed && publish)
            check_published(invariants, question, answer);
        else if (!err && !crossed)
            check_unpublished(invariants, question);
    } else if (strcmp(method, "ControllerExpandVolume") == 0) {
        check_growth_answer(invariants, request, response, err);
    } else if (strcmp(method, "ControllerModifyVolume") == 0) {
        check_modify_answer(invariants, request, err);
    } else if (strcmp(method, "CreateSnapshot") == 0) {
        check_snapshot_created(invariants, request, response, err);
    } else if (strcmp(method, "DeleteSnapshot") == 0) {
        check_snapshot_deleted(invariants, request, err);
    } else if (strcmp(method, "CreateVolume") == 0) {
        if (!err)
            check_created(invariants->sim, answer);
        check_copy_answer(invariants, request, response, err);
    } else if (!err && strcmp(method, "DeleteVolume") == 0) {
        check_deleted(invariants->sim, question);
    }
}
