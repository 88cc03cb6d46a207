#include "controller/publish_plan.h"

struct publish_plan publish_decide(const struct publish_snapshot *in)
{
    struct publish_plan plan = {.answer = attachment_transition(ON_PUBLISH, in->here)->answer};

    if (!in->single_writer || plan.answer == ANSWER_BUSY ||
        (plan.answer == ANSWER_WAIT && in->on_record))
        return plan;
    for (size_t i = 0; i < in->n_elsewhere; i++)
        if (attachment_transition(ON_PUBLISH_ELSEWHERE, in->elsewhere[i])->answer == ANSWER_REFUSE)
            return (struct publish_plan){.answer = ANSWER_REFUSE, .holder = i};
    return plan;
}

enum attachment_answer unpublish_decide(enum attachment_phase here, bool keeps_replicas)
{
    return attachment_transition(keeps_replicas ? ON_UNPUBLISH_KEEPING : ON_UNPUBLISH, here)
        ->answer;
}
