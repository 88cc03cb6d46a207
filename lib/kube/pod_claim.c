#include "lib/kube/pod_claim.h"

#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"
#include "lib/kube/object.h"

char *pod_claim_key(const Api__Pod *pod, const Api__Volume *volume)
{
    const char *namespace_ = pod->metadata->namespace_;

    if (volume->persistent_volume_claim && volume->persistent_volume_claim->claim_name)
        return kube_key(namespace_, volume->persistent_volume_claim->claim_name);
    if (!volume->ephemeral || !volume->name || !pod->metadata->name)
        return NULL;
    CLEANUP(freep) char *claim = mem_printf("%s-%s", pod->metadata->name, volume->name);
    return kube_key(namespace_, claim);
}
