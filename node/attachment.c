#include "node/attachment.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/kube/object.h"

/* Failures that pass only when somebody does something about them. The controller tries these again
 * too, but seldom; whoever waits is better told at once, and comes again. */
static const struct {
    const char *code;
    enum err_kind kind;
} final_errors[] = {
    {"INVALID_ARGUMENT", ERR_INVALID},     {"NOT_FOUND", ERR_NOT_FOUND},
    {"ALREADY_EXISTS", ERR_EXISTS},        {"PERMISSION_DENIED", ERR_DENIED},
    {"RESOURCE_EXHAUSTED", ERR_EXHAUSTED}, {"FAILED_PRECONDITION", ERR_PRECONDITION},
    {"OUT_OF_RANGE", ERR_OUT_OF_RANGE},    {"UNIMPLEMENTED", ERR_UNIMPLEMENTED},
};

static bool equal(const char *a, const char *b)
{
    return a && strcmp(a, b) == 0;
}

static bool is_ready(const Api__AzVolumeAttachment *attachment)
{
    return !kube_is_deleting(attachment->metadata) && attachment_wants(attachment, ROLE_PRIMARY) &&
           attachment_is(attachment, ROLE_PRIMARY) &&
           strcmp(attachment_state(attachment), STATE_ATTACHED) == 0;
}

/* The failure that nobody will try to mend; NULL if there is none. */
static struct err *final_error(const Api__AzVolumeAttachmentStatus *status)
{
    const Api__AzError *error = status ? status->error : NULL;

    if (!error || !equal(status->state, STATE_ATTACHMENT_FAILED))
        return NULL;
    for (size_t i = 0; i < COUNT_OF(final_errors); i++)
        if (equal(error->code, final_errors[i].code))
            return err_new(final_errors[i].kind, "the disk cannot be attached: %s",
                           error->message ? error->message : error->code);
    return NULL;
}

static const char *or_unknown(const char *text)
{
    return text && *text ? text : "unknown";
}

static struct err *not_ready_yet(const Api__AzVolumeAttachment *attachment)
{
    const Api__AzVolumeAttachmentStatus *status = attachment->status;
    const Api__AzVolumeAttachmentDetail *detail = status ? status->detail : NULL;
    const Api__AzError *error = status ? status->error : NULL;

    if (kube_is_deleting(attachment->metadata))
        return err_new(ERR_BUSY, "AzVolumeAttachment %s is being deleted",
                       attachment->metadata->name);
    if (error)
        return err_new(ERR_BUSY, "AzVolumeAttachment %s is in state %s (%s: %s)",
                       attachment->metadata->name, or_unknown(status->state),
                       or_unknown(error->code), or_unknown(error->message));
    return err_new(ERR_BUSY, "AzVolumeAttachment %s is in state %s with role %s",
                   attachment->metadata->name, or_unknown(status ? status->state : NULL),
                   or_unknown(detail ? detail->role : NULL));
}

static struct err *missing(const char *key)
{
    return err_new(ERR_INTERNAL, "publish_context of the AzVolumeAttachment has no valid %s", key);
}

struct err *attachment_place_read(const Api__AzVolumeAttachment *attachment,
                                  struct attachment_place *ret)
{
    const char *record = attachment_annotation(attachment, ANNOTATION_FILESYSTEM);
    struct attachment_place place = {.has_record = record != NULL,
                                     .read_only = attachment_is_read_only(attachment),
                                     .size = attachment_disk_size(attachment)};
    int lun = attachment_lun(attachment);

    if (lun == NO_LUN)
        return missing(CONTEXT_LUN);
    if (!place.size)
        return missing(CONTEXT_SIZE);
    if (record)
        TRY(identity_parse(record, &place.record));
    place.lun = (unsigned)lun;
    *ret = place;
    return NULL;
}

struct err *attachment_check(const Api__AzVolumeAttachment *attachment,
                             struct attachment_place *ret)
{
    if (is_ready(attachment))
        return attachment_place_read(attachment, ret);
    TRY(final_error(attachment->status));
    return not_ready_yet(attachment);
}

struct err *attachment_check_boot(const Api__AzVolumeAttachment *attachment, const char *boot_id)
{
    const char *seen = attachment_annotation(attachment, ANNOTATION_BOOT);

    if (!seen || strcmp(seen, boot_id) == 0)
        return NULL;
    return err_new(
        ERR_BUSY,
        "the machine was started anew, and the controller has not confirmed yet that its "
        "VM still has the disk of AzVolumeAttachment %s",
        attachment->metadata->name);
}

bool attachment_holds_place(const Api__AzVolumeAttachment *attachment)
{
    return strcmp(attachment_state(attachment), STATE_DETACHED) != 0;
}
