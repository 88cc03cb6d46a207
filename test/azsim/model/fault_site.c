#include "test/azsim/model/fault_site.h"

#include <string.h>

#include "test/azsim/model/disk.h"
#include "test/azsim/model/snapshot.h"
#include "test/azsim/model/vm.h"

const char *fault_resource(const struct model *model, const char *target)
{
    const struct vm *vm = vm_find(model, target);
    const struct disk *disk = disk_find(model, target);
    const struct snapshot *snapshot = snapshot_find(model, target);
    const char *slash = strrchr(target, '/');

    return vm         ? vm->name
           : disk     ? disk->name
           : snapshot ? snapshot->name
           : slash    ? slash + 1
                      : target; /* it is gone */
}

static const char *zone_of(const struct model *model, const char *target)
{
    const struct vm *vm = vm_find(model, target);
    const struct disk *disk = disk_find(model, target);

    return vm ? vm->spec.zone : disk ? disk->spec.zone : NULL;
}

static const struct fault *strike(struct model *model, enum fault_place place,
                                  const struct fault_subject *subject)
{
    return faults_strike(model->faults, place, subject, loop_now(model->loop));
}

const struct fault *fault_of_operation(struct model *model, enum operation_kind kind,
                                       const char *target, enum fault_place place)
{
    struct fault_subject subject = {.kind = operation_kind_name(kind),
                                    .resource = fault_resource(model, target),
                                    .zone = zone_of(model, target)};

    return strike(model, place, &subject);
}

const struct fault *fault_of_disk(const struct vm *vm, const char *disk, enum fault_place place)
{
    struct fault_subject subject = {.kind = vm->operation ? operation_kind_name(vm->operation->kind)
                                                          : NULL,
                                    .resource = vm->name,
                                    .disk = disk,
                                    .zone = vm->spec.zone};

    return strike(vm->model, place, &subject);
}
