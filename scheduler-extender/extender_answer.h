/* extender_answer.h - what kube-scheduler is answered: HostPriorityList and ExtenderFilterResult of
 * k8s.io/kube-scheduler/extender/v1.
 *
 * Members have the names of the Go fields; older schedulers, whose types say them in lower case,
 * read them as well, because Go's decoder ignores case. Every node is answered by the very text by
 * which it was asked for. Any thread.
 */
#pragma once

#include <stdbool.h>

#include "scheduler-extender/extender_args.h"

/* JSON text; free() it. `scores` and `allowed` have an entry for each node of the question, whose
 * names have been read; NULL: none has a score, or all are allowed, whatever they are called. A
 * node that is not in the list of scores has none to kube-scheduler, which is as good as 0. */
char *answer_scores(const struct extender_args *asked, const unsigned *scores)
    __attribute__((warn_unused_result));
char *answer_filter(const struct extender_args *asked, const bool *allowed)
    __attribute__((warn_unused_result));
