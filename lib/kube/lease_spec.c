#include "lib/kube/lease_spec.h"

#include "lib/base/timestamp.h"

/* The API server wants at least a second. */
static json_t *spec_of(const char *holder, int seconds, int64_t now_us)
{
    char now[TIMESTAMP_SIZE];

    timestamp_format_micro(now_us, now);
    return json_pack("{s:s, s:i, s:s}", "holderIdentity", holder, "leaseDurationSeconds", seconds,
                     "renewTime", now);
}

json_t *lease_spec_held(const char *holder, uint64_t duration_ms, int64_t now_us, bool takes)
{
    json_t *spec = spec_of(holder, (int)((duration_ms + 999) / 1000), now_us);

    if (takes)
        json_object_set(spec, "acquireTime", json_object_get(spec, "renewTime"));
    return spec;
}

json_t *lease_spec_free(int64_t now_us)
{
    return spec_of("", 1, now_us);
}
