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
 * names have been read; NULL: all are 0, or all are allowed, whatever they are called. The list of
 * scores has no node with 0: to kube-scheduler that is the same, and in a large cluster, in which a
 * pod's disks are on three nodes, it is most of what there would be to write and to read. */
char *answer_scores(const struct extender_args *asked, const unsigned *scores)
    __attribute__((warn_unused_result));
char *answer_filter(const struct extender_args *asked, const bool *allowed)
    __attribute__((warn_unused_result));
