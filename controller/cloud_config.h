/* cloud_config.h - finds the azure.json: in its Secret, else in a file.
 */
#pragma once

#include "controller/flags.h"
#include "provisioner-lib/azure/config.h"

/* The first thing that the program does: secrets that will be in its memory go when they are freed,
 * and the kernel writes no core of it. */
void cloud_config_guard_memory(void);

/* The message says where it was looked for, and what is wrong with what was found. */
struct err *cloud_config_load(struct task *self, struct kube *kube, const struct flags *flags,
                              struct azure_config *ret) __attribute__((warn_unused_result));
