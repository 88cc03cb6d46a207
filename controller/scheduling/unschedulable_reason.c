#include "controller/scheduling/unschedulable_reason.h"

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"

enum { LONGEST = 1000 };

static const char *const words[N_UNSCHEDULABLE_REASONS] = {
    [UNSCHEDULABLE_NONE] = "available",
    [UNSCHEDULABLE_HAS_ATTACHMENT] = "already used by this volume",
    [UNSCHEDULABLE_NOT_READY] = "not ready",
    [UNSCHEDULABLE_REPLICA_SELECTOR] = "not matching replicaNodeSelector",
    [UNSCHEDULABLE_CORDONED] = "cordoned",
    [UNSCHEDULABLE_TAINT] = "with a taint that the pod does not tolerate",
    [UNSCHEDULABLE_SELECTOR] = "not matching the pod's node selector or affinity",
    [UNSCHEDULABLE_ARCH] = "with a different architecture or operating system",
    [UNSCHEDULABLE_VOLUMES] = "where another volume of the pod is not available",
    [UNSCHEDULABLE_AFFINITY] = "without the pods that the pod's affinity requires",
    [UNSCHEDULABLE_ANTI_AFFINITY] = "with pods that anti-affinity rules out",
    [UNSCHEDULABLE_IN_USE] = "where kubelet has not released the volume yet",
    [UNSCHEDULABLE_ZONE] = "outside the disk's zone",
    [UNSCHEDULABLE_NO_SLOT] = "without a free disk slot",
};

char *unschedulable_reasons_text(const struct unschedulable_reasons *reasons)
{
    struct buffer text;
    unsigned total = 0;
    const char *separator = ": ";

    for (size_t i = 0; i < N_UNSCHEDULABLE_REASONS; i++)
        total += reasons->n[i];
    buffer_init(&text, LONGEST);
    buffer_printf(&text, "%u/%u nodes are available", reasons->n[UNSCHEDULABLE_NONE], total);
    for (size_t i = UNSCHEDULABLE_NONE + 1; i < N_UNSCHEDULABLE_REASONS; i++) {
        if (reasons->n[i] == 0)
            continue;
        buffer_printf(&text, "%s%u %s", separator, reasons->n[i], words[i]);
        separator = ", ";
    }
    return buffer_take(&text);
}
