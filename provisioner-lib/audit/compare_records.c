/* Custom resources against each other and against what Kubernetes says. */

#include <string.h>
#include <strings.h>

#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/audit/compare.h"

/* ---- a volume and all that is said of it ---- */

struct group {
    const struct cluster_source *source;
    struct object_list attachments;
    struct kube_object **volume_attachments; /* through whichever PersistentVolume, or none */
    size_t n_volume_attachments;
    bool is_of_kubernetes; /* there is a PersistentVolume, so that it could be published */
};

static void group_fini(struct group *group)
{
    free(group->volume_attachments);
}

static void add_volume_attachments(struct group *group, const struct object_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        ARRAY_ADD(group->volume_attachments, group->n_volume_attachments) = list->items[i];
}

static void add_volume_attachments_of_pv(struct group *group, const struct kube_object *pv)
{
    const struct cluster_source *source = group->source;
    const struct object_list list = source->ops->volume_attachments(source, pv->metadata->name);

    group->is_of_kubernetes = true;
    add_volume_attachments(group, &list);
}

static bool is_of_disk(object_key_fn *disk_of, const struct kube_object *object, const char *disk)
{
    const char *id = disk_of(object);

    return id && strcasecmp(id, disk) == 0;
}

static struct group group_of(const struct cluster_source *source, const struct kube_object *volume)
{
    struct group group = {
        .source = source,
        .attachments = source->ops->attachments_of_volume(source, volume->metadata->name),
    };
    const char *disk = volume_disk_id(volume);

    if (!disk)
        return group;
    const struct object_list pvs = source->ops->persistent_volumes_of_disk(source, disk);
    for (size_t i = 0; i < pvs.n; i++)
        if (is_of_disk(persistent_volume_handle, pvs.items[i], disk))
            add_volume_attachments_of_pv(&group, pvs.items[i]);
    const struct object_list without = source->ops->inline_volume_attachments(source, disk);
    for (size_t i = 0; i < without.n; i++)
        if (is_of_disk(volume_attachment_disk, without.items[i], disk))
            add_volume_attachments(&group, &(struct object_list){&without.items[i], 1});
    group.is_of_kubernetes |= group.n_volume_attachments > 0;
    return group;
}

static bool is_published(const struct group *group, const char *node)
{
    for (size_t i = 0; node && i < group->n_volume_attachments; i++) {
        const char *where = volume_attachment_node(group->volume_attachments[i]);

        if (where && strcmp(where, node) == 0)
            return true;
    }
    return false;
}

/* The volume's attachment to the node; NULL if there is none. */
static struct kube_object *attachment_to(const struct group *group, const char *node)
{
    for (size_t i = 0; node && i < group->attachments.n; i++) {
        const char *where = attachment_node(group->attachments.items[i]);

        if (where && strcmp(where, node) == 0)
            return group->attachments.items[i];
    }
    return NULL;
}

/* ---- comparisons within such a group ---- */

static bool holds_share(const struct kube_object *attachment)
{
    return attachment_lun(as_attachment(attachment)) != NO_LUN ||
           strcmp(attachment_state(as_attachment(attachment)), STATE_ATTACHED) == 0;
}

static void compare_roles(const struct group *group, struct kube_object *volume,
                          struct findings *ret)
{
    const char *first = NULL, *second = NULL;
    unsigned shares = 0;

    for (size_t i = 0; i < group->attachments.n; i++) {
        const struct kube_object *attachment = group->attachments.items[i];

        shares += holds_share(attachment);
        if (!attachment_is(as_attachment(attachment), ROLE_PRIMARY))
            continue;
        if (first)
            second = attachment_node(attachment);
        else
            first = attachment_node(attachment);
    }
    if (second && !volume_is_multi_node(as_volume(volume)))
        findings_add(ret, TWO_PRIMARIES, &AZ_VOLUMES, volume, NULL,
                     "The volume is primary on node %s and on node %s", first, second);
    if (shares > volume_max_shares(as_volume(volume)))
        findings_add(ret, SHARES_EXCEEDED, &AZ_VOLUMES, volume, NULL,
                     "%u attachments hold a share, but the disk has only %u", shares,
                     volume_max_shares(as_volume(volume)));
}

static void compare_primaries(const struct group *group, const struct kube_object *volume,
                              struct findings *ret)
{
    for (size_t i = 0; group->is_of_kubernetes && i < group->attachments.n; i++) {
        struct kube_object *attachment = group->attachments.items[i];
        const char *node = attachment_node(attachment);

        if (node && attachment_wants(as_attachment(attachment), ROLE_PRIMARY) &&
            !kube_is_deleting(attachment->metadata) && !is_published(group, node))
            findings_add(ret, PRIMARY_NOT_PUBLISHED, &AZ_VOLUME_ATTACHMENTS, attachment, NULL,
                         "There is no VolumeAttachment of volume %s for node %s",
                         volume->metadata->name, node);
    }
}

/* Of a disk that was not asked for by Kubernetes, nothing says that it should have one. */
static void compare_pv(const struct group *group, struct kube_object *volume, struct findings *ret)
{
    const char *wanted = kube_label(volume->metadata, LABEL_PV);

    if (!wanted || group->is_of_kubernetes || !volume_disk_id(volume) ||
        kube_is_deleting(volume->metadata))
        return;
    findings_add(ret, VOLUME_WITHOUT_PV, &AZ_VOLUMES, volume, NULL,
                 "PersistentVolume %s does not exist, and no other one has disk %s", wanted,
                 volume_disk_id(volume));
}

static void compare_volume_attachments(const struct group *group, struct findings *ret)
{
    for (size_t i = 0; i < group->n_volume_attachments; i++) {
        struct kube_object *volume_attachment = group->volume_attachments[i];
        const char *pv = volume_attachment_source(volume_attachment);
        const char *node = volume_attachment_node(volume_attachment);
        const struct kube_object *attachment = attachment_to(group, node);

        if (!node || !volume_attachment_is_of(volume_attachment, group->source->driver_name) ||
            kube_is_deleting(volume_attachment->metadata) ||
            !volume_attachment_is_attached(volume_attachment) ||
            (attachment && attachment_wants(as_attachment(attachment), ROLE_PRIMARY)))
            continue;
        findings_add(ret, PUBLISHED_WITHOUT_PRIMARY, &VOLUME_ATTACHMENTS, volume_attachment, NULL,
                     "%s %s is attached to node %s according to Kubernetes, but has no primary "
                     "AzVolumeAttachment there",
                     pv ? "PersistentVolume" : "disk",
                     pv ? pv : volume_attachment_disk(volume_attachment), node);
    }
}

static void compare_replicas(const struct group *group, const char *disk, struct findings *ret)
{
    const struct cluster_source *source = group->source;

    for (size_t i = 0; group->is_of_kubernetes && i < group->attachments.n; i++) {
        struct kube_object *attachment = group->attachments.items[i];
        const char *name = attachment_node(attachment);

        if (!name || !attachment_wants(as_attachment(attachment), ROLE_REPLICA) ||
            !attachment_is(as_attachment(attachment), ROLE_REPLICA) || is_published(group, name))
            continue;
        const struct kube_object *node = source->ops->node(source, name);
        if (node && !node_is_out_of_service(KUBE_AS(Api__Node, node)) &&
            node_uses_volume(KUBE_AS(Api__Node, node), source->driver_name, disk))
            findings_add(
                ret, REPLICA_IN_USE, &AZ_VOLUME_ATTACHMENTS, attachment, NULL,
                "Node %s reports the volume as in use, but the volume was not published to it",
                name);
    }
}

/* ---- walks ---- */

struct comparison {
    const struct cluster_source *source;
    struct findings *ret;
};

static void visit_volume(void *ctx, struct kube_object *volume)
{
    const struct comparison *comparison = ctx;
    CLEANUP(group_fini) struct group group = group_of(comparison->source, volume);

    compare_roles(&group, volume, comparison->ret);
    compare_primaries(&group, volume, comparison->ret);
    compare_pv(&group, volume, comparison->ret);
    compare_volume_attachments(&group, comparison->ret);
    compare_replicas(&group, volume_disk_id(volume), comparison->ret);
}

/* One that is no AzVolume's may be published as well. */
static void visit_persistent_volume(void *ctx, struct kube_object *pv)
{
    const struct comparison *comparison = ctx;
    const struct cluster_source *source = comparison->source;
    const char *handle = persistent_volume_handle(pv);

    if (!handle || source->ops->volume_of_disk(source, handle))
        return;
    CLEANUP(group_fini) struct group group = {.source = source};
    add_volume_attachments_of_pv(&group, pv);
    compare_volume_attachments(&group, comparison->ret);
}

static void visit_attachment(void *ctx, struct kube_object *attachment)
{
    const struct comparison *comparison = ctx;
    const char *volume = attachment_volume(attachment);

    if (volume && !comparison->source->ops->volume(comparison->source, volume))
        findings_add(comparison->ret, ATTACHMENT_WITHOUT_VOLUME, &AZ_VOLUME_ATTACHMENTS, attachment,
                     NULL, "AzVolume %s does not exist", volume);
}

struct err *compare_records(struct task *self, const struct cluster_source *source,
                            struct findings *ret)
{
    struct comparison comparison = {source, ret};

    TRY(source->ops->walk(self, source, VOLUMES_OF, visit_volume, &comparison));
    TRY(source->ops->walk(self, source, PERSISTENT_VOLUMES_OF, visit_persistent_volume,
                          &comparison));
    return source->ops->walk(self, source, ATTACHMENTS_OF, visit_attachment, &comparison);
}
