/* price.h - what a managed disk costs a month, by prices that the user gives.
 *
 * Azure sells disks of most kinds in steps of size: one of 100 GiB is paid for as P10, which has
 * 128. UltraSSD_LRS and PremiumV2_LRS are paid for by the GiB (UltraSSD_LRS by those of the next
 * size), and by performance, which is left out, as is what a shared disk costs for each VM that has
 * it. Prices differ by region and contract, so none are built in.
 *
 * Source of the steps: Azure's documentation of disk types and of their billing.
 */
#pragma once

#include <jansson.h>

#include "provisioner-lib/cloud.h"

/* "P10_LRS=19.71,PremiumV2_LRS=0.08": a month of a step, or of a GiB, in any currency. "" is none.
 * INVALID with what cannot be understood. */
struct err *prices_check(const char *prices) __attribute__((warn_unused_result));

/* {"of": "P10_LRS", "units": 1, "month": 19.71}, where units are GiB for the two kinds above;
 * without "month" if the price is not among them. `prices` has been checked. */
json_t *price_json(const char *prices, const struct cloud_disk *disk);
