#include "controller/recovery/plan.h"

#include "lib/base/alloc.h"

/* What ControllerPublishVolume would do there, which Kubernetes has had an answer to. */
static enum attachment_answer publish_again(const struct recovery_snapshot *in, size_t here)
{
    CLEANUP(freep)
    struct publish_standing *elsewhere =
        mem_alloc((in->n_nodes + in->n_others) * sizeof *elsewhere);
    struct publish_snapshot publish = {.here = in->nodes[here].standing,
                                       .elsewhere = elsewhere,
                                       .single_writer = in->single_writer};

    for (size_t i = 0; i < in->n_nodes; i++)
        if (i != here)
            elsewhere[publish.n_elsewhere++] = in->nodes[i].standing;
    for (size_t i = 0; i < in->n_others; i++)
        elsewhere[publish.n_elsewhere++] = in->others[i];
    return publish_decide(&publish).answer;
}

static enum recovery_step next_of_node(const struct recovery_snapshot *in, size_t here)
{
    const struct recovery_node *node = &in->nodes[here];

    if (!node->attached || node->leaving || !node->node_exists)
        return RECOVERY_NONE;
    switch (publish_again(in, here)) {
    case ANSWER_CREATE:
        return RECOVERY_WRITE_ATTACHMENT;
    case ANSWER_PROMOTE:
        return RECOVERY_PROMOTE;
    case ANSWER_WAIT:
        return node->detach_requested ? RECOVERY_KEEP : RECOVERY_NONE;
    default:
        return RECOVERY_NONE;
    }
}

/* One that is deleted goes once its disk is attached nowhere, and its PersistentVolume after it. */
static struct recovery_plan next_of_volume(const struct recovery_snapshot *in)
{
    if (in->bound)
        return (struct recovery_plan){.step = RECOVERY_WRITE_VOLUME};
    for (size_t i = 0; i < in->n_nodes; i++)
        if (in->nodes[i].attached)
            return (struct recovery_plan){.step = RECOVERY_WRITE_ATTACHED_VOLUME, .node = i};
    return (struct recovery_plan){.step = RECOVERY_NONE};
}

struct recovery_plan recovery_decide(const struct recovery_snapshot *in)
{
    struct recovery_plan plan = {.step = RECOVERY_NONE};

    if (in->volume == RECOVERY_NO_VOLUME)
        return next_of_volume(in);
    for (size_t i = 0; i < in->n_nodes && in->volume == RECOVERY_VOLUME_READY && !plan.step; i++)
        plan = (struct recovery_plan){.step = next_of_node(in, i), .node = i};
    return plan;
}
