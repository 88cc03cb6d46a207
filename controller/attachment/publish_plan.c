#include "controller/attachment/publish_plan.h"

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

enum attachment_answer unpublish_decide(enum attachment_phase here, bool keeps_replicas)
{
    return attachment_transition(keeps_replicas ? ON_UNPUBLISH_KEEPING : ON_UNPUBLISH, here)
        ->answer;
}
