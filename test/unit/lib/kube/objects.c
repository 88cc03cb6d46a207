#include "test/unit/lib/kube/objects.h"

#include <inttypes.h>

#include "lib/base/alloc.h"

struct kube_object *node_of(const char *name, uint64_t version, const char *provider_id)
{
    return object_taken(&api__node__descriptor,
                        mem_printf("{'metadata':{'name':'%s','resourceVersion':'%" PRIu64 "'},"
                                   "'spec':{'providerID':'%s'}}",
                                   name, version, provider_id));
}
