#include "controller/attachment/publish_plan.h"

#include <string.h>

#include "lib/base/text.h"
#include "provisioner-lib/records/attachment.h"

struct publish_plan publish_decide(const struct publish_snapshot *in)
{
    struct publish_plan plan = {.answer =
                                    attachment_transition(ON_PUBLISH, in->here.phase)->answer};
    bool published = plan.answer == ANSWER_WAIT;

    if (!in->single_writer || plan.answer == ANSWER_BUSY || (published && in->here.on_record))
        return plan;
    for (size_t i = 0; i < in->n_elsewhere; i++) {
        const struct publish_standing *other = &in->elsewhere[i];

        if (attachment_transition(ON_PUBLISH_ELSEWHERE, other->phase)->answer != ANSWER_REFUSE)
            continue;
        if (plan.answer != ANSWER_REFUSE || other->on_record)
            plan = (struct publish_plan){
                .answer = ANSWER_REFUSE, .holder = i, .gives_back = published && other->on_record};
    }
    return plan;
}

enum publish_access publish_access_decide(bool recorded, bool wanted, bool answered)
{
    if (recorded == wanted)
        return ACCESS_AGREES;
    return answered ? ACCESS_CONFLICT : ACCESS_CHANGE;
}

static const Api__AzError *failure_on_record(const Api__AzVolumeAttachment *attachment)
{
    return strcmp(attachment_state(attachment), STATE_ATTACHMENT_FAILED) == 0
               ? attachment->status->error
               : NULL;
}

/* What the replica had failed with stays on record until the primary is attached, or fails. If it
 * fails in the same way before it is the primary on record, as it does when its VM cannot be read,
 * that shows in nothing: the caller learns of it when its time is up. */
const Api__AzError *publish_failure(const Api__AzVolumeAttachment *now,
                                    const Api__AzVolumeAttachment *promoted)
{
    const Api__AzError *failure = failure_on_record(now);
    const Api__AzError *former = promoted ? failure_on_record(promoted) : NULL;

    if (failure && former && !attachment_is(now, ROLE_PRIMARY) &&
        same_text(failure->code, former->code) && same_text(failure->message, former->message))
        return NULL;
    return failure;
}

enum attachment_answer unpublish_decide(enum attachment_phase here, bool keeps_replicas)
{
    return attachment_transition(keeps_replicas ? ON_UNPUBLISH_KEEPING : ON_UNPUBLISH, here)
        ->answer;
}
