#include "controller/routing/change_filter.h"

#include <string.h>

#include "controller/controller.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/records/snapshot.h"

static bool messages_differ(const ProtobufCMessage *a, const ProtobufCMessage *b)
{
    size_t size = protobuf_c_message_get_packed_size(a);

    if (size != protobuf_c_message_get_packed_size(b))
        return true;
    CLEANUP(freep) uint8_t *packed_a = mem_alloc(size + 1);
    CLEANUP(freep) uint8_t *packed_b = mem_alloc(size + 1);
    protobuf_c_message_pack(a, packed_a);
    protobuf_c_message_pack(b, packed_b);
    return memcmp(packed_a, packed_b, size) != 0;
}

/* Copies that share everything with the object but what is left out. */
struct volume_facts {
    Api__AzVolume volume;
    Api__ObjectMeta metadata;
    Api__AzVolumeStatus status;
};

static void volume_facts_of(const struct kube_object *object, struct volume_facts *ret)
{
    ret->volume = *as_volume(object);
    ret->metadata = *ret->volume.metadata;
    ret->metadata.resource_version = NULL;
    ret->volume.metadata = &ret->metadata;
    if (!ret->volume.status)
        return;
    ret->status = *ret->volume.status;
    ret->status.error = NULL;
    ret->status.primary_node = NULL;
    ret->status.has_ready_replicas = false;
    ret->status.completion_percent = 0; /* whether there is any counts */
    ret->volume.status = &ret->status;
}

bool volume_needs_reconcile(const struct kube_object *before, const struct kube_object *after)
{
    struct volume_facts a, b;

    if (!before || !after)
        return true;
    volume_facts_of(before, &a);
    volume_facts_of(after, &b);
    return messages_differ(&a.volume.base, &b.volume.base);
}

struct attachment_facts {
    Api__AzVolumeAttachment attachment;
    Api__ObjectMeta metadata;
    Api__AzVolumeAttachmentStatus status;
};

static void attachment_facts_of(const struct kube_object *object, struct attachment_facts *ret)
{
    ret->attachment = *as_attachment(object);
    ret->metadata = *ret->attachment.metadata;
    ret->metadata.resource_version = NULL;
    ret->attachment.metadata = &ret->metadata;
    if (!ret->attachment.status)
        return;
    ret->status = *ret->attachment.status;
    ret->status.error = NULL;
    ret->attachment.status = &ret->status;
}

bool attachment_needs_reconcile(const struct kube_object *before, const struct kube_object *after)
{
    struct attachment_facts a, b;

    if (!before || !after)
        return true;
    attachment_facts_of(before, &a);
    attachment_facts_of(after, &b);
    return messages_differ(&a.attachment.base, &b.attachment.base);
}

struct changed_snapshot {
    Api__AzSnapshot snapshot;
    Api__ObjectMeta metadata;
    Api__AzSnapshotStatus status;
};

static void snapshot_facts_of(const struct kube_object *object, struct changed_snapshot *ret)
{
    ret->snapshot = *as_snapshot(object);
    ret->metadata = *ret->snapshot.metadata;
    ret->metadata.resource_version = NULL;
    ret->snapshot.metadata = &ret->metadata;
    if (!ret->snapshot.status)
        return;
    ret->status = *ret->snapshot.status;
    ret->status.error = NULL;
    ret->snapshot.status = &ret->status;
}

bool snapshot_needs_reconcile(const struct kube_object *before, const struct kube_object *after)
{
    struct changed_snapshot a, b;

    if (!before || !after)
        return true;
    snapshot_facts_of(before, &a);
    snapshot_facts_of(after, &b);
    return messages_differ(&a.snapshot.base, &b.snapshot.base);
}
