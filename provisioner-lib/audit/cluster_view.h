/* cluster_view.h - the objects of a cluster that concern the driver, side by side, and what they
 * say.
 *
 * Borrowed lists, whoever keeps the objects: a controller's stores, or what a person's program has
 * read once. A list that was not read is empty.
 */
#pragma once

#include "lib/api/azdisk.pb-c.h"
#include "lib/kube/node.h"
#include "lib/kube/object.h"
#include "provisioner-lib/records/attachment.h"
#include "provisioner-lib/records/snapshot.h"
#include "provisioner-lib/records/volume.h"

struct object_list {
    struct kube_object *const *items;
    size_t n;
};

struct cluster_view {
    const char *driver_name;
    const char *cluster_id;                                           /* NULL: not read */
    struct object_list volumes, attachments, snapshots, driver_nodes; /* custom resources */
    struct object_list nodes, persistent_volumes, volume_attachments;
};

/* ---- objects by one of their members, whatever its case ---- */

typedef const char *object_key_fn(const struct kube_object *object); /* NULL: it has none */

struct object_index {
    struct object_entry {
        uint64_t hash;
        const char *key; /* borrowed from the object */
        struct kube_object *object;
    } * entries;
    struct kube_object **objects; /* of the entries, in their order */
    size_t n;
};

/* The same for texts that differ in case only. */
uint64_t text_hash(const char *text);

struct object_index object_index_of(const struct object_list *list, object_key_fn *key_of);
void object_index_fini(struct object_index *index);

/* Those with this key, in the order of their names. `key` may be NULL. */
struct object_list object_index_find(const struct object_index *index, const char *key);
/* The first of them; NULL if there is none. */
struct kube_object *object_index_first(const struct object_index *index, const char *key);

object_key_fn key_name, volume_disk_id, snapshot_handle, attachment_volume, attachment_node,
    attachment_disk_id, persistent_volume_handle, volume_attachment_source,
    volume_attachment_disk; /* of a pod without a claim */

/* ---- what a VolumeAttachment says ---- */

bool volume_attachment_is_attached(const struct kube_object *object);
bool volume_attachment_is_of(const struct kube_object *object, const char *driver_name);
const char *volume_attachment_node(const struct kube_object *object); /* NULL if it has none */
