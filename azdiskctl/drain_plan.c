#include "azdiskctl/drain_plan.h"

#include "lib/kube/client.h"

/* The first pod of that state, blocked or not; `n` if there is none. */
static size_t first(const struct drain_pod *pods, size_t n, enum drain_state state, bool blocked)
{
    size_t i = 0;

    while (i < n && (pods[i].state != state || pods[i].blocked != blocked))
        i++;
    return i;
}

struct drain_plan drain_next(const struct drain_pod *pods, size_t n, bool patient)
{
    size_t ready = first(pods, n, DRAIN_READY, false);
    size_t coming = first(pods, n, DRAIN_COMING, false), slow = first(pods, n, DRAIN_SLOW, false);
    bool blocked = false, leaving = false;

    for (size_t i = 0; i < n; i++) {
        leaving |= pods[i].state == DRAIN_LEAVING;
        blocked |= pods[i].blocked && pods[i].state < DRAIN_LEAVING;
    }
    if (ready < n)
        return (struct drain_plan){DRAIN_EVICT, ready};
    if (coming < n && patient)
        return (struct drain_plan){DRAIN_AWAIT_REPLICAS, coming};
    if (coming < n || slow < n)
        return (struct drain_plan){DRAIN_EVICT_SLOW, coming < n ? coming : slow};
    if (blocked)
        return (struct drain_plan){DRAIN_AWAIT_BUDGET, 0};
    return (struct drain_plan){leaving ? DRAIN_AWAIT_END : DRAIN_DONE, 0};
}

bool drain_is_refused(const struct err *eviction)
{
    return err_kind(eviction) == ERR_THROTTLED || kube_is_internal_error(eviction);
}
