/* publish_plan.h - what ControllerPublishVolume and ControllerUnpublishVolume do with a volume's
 * attachments.
 *
 * Pure functions over the table of attachment/states.h. Guarantees, for any input:
 *   - a single-writer disk is published to one node only: while it is published to a node, a
 * publish to another node is refused, unless that one is the primary on record already;
 *   - if two controllers that have not seen each other's writes publish it to two nodes at once,
 * the attachment that is recorded as the primary proceeds, and the other one gives its role back;
 *   - an attachment that is being detached is neither promoted nor demoted.
 */
#pragma once

#include "controller/attachment/states.h"
#include "lib/api/azdisk.pb-c.h"

struct publish_standing {
    enum attachment_phase phase;
    bool on_record; /* as the primary */
};

struct publish_snapshot {
    struct publish_standing here;
    const struct publish_standing *elsewhere; /* the volume's other attachments */
    size_t n_elsewhere;
    bool single_writer;
};

struct publish_plan {
    enum attachment_answer answer;
    size_t holder;   /* with ANSWER_REFUSE: index into `elsewhere` of the published one */
    bool gives_back; /* likewise: it is published here too, but the holder is on record */
};

struct publish_plan publish_decide(const struct publish_snapshot *in);

enum publish_access {
    ACCESS_AGREES,
    ACCESS_CHANGE,   /* nobody has been told that it is published, and nobody can be using it */
    ACCESS_CONFLICT, /* it is published in the other way: ALREADY_EXISTS */
};

/* What becomes of a publish to a node to which the volume is published already. `recorded`,
 * `wanted`: read-only; `answered`: the publish on record may have had its answer. */
enum publish_access publish_access_decide(bool recorded, bool wanted, bool answered);

/* What has failed, of a publish that waits; NULL if nothing has. `promoted`: the attachment as it
 * was when this publish made a primary of a replica; NULL if it did not. */
const Api__AzError *publish_failure(const Api__AzVolumeAttachment *now,
                                    const Api__AzVolumeAttachment *promoted);

/* `keeps_replicas`: a disk that is not published anywhere stays attached for a while; false if the
 * node may still be writing to it (cache/volume_in_use.h). */
enum attachment_answer unpublish_decide(enum attachment_phase here, bool keeps_replicas);
