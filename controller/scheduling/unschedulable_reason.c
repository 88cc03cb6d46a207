#include "controller/scheduling/unschedulable_reason.h"

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"

enum { LONGEST = 1000 };

static const char *const words[N_REFUSALS] = {
    [REFUSAL_NONE] = "could take it",
    [REFUSAL_TAKEN] = "already the volume's own",
    [REFUSAL_NOT_READY] = "not ready",
    [REFUSAL_REPLICA_SELECTOR] = "not selected by replicaNodeSelector",
    [REFUSAL_CORDONED] = "cordoned",
    [REFUSAL_TAINT] = "with a taint that the pod does not tolerate",
    [REFUSAL_SELECTOR] = "not selected by the pod's node selector or affinity",
    [REFUSAL_MACHINE] = "of another architecture or operating system",
    [REFUSAL_VOLUMES] = "where another volume of the pod cannot be used",
    [REFUSAL_AFFINITY] = "without the pods that the pod is to be with",
    [REFUSAL_ANTI_AFFINITY] = "with pods that the pod must not be with",
    [REFUSAL_IN_USE] = "where kubelet has not let go of the volume yet",
    [REFUSAL_ZONE] = "outside of the disk's zone",
    [REFUSAL_NO_SLOT] = "without a free place for a disk",
};

char *refusals_text(const struct refusals *refusals)
{
    struct buffer text;
    unsigned total = 0;
    const char *separator = ": ";

    for (size_t i = 0; i < N_REFUSALS; i++)
        total += refusals->n[i];
    buffer_init(&text, LONGEST);
    buffer_printf(&text, "%u/%u nodes", refusals->n[REFUSAL_NONE], total);
    for (size_t i = REFUSAL_NONE + 1; i < N_REFUSALS; i++) {
        if (refusals->n[i] == 0)
            continue;
        buffer_printf(&text, "%s%u %s", separator, refusals->n[i], words[i]);
        separator = ", ";
    }
    return buffer_take(&text);
}
