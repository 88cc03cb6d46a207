/* vm_spec.h - what a person says about a virtual machine that is to exist.
 *
 * The same JSON object is a member of "vms" in the configuration, the body of a request that adds a
 * VM, and part of a VM's record:
 *
 *     {"name": "node-a", "size": "Standard_D4s_v5", "zone": "1", "identity": "system",
 *      "ultraDisks": true, "scaleSet": "pool", "instanceId": "3", "resourceName": "pool_1a2b3c4d",
 *      "subscriptionId": "2222...", "resourceGroup": "nodes",
 *      "networkNamespace": "/run/netns/node-a", "deviceDirectory": "/srv/node-a/azure"}
 *
 * Only name and size are needed. The name is the one that the VM itself goes by, its host name; ARM
 * knows the VM by resourceName, which is the same if it is left out, and an instance of a uniform
 * scale set by the name of that and its number (see vm.h). A VM is in the first group of the first
 * subscription unless it says otherwise. The last two say where the VM is on the host that plays
 * it; the model does not look at them.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "lib/base/err.h"
#include "test/azsim/model/sku.h"

struct vm_spec {
    char *name;          /* the host name */
    char *resource_name; /* what ARM calls it; NULL: the same, or an instance's */
    const struct vm_size *size;
    char *zone;              /* "1" to "3"; "" for none */
    bool identity;           /* has a system-assigned managed identity */
    bool ultra_disks;        /* additionalCapabilities.ultraSSDEnabled */
    char *subscription_id;   /* NULL: the first */
    char *resource_group;    /* NULL: the first of the subscription */
    char *scale_set;         /* NULL: it belongs to none */
    char *instance_id;       /* in a uniform scale set, "3"; NULL: not uniform */
    char *network_namespace; /* NULL: none */
    char *device_directory;  /* NULL: none */
};

/* INVALID with the member's path below `path`, its value and what is allowed. */
struct err *vm_spec_read(const json_t *json, const char *path, struct vm_spec *ret)
    __attribute__((warn_unused_result));
json_t *vm_spec_json(const struct vm_spec *spec);
void vm_spec_fini(struct vm_spec *spec);

static inline void vm_spec_finip(struct vm_spec *spec)
{
    vm_spec_fini(spec);
}
