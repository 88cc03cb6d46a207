/* region.h - the regions of the simulated Azure.
 *
 * VMs are in the model's own region, which the configuration names. Resource groups, disks and
 * snapshots may be in others as well: in one of a few of Azure's. People write "West Europe", Azure
 * westeurope, and both are the same. Pure, but for what is allocated.
 */
#pragma once

#include "test/azsim/model/model.h"

/* The name of the region that this text means, which lasts as long as the model; NULL if there is
 * none of that name. */
const char *region_find(const struct model *model, const char *text);
bool region_is_same(const char *a, const char *b);

/* Each with the name that people know: the model's own first. False behind the last one. */
bool region_at(const struct model *model, size_t i, const char **ret_name,
               const char **ret_display_name);
/* "eastus,westus": what Azure says when it is asked for another one; free() it. */
char *region_list(const struct model *model) __attribute__((warn_unused_result));
