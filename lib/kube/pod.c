#include "lib/kube/pod.h"

#include <string.h>

bool pod_is_live(const Api__Pod *pod)
{
    const char *phase = pod->status ? pod->status->phase : NULL;

    return !phase || (strcmp(phase, "Succeeded") != 0 && strcmp(phase, "Failed") != 0);
}
