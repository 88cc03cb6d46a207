#include "provisioner-lib/records/attachment.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "provisioner-lib/parameter_list.h"
#include "provisioner-lib/records/names.h"

/* Larger than any LUN that Linux gives a SCSI disk's address: what is above is no LUN. */
enum { MOST_LUN = 4095 };

const Api__AzVolumeAttachment *as_attachment(const struct kube_object *object)
{
    return KUBE_AS(Api__AzVolumeAttachment, object);
}

/* ---- what it says ---- */

bool attachment_wants(const Api__AzVolumeAttachment *attachment, const char *role)
{
    const Api__AzVolumeAttachmentSpec *spec = attachment->spec;

    return spec && spec->role && strcmp(spec->role, role) == 0;
}

bool attachment_is_read_only(const Api__AzVolumeAttachment *attachment)
{
    return attachment_wants(attachment, ROLE_PRIMARY) && attachment->spec->read_only;
}

static const Api__AzVolumeAttachmentDetail *detail_of(const Api__AzVolumeAttachment *attachment)
{
    return attachment->status ? attachment->status->detail : NULL;
}

bool attachment_is(const Api__AzVolumeAttachment *attachment, const char *role)
{
    const Api__AzVolumeAttachmentDetail *detail = detail_of(attachment);

    return detail && detail->role && strcmp(detail->role, role) == 0;
}

const char *attachment_state(const Api__AzVolumeAttachment *attachment)
{
    return attachment->status && attachment->status->state ? attachment->status->state : "";
}

const char *attachment_annotation(const Api__AzVolumeAttachment *attachment, const char *name)
{
    const Api__AzVolumeAttachmentStatus *status = attachment->status;

    return status ? KUBE_MAP_GET(status->annotation, status->n_annotation, name) : NULL;
}

/* A number of the publish context; false if it has none of that name, or none up to `most`. */
static bool read_number(const Api__AzVolumeAttachment *attachment, const char *name, uint64_t most,
                        uint64_t *ret)
{
    const Api__AzVolumeAttachmentDetail *detail = detail_of(attachment);
    const char *text =
        detail ? KUBE_MAP_GET(detail->publish__context, detail->n_publish__context, name) : NULL;
    char *end = NULL;

    if (!text || *text < '0' || *text > '9')
        return false;
    errno = 0;
    *ret = strtoull(text, &end, 10);
    return !*end && !errno && *ret <= most;
}

bool attachment_wants_automatic_failover(const Api__AzVolumeAttachment *attachment)
{
    const Api__AzVolumeAttachmentSpec *spec = attachment->spec;

    if (attachment_annotation(attachment, ANNOTATION_AUTOMATIC_FAILOVER))
        return true;
    if (!spec)
        return false;
    CLEANUP(freep)
    struct parameter *list = PARAMETER_LIST(spec->volume__context, spec->n_volume__context);
    const char *wish = parameter_find(list, spec->n_volume__context, "automaticFailover");

    return wish && strcasecmp(wish, "true") == 0;
}

int attachment_lun(const Api__AzVolumeAttachment *attachment)
{
    uint64_t lun;

    return read_number(attachment, CONTEXT_LUN, MOST_LUN, &lun) ? (int)lun : NO_LUN;
}

uint64_t attachment_disk_size(const Api__AzVolumeAttachment *attachment)
{
    uint64_t size;

    return read_number(attachment, CONTEXT_SIZE, INT64_MAX, &size) ? size : 0;
}

/* "false <time> <reason>". What is left of a replica that is none any more, or whose disk is on its
 * way elsewhere, says nothing. */
const char *attachment_unready_reason(const Api__AzVolumeAttachment *attachment)
{
    const char *note = attachment_annotation(attachment, ANNOTATION_REPLICA_READY);
    bool is_replica = attachment_is(attachment, ROLE_REPLICA) &&
                      strcmp(attachment_state(attachment), STATE_ATTACHED) == 0;

    if (!note || !is_replica || strncmp(note, "false", strlen("false")) != 0)
        return NULL;
    for (int words = 0; words < 2; words++) {
        note += strcspn(note, " ");
        note += strspn(note, " ");
    }
    return note;
}

bool attachment_is_asked_for(const Api__AzVolumeAttachment *attachment, int64_t now_us)
{
    return timestamp_noted(kube_annotation(attachment->metadata, ANNOTATION_ASKED_UNTIL)) > now_us;
}

void attachment_index_by_disk(const struct kube_object *object,
                              void (*emit)(void *ctx, const char *value), void *ctx)
{
    const Api__AzVolumeAttachmentSpec *spec = as_attachment(object)->spec;

    if (!spec || !spec->volume__id)
        return;
    CLEANUP(freep) char *disk = mem_lower(spec->volume__id);
    emit(ctx, disk);
}

/* ---- what is written ---- */

struct attachment_purpose for_replica(void)
{
    return (struct attachment_purpose){.role = ROLE_REPLICA};
}

struct attachment_purpose for_publish(bool read_only)
{
    return (struct attachment_purpose){.role = ROLE_PRIMARY, .read_only = read_only};
}

json_t *attachment_json(const Api__AzVolume *volume, const char *node,
                        struct attachment_purpose purpose)
{
    const char *name = volume->metadata->name;
    const Api__AzVolumeDetail *detail = volume->status->detail;
    CLEANUP(freep) char *node_label = label_value_of(node);
    CLEANUP(freep) char *volume_label = label_value_of(name);
    json_t *context = json_object();

    for (size_t i = 0; i < detail->n_parameters; i++)
        json_object_set_new(context, detail->parameters[i]->key,
                            json_string(detail->parameters[i]->value));
    json_t *json = json_pack("{s:{s:[s], s:{s:s, s:s, s:s}}, s:{s:s, s:s, s:s, s:o, s:s}}",
                             "metadata", "finalizers", FINALIZER_ATTACHMENT, "labels", LABEL_NODE,
                             node_label, LABEL_VOLUME, volume_label, LABEL_ROLE, purpose.role,
                             "spec", "volumeName", name, "volume_id", detail->volume__id,
                             "nodeName", node, "volume_context", context, "role", purpose.role);

    if (purpose.read_only)
        json_object_set_new(json_object_get(json, "spec"), "readOnly", json_true());
    return json;
}

json_t *attachment_asked_json(const Api__AzVolume *volume, const char *node, int64_t until_us)
{
    json_t *json = attachment_json(volume, node, for_replica());
    json_t *metadata = json_object_get(json, "metadata");
    CLEANUP(freep) char *name = attachment_name_of(volume->metadata->name, node);
    char until[TIMESTAMP_SIZE];

    timestamp_format(until_us, until);
    json_object_set_new(metadata, "name", json_string(name));
    json_object_set_new(metadata, "annotations", json_pack("{s:s}", ANNOTATION_ASKED_UNTIL, until));
    return json;
}

json_t *attachment_detail_json(const char *role, const char *previous_role, int lun, int64_t size)
{
    CLEANUP(freep) char *lun_text = mem_printf("%d", lun);
    CLEANUP(freep) char *size_text = mem_printf("%lld", (long long)size);
    json_t *detail =
        json_pack("{s:s, s:s}", "role", role, "previous_role", previous_role ? previous_role : "");

    if (lun != NO_LUN)
        json_object_set_new(
            detail, "publish_context",
            json_pack("{s:s, s:s}", CONTEXT_LUN, lun_text, CONTEXT_SIZE, size_text));
    return detail;
}

json_t *attachment_role_json(struct attachment_purpose purpose)
{
    bool promoted = strcmp(purpose.role, ROLE_PRIMARY) == 0;

    return json_pack("{s:{s:{s:s, s:s}}, s:{s:s, s:o}}", "metadata", "labels", LABEL_ROLE,
                     purpose.role, LABEL_ROLE_CHANGE,
                     promoted ? ROLE_CHANGE_PROMOTED : ROLE_CHANGE_DEMOTED, "spec", "role",
                     purpose.role, "readOnly", purpose.read_only ? json_true() : json_null());
}

json_t *attachment_detach_request_json(const Api__AzVolumeAttachment *attachment)
{
    return json_pack("{s:{s:s, s:{s:s}}}", "status", "state", attachment_state(attachment),
                     "annotation", ANNOTATION_DETACH_REQUEST, "crdProvisioner");
}
