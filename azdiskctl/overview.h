/* overview.h - the objects of a cluster by what they belong to, for who looks at all of them. Pure;
 * borrows from the cluster.
 */
#pragma once

#include "azdiskctl/cluster.h"

struct overview {
    const struct cluster *cluster;
    struct object_index by_volume, by_node; /* attachments */
    struct object_index pv_by_disk;
};

struct overview overview_of(const struct cluster *cluster);
void overview_fini(struct overview *overview);

/* As pv_of_disk(). */
const struct kube_object *overview_pv(const struct overview *overview, const char *disk_id);
