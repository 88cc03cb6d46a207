#include "controller/snapshot/work.h"

#include "lib/base/alloc.h"
#include "lib/kube/cached_client.h"

struct err *snapshot_patch_status(struct task *self, struct snapshot_work *work, json_t *status,
                                  struct kube_object **ret)
{
    json_t *changes = json_pack("{s:o}", "status", status);

    return cached_patch_status(self, work->controller->leader_kube, work->controller->snapshots,
                               work->object, if_unchanged(work->object, changes), ret);
}

struct cloud_snapshot_spec snapshot_spec_of(const struct snapshot_work *work,
                                            const struct snapshot_parameters *parameters)
{
    return (struct cloud_snapshot_spec){
        .name = work->snapshot->spec->snapshot_name,
        .disk_id = work->snapshot->spec->source_volume_id,
        .parameters = parameters,
        .creator = work->controller->creator,
    };
}

struct err *snapshot_find_own(struct task *self, const struct snapshot_work *work,
                              const struct cloud_snapshot_spec *spec, struct cloud_snapshot *ret)
{
    struct cloud *cloud = work->controller->cloud;
    CLEANUP(cloud_snapshot_fini) struct cloud_snapshot seen = {0};
    CLEANUP(freep) char *id = NULL;

    *ret = (struct cloud_snapshot){0};
    TRY(cloud->ops->snapshot_id(cloud, spec, &id));
    struct err *look = cloud->ops->snapshot_get(self, cloud, id, &seen);
    if (look)
        return err_unless(look, ERR_NOT_FOUND);
    CLEANUP(err_freep) struct err *differs = cloud_snapshot_check_own(&seen, spec);
    if (differs)
        return NULL;
    *ret = seen;
    seen = (struct cloud_snapshot){0};
    return NULL;
}
