/* publish_plan.h - what ControllerPublishVolume and ControllerUnpublishVolume do with the
 * attachments that there are.
 *
 * Pure functions over the table of attachment/states.h. Guarantees, for any input:
 *   - a disk with one writer is published to one node: while a node has it published, another one
 *     is refused, unless that other one is its primary on record already;
 *   - of two that are published at once, each by a controller that has not heard of the other, the
 *     one that came to be on record goes on, and the other gives the role back;
 *   - what is being detached is neither promoted nor demoted.
 */
#pragma once

#include "controller/attachment/states.h"

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
    size_t holder;   /* of ANSWER_REFUSE: which of those elsewhere has it published */
    bool gives_back; /* likewise: it was published here too, and the holder came to be on record */
};

struct publish_plan publish_decide(const struct publish_snapshot *in);

/* `keeps_replicas`: a disk that is not published anywhere stays attached for a while. Not where
 * the node may write to it still (cache/volume_in_use.h). */
enum attachment_answer unpublish_decide(enum attachment_phase here, bool keeps_replicas);
