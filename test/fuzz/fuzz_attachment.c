/* What a node reads of an attachment's and a volume's record, of its Node and of the metadata
 * service: {"attachment": ..., "volume": ..., "node": ..., "metadata": ...}. */
#include "lib/api/azdisk.pb-c.h"
#include "lib/json/parse.h"
#include "lib/kube/object.h"
#include "node/attachment.h"
#include "node/volume_record.h"
#include "node/zone.h"
#include "test/fuzz/input.h"

#define DISK "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/disks/d"

/* NULL if there is none that can be read. */
static struct kube_object *object_of(const json_t *json, const char *name,
                                     const ProtobufCMessageDescriptor *type)
{
    struct kube_object *object = NULL;
    const json_t *member = json_object_get(json, name);

    if (member)
        (void)input_taken(kube_object_decode(type, member, &object));
    return object;
}

static void check_place(const struct attachment_place *place)
{
    MUST(place->lun < 4096 && place->size <= INT64_MAX);
    if (place->has_record) {
        struct filesystem_identity again;
        CLEANUP(freep) char *text = identity_format(&place->record);

        MUST(input_taken(identity_parse(text, &again)));
        MUST(strcmp(again.type, place->record.type) == 0);
        MUST(strcmp(again.uuid, place->record.uuid) == 0);
    }
}

static void check_records(const struct kube_object *attachment, const struct kube_object *volume)
{
    const Api__AzVolumeAttachment *a = KUBE_AS(Api__AzVolumeAttachment, attachment);
    struct attachment_place place;
    struct volume_record record;

    MUST(attachment_lun(a) == NO_LUN || (attachment_lun(a) >= 0 && attachment_lun(a) < 4096));
    MUST(attachment_disk_size(a) <= INT64_MAX);
    (void)attachment_holds_place(a);
    if (!input_taken(attachment_check(a, &place)))
        return;
    check_place(&place);
    if (volume &&
        input_taken(volume_record_check(KUBE_AS(Api__AzVolume, volume), a, &place, DISK, &record)))
        MUST(record.size == place.size && (record.has_filesystem || !place.has_record));
}

static void check_zone(const json_t *metadata, const struct kube_object *node)
{
    char *zone;

    if (input_taken(zone_of_metadata(metadata, &zone)))
        free(zone);
    if (node)
        free(zone_of_labels(node->metadata));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(json_decrefp) json_t *json = NULL;

    if (!input_taken(json_parse_here((const char *)data, size, &json)))
        return 0;
    CLEANUP(kube_object_unrefp)
    struct kube_object *attachment =
        object_of(json, "attachment", &api__az_volume_attachment__descriptor);
    CLEANUP(kube_object_unrefp)
    struct kube_object *volume = object_of(json, "volume", &api__az_volume__descriptor);
    CLEANUP(kube_object_unrefp)
    struct kube_object *node = object_of(json, "node", &api__node__descriptor);

    if (attachment)
        check_records(attachment, volume);
    check_zone(json_object_get(json, "metadata"), node);
    return 0;
}
