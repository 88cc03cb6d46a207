/* view_source.h - lists that were read once, as the audit looks into them. It never yields.
 */
#pragma once

#include "provisioner-lib/audit/cluster_source.h"

struct view_source {
    struct cluster_source source;
    const struct cluster_view *view; /* borrowed */
    struct object_index volumes, volumes_by_disk, snapshots, snapshots_by_id,
        persistent_volumes_by_disk, nodes;
    struct object_index attachments_by_volume, attachments_by_node, volume_attachments,
        inline_volume_attachments;
};

void view_source_init(struct view_source *source, const struct cluster_view *view);
void view_source_fini(struct view_source *source);
