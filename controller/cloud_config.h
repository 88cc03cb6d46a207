/* cloud_config.h - finds the azure.json: in its Secret, else in a file.
 */
#pragma once

#include "controller/flags.h"
#include "provisioner-lib/azure/config.h"

/* The message says where it was looked for, and what is wrong with what was found. */
struct err *cloud_config_load(struct task *self, struct kube *kube, const struct flags *flags,
                              struct azure_config *ret) __attribute__((warn_unused_result));
