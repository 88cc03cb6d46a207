#include "provisioner-lib/azure/azure.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/base/list.h"
#include "provisioner-lib/azure/arm_client.h"
#include "provisioner-lib/azure/credential.h"
#include "provisioner-lib/azure/disk_change.h"
#include "provisioner-lib/azure/disk_snapshot.h"
#include "provisioner-lib/azure/managed_disk.h"
#include "provisioner-lib/azure/resource_id.h"
#include "provisioner-lib/azure/skus.h"
#include "provisioner-lib/azure/vm_cache.h"
#include "provisioner-lib/azure/vm_model.h"
#include "provisioner-lib/azure/vm_power.h"
#include "provisioner-lib/azure/vm_queue.h"
#include "provisioner-lib/region.h"

struct azure {
    struct cloud cloud;
    struct credential *credential;
    struct arm_client *arm;
    struct skus *skus;
    struct vm_cache *cache;
};

static struct azure *azure_of(struct cloud *cloud)
{
    return CONTAINER_OF(cloud, struct azure, cloud);
}

/* What is read, changed or deleted must be what it is taken for. */
static struct err *check_disk(const char *id)
{
    return resource_id_check_type(id, "disks");
}

static struct err *check_snapshot(const char *id)
{
    return resource_id_check_type(id, "snapshots");
}

static struct err *id_of_disk(struct cloud *cloud, const struct cloud_disk_spec *spec,
                              char **ret_id)
{
    *ret_id = managed_disk_id(azure_of(cloud)->arm, spec);
    return NULL;
}

static struct err *create(struct task *self, struct cloud *cloud,
                          const struct cloud_disk_spec *spec, struct cloud_disk *ret)
{
    return managed_disk_create(self, azure_of(cloud)->arm, spec, ret);
}

/* The list is of one region; elsewhere what is built in counts. */
static struct err *limits(struct task *self, struct cloud *cloud, const struct volume_parameters *p,
                          int64_t size_gib, struct disk_limits *ret)
{
    const struct azure *azure = azure_of(cloud);
    const char *here = arm_client_config(azure->arm)->location;

    if (!p->location || region_equal(p->location, here))
        return skus_disk_limits(self, azure->skus, p->sku, size_gib, ret);
    disk_limits_built_in(p->sku, size_gib, ret);
    return NULL;
}

static const char *region_of_disk(struct cloud *cloud, const struct volume_parameters *parameters)
{
    return parameters->location ? parameters->location
                                : arm_client_config(azure_of(cloud)->arm)->location;
}

static struct err *get(struct task *self, struct cloud *cloud, const char *disk_id,
                       struct cloud_disk *ret)
{
    TRY(check_disk(disk_id));
    return managed_disk_get(self, azure_of(cloud)->arm, disk_id, ret);
}

static struct err *list(struct task *self, struct cloud *cloud, const char *disk_id,
                        struct cloud_disks *ret)
{
    TRY(check_disk(disk_id));
    return managed_disk_list(self, azure_of(cloud)->arm, disk_id, ret);
}

static struct err *change(struct task *self, struct cloud *cloud, const char *disk_id,
                          const struct cloud_disk_change *change)
{
    const struct azure *azure = azure_of(cloud);
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};
    struct disk_hold *hold;

    TRY(check_disk(disk_id));
    TRY(vm_disk_hold(self, azure->cache, disk_id, &hold));
    struct err *err = disk_change_carry_out(self, azure->arm, disk_id, change, &disk);
    if (!err)
        err = change->record(self, change->ctx, &disk);
    vm_disk_release(azure->cache, hold);
    return err;
}

static struct err *delete (struct task *self, struct cloud *cloud, const char *disk_id)
{
    TRY(check_disk(disk_id));
    return managed_disk_delete(self, azure_of(cloud)->arm, disk_id);
}

/* ---- snapshots ---- */

static struct err *id_of_snapshot(struct cloud *cloud, const struct cloud_snapshot_spec *spec,
                                  char **ret_id)
{
    (void)cloud;
    return disk_snapshot_id(spec, ret_id);
}

static struct err *create_snapshot(struct task *self, struct cloud *cloud,
                                   const struct cloud_snapshot_spec *spec,
                                   struct cloud_snapshot *ret)
{
    return disk_snapshot_create(self, azure_of(cloud)->arm, spec, ret);
}

static struct err *copy_snapshot(struct task *self, struct cloud *cloud,
                                 const struct cloud_snapshot_spec *spec, struct cloud_snapshot *ret)
{
    TRY(check_snapshot(spec->source_id));
    return disk_snapshot_copy(self, azure_of(cloud)->arm, spec, ret);
}

static struct err *get_snapshot(struct task *self, struct cloud *cloud, const char *snapshot_id,
                                struct cloud_snapshot *ret)
{
    TRY(check_snapshot(snapshot_id));
    return disk_snapshot_get(self, azure_of(cloud)->arm, snapshot_id, ret);
}

static struct err *list_snapshots(struct task *self, struct cloud *cloud, const char *snapshot_id,
                                  struct cloud_snapshots *ret)
{
    TRY(check_snapshot(snapshot_id));
    return disk_snapshot_list(self, azure_of(cloud)->arm, snapshot_id, ret);
}

static struct err *delete_snapshot(struct task *self, struct cloud *cloud, const char *snapshot_id)
{
    TRY(check_snapshot(snapshot_id));
    return disk_snapshot_delete(self, azure_of(cloud)->arm, snapshot_id);
}

/* ---- instances ---- */

/* A provider id is "azure://" and the VM's id. A cluster without a cloud controller has none; its
 * nodes are VMs of the same name in the driver's resource group. */
static struct err *instance_id(struct cloud *cloud, const char *node, const char *provider_id,
                               char **ret_id)
{
    static const char scheme[] = "azure://";
    const struct azure_config *config = arm_client_config(azure_of(cloud)->arm);

    if (!provider_id || !*provider_id) {
        *ret_id = resource_id_format(config->subscription, config->resource_group,
                                     "virtualMachines", node);
        return NULL;
    }
    const char *id = provider_id + strlen(scheme);
    bool is_of_azure = strncasecmp(provider_id, scheme, strlen(scheme)) == 0;
    CLEANUP(err_freep) struct err *err = is_of_azure ? resource_id_check(id) : NULL;
    if (!is_of_azure || err)
        return err_new(ERR_INVALID, "node %s: provider id \"%s\" is not that of an Azure VM", node,
                       provider_id);
    *ret_id = mem_strdup(id);
    return NULL;
}

static struct err *instance_get(struct task *self, struct cloud *cloud, const char *id,
                                uint64_t max_age_ms, enum cloud_urgency urgency,
                                struct cloud_instance *ret)
{
    return vm_get(self, azure_of(cloud)->cache, id, max_age_ms, urgency, ret);
}

static void instance_forget(struct cloud *cloud, const char *id)
{
    vm_forget(azure_of(cloud)->cache, id);
}

static struct err *instance_look(struct task *self, struct cloud *cloud, const char *id,
                                 struct cloud_instance *ret)
{
    const struct azure *azure = azure_of(cloud);
    const struct arm_request request = vm_model_request(id, CLOUD_AUDIT);

    return vm_model_read(self, azure->arm, azure->skus, &request, ret);
}

static struct err *instance_power(struct task *self, struct cloud *cloud, const char *id,
                                  enum cloud_power *ret)
{
    return vm_power(self, azure_of(cloud)->arm, id, ret);
}

/* Azure refuses that too, after all that an attach costs. */
static struct err *check_subscriptions(const struct cloud_attach *attach)
{
    const char *a = attach->instance_id, *b = attach->disk_id;
    size_t n = strlen("/subscriptions/"), length = n + strcspn(a + n, "/");

    if (strncasecmp(a, b, length) == 0 && b[length] == '/')
        return NULL;
    return err_new(ERR_INVALID, "disk %s is not in the same subscription as %s", b, a);
}

static struct err *attach(struct task *self, struct cloud *cloud, const struct cloud_attach *attach)
{
    TRY(check_disk(attach->disk_id));
    TRY(check_subscriptions(attach));
    return vm_change(self, azure_of(cloud)->cache, attach->instance_id,
                     &(struct vm_change){
                         .kind = VM_ATTACH,
                         .urgency = attach->urgency,
                         .disk_id = attach->disk_id,
                         .lun = attach->lun,
                         .caching = attach->caching,
                         .write_accelerator = attach->write_accelerator,
                         .swap_out = attach->swap_out,
                         .n_swap_out = attach->n_swap_out,
                         .precondition = attach->precondition,
                         .accepted = attach->accepted,
                         .seen = attach->seen,
                         .ctx = attach->ctx,
                     });
}

static void reconsider(struct cloud *cloud, const char *disk_id)
{
    vm_reconsider(azure_of(cloud)->cache, disk_id);
}

static void instance_announce(struct cloud *cloud, const char *id, bool coming)
{
    vm_announce(azure_of(cloud)->cache, id, coming);
}

static struct err *detach(struct task *self, struct cloud *cloud, const struct cloud_detach *detach)
{
    return vm_change(self, azure_of(cloud)->cache, detach->instance_id,
                     &(struct vm_change){
                         .kind = VM_DETACH,
                         .urgency = detach->urgency,
                         .disk_id = detach->disk_id,
                         .out_of_service = detach->out_of_service,
                         .ctx = detach->ctx,
                         .forced = detach->forced,
                     });
}

static struct err *repair(struct task *self, struct cloud *cloud, const char *id,
                          enum cloud_urgency urgency)
{
    return vm_change(self, azure_of(cloud)->cache, id,
                     &(struct vm_change){.kind = VM_REPAIR, .urgency = urgency});
}

static const struct cloud_ops ops = {
    .disk_id = id_of_disk,
    .disk_create = create,
    .disk_region = region_of_disk,
    .disk_limits = limits,
    .disk_get = get,
    .disk_list = list,
    .disk_change = change,
    .disk_delete = delete,
    .snapshot_id = id_of_snapshot,
    .snapshot_create = create_snapshot,
    .snapshot_copy = copy_snapshot,
    .snapshot_get = get_snapshot,
    .snapshot_list = list_snapshots,
    .snapshot_delete = delete_snapshot,
    .instance_id = instance_id,
    .instance_get = instance_get,
    .instance_forget = instance_forget,
    .instance_look = instance_look,
    .instance_power = instance_power,
    .instance_announce = instance_announce,
    .disk_attach = attach,
    .reconsider = reconsider,
    .disk_detach = detach,
    .instance_repair = repair,
};

struct cloud *azure_cloud_new(struct task_group *group, struct azure_config *config,
                              const char *cache_file, struct http_transport *resource_manager,
                              struct http_transport *metadata)
{
    struct azure *azure = mem_alloc(sizeof *azure);

    azure->cloud.ops = &ops;
    azure->credential = credential_new(group, config, resource_manager, metadata);
    azure->arm = arm_client_new(group->loop, config, resource_manager, azure->credential);
    azure->skus = skus_new(group, azure->arm, cache_file);
    azure->cache = vm_cache_new(group, azure->arm, azure->skus);
    return &azure->cloud;
}

void azure_cloud_refresh_metrics(struct cloud *cloud)
{
    arm_client_refresh_metrics(azure_of(cloud)->arm);
}

void azure_cloud_free(struct cloud *cloud)
{
    if (!cloud)
        return;
    struct azure *azure = azure_of(cloud);

    vm_cache_free(azure->cache);
    skus_free(azure->skus);
    arm_client_free(azure->arm);
    credential_free(azure->credential);
    free(azure);
}
