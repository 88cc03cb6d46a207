#include "scheduler-extender/digest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/kube/pv_source.h"
#include "provisioner-lib/records/attachment.h"

/* 0 of none. Nobody can choose a uid, so that its hash is as good. */
static uint64_t uid_hash(const char *uid)
{
    return uid && *uid ? named_of(uid, strlen(uid)).hash : 0;
}

/* ---- claims ---- */

static bool is_shared(const Api__PersistentVolumeClaimSpec *claim)
{
    for (size_t i = 0; i < claim->n_access_modes; i++)
        if (strcmp(claim->access_modes[i], "ReadWriteMany") == 0 ||
            strcmp(claim->access_modes[i], "ReadOnlyMany") == 0)
            return true;
    return false;
}

struct kube_object *digest_claim(void *ctx, const struct kube_object *object)
{
    const Api__PersistentVolumeClaimSpec *spec = KUBE_AS(Api__PersistentVolumeClaim, object)->spec;
    const char *volume = spec && spec->volume_name ? spec->volume_name : "";
    const char *note = kube_annotation(object->metadata, ANNOTATION_SWITCHOVER);
    size_t n_volume = strlen(volume) + 1, n_note = note ? strlen(note) : 0;
    struct kube_object *digest =
        kube_digest_new(object, sizeof(struct claim_digest) + n_volume + n_note + 1);
    struct claim_digest *claim = (void *)digest->digest;

    (void)ctx;
    claim->uid = uid_hash(object->metadata->uid);
    claim->shared = spec && is_shared(spec);
    claim->switchover = n_volume;
    memcpy(claim->texts, volume, n_volume);
    memcpy(claim->texts + n_volume, note ? note : "", n_note);
    return digest;
}

/* ---- volumes ---- */

struct kube_object *digest_volume(void *ctx, const struct kube_object *object)
{
    const struct extender *extender = ctx;
    const Api__PersistentVolumeSpec *spec = KUBE_AS(Api__PersistentVolume, object)->spec;
    bool ours = pv_is_of_driver(spec, extender->settings.driver_name);
    const Api__ObjectReference *claim = ours ? spec->claim_ref : NULL;
    CLEANUP(freep) char *disk = ours ? mem_lower(pv_handle(spec)) : mem_strdup("");
    CLEANUP(freep)
    char *key = claim && claim->name ? kube_key(claim->namespace_, claim->name) : mem_strdup("");
    size_t n_disk = strlen(disk) + 1, n_key = strlen(key) + 1;
    struct kube_object *digest =
        kube_digest_new(object, sizeof(struct volume_digest) + n_disk + n_key);
    struct volume_digest *volume = (void *)digest->digest;

    volume->claim_uid = claim ? uid_hash(claim->uid) : 0;
    volume->claim = n_disk;
    memcpy(volume->texts, disk, n_disk);
    memcpy(volume->texts + n_disk, key, n_key);
    return digest;
}

/* ---- attachments ---- */

struct kube_object *digest_attachment(void *ctx, const struct kube_object *object)
{
    const Api__AzVolumeAttachment *attachment = as_attachment(object);
    const Api__AzVolumeAttachmentSpec *spec = attachment->spec;
    enum presence presence = attachment_presence(attachment);

    (void)ctx;
    if (!spec || !spec->volume__id || !spec->node_name || presence == PRESENCE_NONE)
        return kube_digest_new(object, sizeof(struct attachment_digest) + 1);
    CLEANUP(freep) char *disk = mem_lower(spec->volume__id);
    size_t size = strlen(disk) + 1;
    struct kube_object *digest = kube_digest_new(object, sizeof(struct attachment_digest) + size);
    struct attachment_digest *kept = (void *)digest->digest;

    kept->presence = presence;
    kept->node = named_of(spec->node_name, strlen(spec->node_name)).hash;
    memcpy(kept->disk, disk, size);
    return digest;
}

/* ---- node plug-ins ---- */

struct node_key node_key_of(uint64_t node)
{
    struct node_key key;

    snprintf(key.text, sizeof key.text, "%016" PRIx64, node);
    return key;
}

struct kube_object *digest_driver_node(void *ctx, const struct kube_object *object)
{
    const Api__AzDriverNode *node = KUBE_AS(Api__AzDriverNode, object);
    const char *name = node->spec && node->spec->node_name ? node->spec->node_name : "";
    size_t length = strlen(name);
    struct kube_object *digest = kube_digest_new(object, sizeof(struct node_digest) + length + 1);
    struct node_digest *kept = (void *)digest->digest;

    (void)ctx;
    memcpy(kept->name, name, length);
    kept->node = named_of(name, length).hash;
    kept->report = node_report_of(node);
    return digest;
}
