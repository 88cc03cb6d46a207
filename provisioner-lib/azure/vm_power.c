#include "provisioner-lib/azure/vm_power.h"

#include <string.h>
#include <strings.h>

#include "lib/api/compute.pb-c.h"
#include "lib/base/alloc.h"
#include "provisioner-lib/azure/vm_model.h"

#define HIBERNATION "HibernationState/"

static bool says_off(const char *code)
{
    return strcasecmp(code, "PowerState/stopped") == 0 ||
           strcasecmp(code, "PowerState/deallocated") == 0;
}

static bool is_off(const Arm__InstanceView *view)
{
    bool off = false;

    for (size_t i = 0; view && i < view->n_statuses; i++) {
        const char *code = view->statuses[i]->code;

        if (code && strncasecmp(code, HIBERNATION, strlen(HIBERNATION)) == 0)
            return false;
        off = off || (code && says_off(code));
    }
    return off;
}

struct err *vm_power(struct task *self, struct arm_client *arm, const char *id,
                     enum cloud_power *ret)
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    CLEANUP(freep) char *path = vm_model_path_with_view(id);
    struct arm_request request = vm_model_request(id, CLOUD_FOR_PRIMARY);
    const ProtobufCMessage *decoded;

    request.path = path;
    struct err *err =
        arm_client_get(self, arm, &request, &arm__virtual_machine__descriptor, arena, &decoded);
    *ret = err && err_kind(err) == ERR_NOT_FOUND ? CLOUD_IS_GONE : CLOUD_MAY_RUN;
    if (err)
        return err_unless(err, ERR_NOT_FOUND);
    const Arm__VirtualMachine *vm = (const Arm__VirtualMachine *)decoded;
    if (vm->properties && is_off(vm->properties->instance_view))
        *ret = CLOUD_IS_OFF;
    return NULL;
}
