/* vm_model.h - a VM as Azure's model has it, read and kept.
 */
#pragma once

#include "provisioner-lib/azure/arm_client.h"
#include "provisioner-lib/azure/skus.h"
#include "provisioner-lib/cloud.h"

/* A VM of a uniform scale set, whose requests are other ones. */
bool vm_id_is_instance(const char *id);

/* The request for a VM's model. */
struct arm_request vm_model_request(const char *id, enum cloud_urgency urgency);
/* The path of one that also asks for the instance view, which takes Azure longer; free() it. */
char *vm_model_path_with_view(const char *id) __attribute__((warn_unused_result));
/* Reads the model from Azure. */
struct err *vm_model_read(struct task *self, struct arm_client *arm, struct skus *skus,
                          const struct arm_request *request, struct cloud_instance *ret)
    __attribute__((warn_unused_result));

/* Where a disk is; NULL if the model does not have it. */
const struct cloud_slot *vm_model_find(const struct cloud_instance *model, const char *disk_id);
