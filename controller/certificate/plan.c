#include "controller/certificate/plan.h"

/* Of its duration, for which a certificate is not used: time for a rotation that goes wrong. */
enum { LAST_PART = 3 };

/* Neither about to end nor longer than it would last if it were made now. That is also what a
 * certificate is that was made by a clock that was ahead, or for another duration, or by Helm. */
static bool is_in_its_time(const struct certificate_state *state,
                           const struct certificate_plan_input *in)
{
    int64_t duration_us = (int64_t)in->duration_ms * 1000;
    int64_t left_us = state->term.ends_us - in->now_us;

    return left_us >= duration_us / LAST_PART &&
           left_us <= duration_us + CERTIFICATE_SKEW_MS * INT64_C(1000) &&
           state->term.begins_us <= in->now_us;
}

enum certificate_step certificate_plan(const struct certificate_plan_input *in)
{
    if (!in->current.usable)
        return CERTIFICATE_MAKE;
    if (!in->trusted)
        return CERTIFICATE_TRUST;
    if (in->next.usable && is_in_its_time(&in->next, in))
        return CERTIFICATE_PROMOTE;
    if (in->next.exists || !is_in_its_time(&in->current, in))
        return CERTIFICATE_PREPARE;
    return CERTIFICATE_KEEP;
}

const char *certificate_step_text(enum certificate_step step)
{
    static const char *const texts[N_CERTIFICATE_STEPS] = {
        [CERTIFICATE_KEEP] = "kept as it is",
        [CERTIFICATE_MAKE] = "made",
        [CERTIFICATE_PREPARE] = "made the next one, which is not in use yet",
        [CERTIFICATE_TRUST] = "had the API server trust its authority",
        [CERTIFICATE_PROMOTE] = "put the next one to use",
    };

    return texts[step];
}
