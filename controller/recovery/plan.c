#include "controller/recovery/plan.h"

#include "lib/base/alloc.h"

/* What ControllerPublishVolume would do there, which Kubernetes has had an answer to, or waits for.
 * `elsewhere` are the other nodes, and then the others. */
static struct publish_plan publish_again(const struct recovery_snapshot *in, size_t here)
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
    return publish_decide(&publish);
}

static enum recovery_step next_of_attached(const struct recovery_node *node,
                                           enum attachment_answer answer)
{
    switch (answer) {
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

/* One that is deleted already gives way by itself. */
static bool is_unpublished(const struct recovery_snapshot *in, const struct publish_plan *publish)
{
    size_t nodes = in->n_nodes - 1; /* come first in `elsewhere` */

    return publish->answer == ANSWER_REFUSE && publish->holder >= nodes &&
           in->others[publish->holder - nodes].phase != PHASE_DELETED_WHILE_PUBLISHED;
}

static struct recovery_plan next_of_node(const struct recovery_snapshot *in, size_t here)
{
    const struct recovery_node *node = &in->nodes[here];
    struct recovery_plan plan = {.step = RECOVERY_NONE, .node = here};

    if (node->leaving || !node->node_exists)
        return plan;
    struct publish_plan publish = publish_again(in, here);
    if (is_unpublished(in, &publish))
        return (struct recovery_plan){
            .step = RECOVERY_DEMOTE, .node = here, .other = publish.holder - (in->n_nodes - 1)};
    if (node->attached)
        plan.step = next_of_attached(node, publish.answer);
    return plan;
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
        plan = next_of_node(in, i);
    return plan;
}
