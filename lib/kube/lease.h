/* lease.h - at most one leader, by a Lease object, as client-go elects one.
 *
 * A candidate takes the lease when nobody has it or when its holder has not renewed it for the
 * duration that the holder promised. Time is measured from when a change was seen here, never by
 * the clock in the object, so clocks may differ. The leader gives up when it could not renew for
 * `renew_deadline_ms`, which is shorter than the duration, so its reign ends before the next one
 * begins. Only a process that never saw the holder may be too early, if somebody deletes the
 * object.
 *
 * A process that was stopped and continued does not know yet that its lease ran out. So every
 * write on behalf of the leader asks lease_is_held first (lib/http/leader_guard.h does).
 */
#pragma once

#include "lib/kube/client.h"
#include "lib/rt/group.h"

struct lease_config {
    struct kube *kube;
    const char *namespace_, *name;
    const char *identity; /* unique to the process, e.g. pod name and a random part */
    uint64_t duration_ms, renew_deadline_ms, retry_period_ms; /* 15 s, 10 s, 2 s are usual */

    /* Not called any more once lease_release is, although the lease may be got at that moment. */
    void (*acquired)(void *ctx);
    /* Called once, when it was held and no longer is, for whatever reason but lease_release; the
     * candidacy is over then. */
    void (*lost)(void *ctx);
    /* An attempt failed; for logs. */
    void (*failed)(void *ctx, const struct err *err);
    void *ctx;
};

struct lease;

/* Becomes a candidate at once. What `config` points to must outlive the lease. */
struct lease *lease_new(struct loop *loop, const struct lease_config *config);
bool lease_is_held(const struct lease *lease);
/* Ends the candidacy and gives the lease back if it is held, so that the next one need not wait. */
void lease_release(struct task *self, struct lease *lease);
