/* throttle.h - Azure's token buckets: how many requests of each kind a VM, a caller and a
 * subscription have left.
 *
 * A policy has two limits, and each limit a bucket for each owner: one for the resource, or for the
 * caller in the subscription, that a request is of, or one for the subscription. A request takes a
 * token of both, or is refused and takes none. A bucket is full at first; from the request that
 * finds it full, its refill is added after each period, up to its size. Time is the caller's.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/cleanup.h"
#include "lib/base/err.h"

/* Compute's own, by resource and by subscription: what is added each minute, and the size.
 *   policy              name in headers           resource  subscription */
#define THROTTLE_BY_MINUTE(ROW)                                                                    \
    ROW(PUT_VM, "PutVM", 4, 12, 500, 1500)                                                         \
    ROW(UPDATE_VM, "UpdateVM", 4, 12, 500, 1500)                                                   \
    ROW(DELETE_VM, "DeleteVM", 4, 12, 500, 1500)                                                   \
    ROW(GET_VM, "LowCostGetVM", 12, 36, 8000, 24000)                                               \
    ROW(GUEST_PATCH, "VMGuestPatch", 2, 6, 200, 600)                                               \
    ROW(GET_OPERATION, "GetOperation", 15, 45, 5000, 15000)                                        \
    ROW(PUT_VMSS, "PutVMScaleSet", 4, 12, 125, 375)                                                \
    ROW(UPDATE_VMSS, "UpdateVMScaleSet", 4, 12, 500, 1500)                                         \
    ROW(DELETE_VMSS, "DeleteVMScaleSet", 4, 12, 175, 525)                                          \
    ROW(GET_VMSS, "LowCostGetVMScaleSet", 12, 36, 800, 2400)                                       \
    ROW(LIST_VMSS, "HighCostGetVMScaleSet", 10, 30, 360, 1080)                                     \
    ROW(UPDATE_VMSS_VM, "UpdateVMScaleSetVM", 4, 12, 500, 1500)                                    \
    ROW(DELETE_VMSS_VM, "DeleteVMScaleSetVM", 4, 12, 500, 1500)                                    \
    ROW(GET_VMSS_VM, "GetVMScaleSetVM", 12, 36, 2000, 6000)

/* Lists of VMs, which have no resource. */
#define THROTTLE_LIST_VMS_NAME "HighCostGetVM"

/* Compute's older ones, of the subscription only: how many in 3 minutes, and in 30.
 *   policy              name in headers           3 min   30 min */
#define THROTTLE_BY_WINDOW(ROW)                                                                    \
    ROW(PUT_DISK, "CreateUpdateDisks", 3000, 25000)                                                \
    ROW(DELETE_DISK, "DeleteDisks", 1000, 8000)                                                    \
    ROW(GET_DISK, "LowCostGet", 15000, 120000)                                                     \
    ROW(GET_DISK_OPERATION, "GetOperation", 50000, 400000)

/* Resource Manager's, by caller: what is added each second, and the size. The subscription as a
 * whole has fifteen times as much.
 *   policy              name in headers */
#define THROTTLE_BY_CALLER(ROW)                                                                    \
    ROW(READS, "reads", 25, 250)                                                                   \
    ROW(WRITES, "writes", 10, 200)                                                                 \
    ROW(DELETES, "deletes", 10, 200)

enum throttle_policy {
    THROTTLE_NONE,
#define THROTTLE_ENUM(policy, ...) THROTTLE_##policy,
    THROTTLE_BY_MINUTE(THROTTLE_ENUM) THROTTLE_ENUM(LIST_VMS) THROTTLE_BY_WINDOW(THROTTLE_ENUM)
        THROTTLE_BY_CALLER(THROTTLE_ENUM)
#undef THROTTLE_ENUM
            THROTTLE_POLICY_COUNT
};

/* What became of a request at one policy. */
struct throttle_charge {
    struct throttle_left {
        const char *limit; /* "UpdateVMResource" */
        unsigned left;
    } limits[2];
    size_t n;
    const char *refused; /* the limit of these that has nothing left; NULL: the tokens are taken */
    unsigned allowed, measured;   /* of that limit: its size, and the requests that came to it */
    uint64_t since_ms, refill_ms; /* when its period began, and when the next one does */
};

struct throttle;

struct throttle *throttle_new(void); /* switched on, with Azure's own numbers */
void throttle_free(struct throttle *throttle);
DEFINE_CLEANUP(struct throttle, throttle_free)

/* "on"; "off", when every bucket stays full; or how many times as large Azure's buckets and refills
 * are to be, such as "0.5". All are full afterwards. */
struct err *throttle_set(struct throttle *throttle, const char *text)
    __attribute__((warn_unused_result));

/* Takes a token of each limit, or none. `owner` is the resource or the caller, in the subscription
 * with that id, whatever their case. */
void throttle_take(struct throttle *throttle, enum throttle_policy policy, const char *subscription,
                   const char *owner, uint64_t now_ms, struct throttle_charge *ret);
/* What would be charged if the first limit had nothing left. */
void throttle_pretend(const struct throttle *throttle, enum throttle_policy policy, uint64_t now_ms,
                      struct throttle_charge *ret);
/* Seconds after which a refused request may come again, at least 1. */
unsigned throttle_retry_after_s(const struct throttle_charge *charge, uint64_t now_ms);

/* {"throttling": "on", "buckets": [{"limit", "subscription", "owner", "left", "of", "refillMs"}]}:
 * those that are not full, and how long until the next refill; the owner of a subscription's bucket
 * is "". */
json_t *throttle_json(struct throttle *throttle, uint64_t now_ms);
