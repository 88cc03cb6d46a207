#include "node/volume_record.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/rt/wait.h"
#include "provisioner-lib/records/volume.h"

enum { CONFIRMATION_MS = 2000, PAUSE_MS = 50 };

/* ---- the disk ---- */

static struct err *check_disk(const Api__AzVolume *volume,
                              const Api__AzVolumeAttachment *attachment, const char *volume_id)
{
    const Api__AzVolumeDetail *detail = volume->status ? volume->status->detail : NULL;
    const char *name = volume->metadata->name;

    if (!detail || !detail->volume__id || detail->capacity__bytes <= 0)
        return err_new(ERR_BUSY, "AzVolume %s has no disk on record yet", name);
    if (strcasecmp(detail->volume__id, volume_id) != 0)
        return err_new(ERR_PRECONDITION,
                       "AzVolume %s has disk %s, but AzVolumeAttachment %s names a different one",
                       name, detail->volume__id, attachment->metadata->name);
    return NULL;
}

/* ---- what is said of it twice ---- */

static struct err *disagreement(const Api__AzVolume *volume,
                                const Api__AzVolumeAttachment *attachment, const char *what)
{
    return err_new(ERR_PRECONDITION,
                   "the volume%s: AzVolumeAttachment %s and AzVolume %s disagree, so one of them "
                   "was not written by the controller; the device was not modified",
                   what, attachment->metadata->name, volume->metadata->name);
}

/* While it grows a device may have either size; afterwards the new one only. 0: it does not grow.
 */
static uint64_t grown_size(const Api__AzVolume *volume)
{
    int64_t gib = volume_requested_gib(volume);

    return strcmp(volume_state(volume), STATE_UPDATING) == 0 &&
                   gib > volume->status->detail->capacity__bytes / GIB
               ? (uint64_t)(gib * GIB)
               : 0;
}

static struct err *check_size(const Api__AzVolume *volume,
                              const Api__AzVolumeAttachment *attachment,
                              const struct attachment_place *place)
{
    uint64_t size = (uint64_t)volume->status->detail->capacity__bytes;

    if (place->size == size || place->size == grown_size(volume))
        return NULL;
    if (place->size < size)
        return err_new(ERR_BUSY,
                       "AzVolumeAttachment %s does not have the size yet to which the volume has "
                       "grown, %" PRIu64 " bytes, but %" PRIu64,
                       attachment->metadata->name, size, place->size);
    CLEANUP(freep)
    char *what = mem_printf(" has %" PRIu64 " bytes according to its attachment, but %" PRIu64
                            " according to its record",
                            place->size, size);
    return disagreement(volume, attachment, what);
}

/* Each of them takes as much as a UUID with its NUL, which is the space after it. */
static struct err *read_possible(const char *text, char ret[VOLUME_RECORD_UUIDS * UUID_SIZE])
{
    const char *rest = text ? text : "";

    for (size_t n = 0; *rest && n < VOLUME_RECORD_UUIDS; n++) {
        size_t length = strcspn(rest, " ");
        CLEANUP(freep) char *uuid = mem_strndup(rest, length);

        if (!identity_is_uuid(uuid))
            return err_new(ERR_INVALID, "annotation %s: \"%s\" is not the UUID of a file system",
                           ANNOTATION_SOURCE_UUIDS, uuid);
        memcpy(ret + n * UUID_SIZE, uuid, UUID_SIZE);
        if (n)
            ret[n * UUID_SIZE - 1] = ' ';
        rest += length + strspn(rest + length, " ");
    }
    return NULL;
}

static struct err *read_origin(const Api__AzVolume *volume, struct volume_record *ret)
{
    const char *source = volume_annotation(volume, ANNOTATION_SOURCE_FILESYSTEM);
    const char *accepted = kube_annotation(volume->metadata, ANNOTATION_ACCEPT_FILESYSTEM);

    ret->has_source = source != NULL;
    if (source)
        TRY(identity_parse(source, &ret->source));
    TRY(read_possible(volume_annotation(volume, ANNOTATION_SOURCE_UUIDS), ret->possible));
    if (!accepted)
        return NULL;
    if (!identity_is_uuid(accepted))
        return err_new(ERR_INVALID,
                       "annotation %s of the PersistentVolume: \"%s\" is not the UUID of a file "
                       "system",
                       ANNOTATION_ACCEPT_FILESYSTEM, accepted);
    memcpy(ret->accepted, accepted, sizeof ret->accepted);
    return NULL;
}

static bool same_filesystem(const struct filesystem_identity *a,
                            const struct filesystem_identity *b)
{
    return strcmp(a->type, b->type) == 0 && strcasecmp(a->uuid, b->uuid) == 0;
}

/* `record`: of the volume; NULL if there is none. */
static struct err *check_filesystem(const Api__AzVolume *volume,
                                    const Api__AzVolumeAttachment *attachment,
                                    const struct attachment_place *place,
                                    const struct filesystem_identity *record)
{
    if (!place->has_record || (record && same_filesystem(&place->record, record)))
        return NULL;
    CLEANUP(freep) char *said = identity_format(&place->record);
    if (!record)
        return err_new(ERR_BUSY,
                       "AzVolume %s does not yet confirm what AzVolumeAttachment %s says about the "
                       "volume's file system, %s; if the controller has rejected it, an event of "
                       "the AzVolumeAttachment gives the reason",
                       volume->metadata->name, attachment->metadata->name, said);
    CLEANUP(freep) char *known = identity_format(record);
    CLEANUP(freep)
    char *what = mem_printf(
        "'s file system is %s according to its attachment, but %s according to its record", said,
        known);
    return disagreement(volume, attachment, what);
}

struct err *volume_record_check(const Api__AzVolume *volume,
                                const Api__AzVolumeAttachment *attachment,
                                const struct attachment_place *place, const char *volume_id,
                                struct volume_record *ret)
{
    struct volume_record record = {0};

    TRY(check_disk(volume, attachment, volume_id));
    TRY(check_size(volume, attachment, place));
    record.size = (uint64_t)volume->status->detail->capacity__bytes;
    record.grown_size = grown_size(volume);
    record.fencing = volume_fencing(volume);
    const char *note = volume_annotation(volume, ANNOTATION_FILESYSTEM);
    const char *sku = volume_annotation(volume, ANNOTATION_DISK_SKU);
    if (sku)
        strncpy(record.sku, sku, sizeof record.sku - 1);
    record.has_filesystem = note != NULL;
    struct err *err =
        note ? identity_parse(note, &record.filesystem) : read_origin(volume, &record);
    if (err)
        return err_wrap(err, "AzVolume %s", volume->metadata->name);
    TRY(check_filesystem(volume, attachment, place, note ? &record.filesystem : NULL));
    *ret = record;
    return NULL;
}

/* ---- reading it ---- */

static struct err *read_volume(struct task *self, struct node *node, const char *name,
                               struct kube_object **ret)
{
    struct err *err = kube_get(self, node->kube, &AZ_VOLUMES, node->settings.namespace_, name, ret);

    if (err && err_kind(err) == ERR_NOT_FOUND) {
        err_free(err);
        return err_new(ERR_BUSY, "AzVolume %s does not exist, or has not been created again yet",
                       name);
    }
    return err ? err_wrap(err, "AzVolume %s", name) : NULL;
}

struct err *volume_record_allows_size(struct task *self, struct node *node,
                                      const struct kube_object *attachment, uint64_t size,
                                      bool *ret)
{
    const Api__AzVolumeAttachmentSpec *spec = as_attachment(attachment)->spec;
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;

    if (!spec->volume_name)
        return err_new(ERR_PRECONDITION, "AzVolumeAttachment %s names no volume",
                       attachment->metadata->name);
    TRY(read_volume(self, node, spec->volume_name, &object));
    const Api__AzVolume *volume = KUBE_AS(Api__AzVolume, object);
    TRY(check_disk(volume, as_attachment(attachment), spec->volume__id));
    *ret = size == (uint64_t)volume->status->detail->capacity__bytes || size == grown_size(volume);
    return NULL;
}

static bool is_unconfirmed(const struct kube_object *volume, const struct attachment_place *place)
{
    return place->has_record &&
           !volume_annotation(KUBE_AS(Api__AzVolume, volume), ANNOTATION_FILESYSTEM);
}

/* The controller confirms a little later what a call has recorded, and the next call may come
 * before. What it has rejected it never confirms: that is no reason to wait until the deadline. */
struct err *volume_record_read(struct task *self, struct node *node,
                               const struct kube_object *attachment,
                               const struct attachment_place *place, const char *volume_id,
                               uint64_t deadline, struct volume_record *ret)
{
    const Api__AzVolumeAttachment *message = as_attachment(attachment);
    const char *name = message->spec->volume_name;
    CLEANUP(kube_object_unrefp) struct kube_object *volume = NULL;
    uint64_t end = loop_now(node->loop) + CONFIRMATION_MS;

    if (!name)
        return err_new(ERR_PRECONDITION, "AzVolumeAttachment %s names no volume",
                       attachment->metadata->name);
    if (end > deadline)
        end = deadline;
    TRY(read_volume(self, node, name, &volume));
    while (is_unconfirmed(volume, place) && loop_now(node->loop) < end) {
        TRY(task_sleep(self, PAUSE_MS));
        kube_object_unref(TAKE_PTR(volume));
        TRY(read_volume(self, node, name, &volume));
    }
    return volume_record_check(KUBE_AS(Api__AzVolume, volume), message, place, volume_id, ret);
}
