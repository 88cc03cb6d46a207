/* The next step for the webhook's certificate. */
#include "controller/certificate/plan.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define DAY_US (INT64_C(24) * 60 * 60 * 1000000)
#define MINUTE_US INT64_C(60000000)
#define NOW (20000 * DAY_US)

enum { DURATION_DAYS = 90 };

#define NONE                                                                                       \
    {                                                                                              \
        .exists = false                                                                            \
    }
#define BROKEN                                                                                     \
    {                                                                                              \
        .exists = true                                                                             \
    }
/* Valid from then until then, in microseconds from now. */
#define FROM_TO(from, to)                                                                          \
    {                                                                                              \
        .exists = true, .usable = true, .term = { NOW + (from), NOW + (to) }                       \
    }
#define FRESH FROM_TO(-5 * MINUTE_US, 90 * DAY_US)
#define DUE FROM_TO(-61 * DAY_US, 29 * DAY_US)

static const struct {
    const char *why;
    struct certificate_state current, next;
    bool trusted;
    enum certificate_step step;
} rows[] = {
    {"nothing is there", NONE, NONE, false, CERTIFICATE_MAKE},
    {"somebody has broken it", BROKEN, NONE, false, CERTIFICATE_MAKE},
    {"broken, in the middle of a rotation", BROKEN, FRESH, false, CERTIFICATE_MAKE},
    {"nobody trusts it yet", FRESH, NONE, false, CERTIFICATE_TRUST},
    {"all is well", FRESH, NONE, true, CERTIFICATE_KEEP},
    {"a moment before it is due", FROM_TO(-60 * DAY_US, 30 * DAY_US), NONE, true, CERTIFICATE_KEEP},
    {"due", FROM_TO(-60 * DAY_US, 30 * DAY_US - 1), NONE, true, CERTIFICATE_PREPARE},
    {"due, and not trusted: what is in use comes first", DUE, NONE, false, CERTIFICATE_TRUST},
    {"over", FROM_TO(-90 * DAY_US, -MINUTE_US), NONE, true, CERTIFICATE_PREPARE},
    {"by a clock that is somewhat ahead", FROM_TO(-4 * MINUTE_US, 90 * DAY_US + 4 * MINUTE_US),
     NONE, true, CERTIFICATE_KEEP},
    {"by a clock that was a day ahead", FROM_TO(DAY_US, 91 * DAY_US), NONE, true,
     CERTIFICATE_PREPARE},
    {"not valid yet", FROM_TO(MINUTE_US, 60 * DAY_US), NONE, true, CERTIFICATE_PREPARE},
    {"Helm's, for ten years", FROM_TO(-DAY_US, 3649 * DAY_US), NONE, true, CERTIFICATE_PREPARE},
    {"longer than it is to last by now", FROM_TO(-DAY_US, 90 * DAY_US + 6 * MINUTE_US), NONE, true,
     CERTIFICATE_PREPARE},
    {"the next one is there", DUE, FRESH, false, CERTIFICATE_TRUST},
    {"and trusted", DUE, FRESH, true, CERTIFICATE_PROMOTE},
    {"the next one is broken", DUE, BROKEN, true, CERTIFICATE_PREPARE},
    {"the next one has become old", DUE, DUE, true, CERTIFICATE_PREPARE},
    {"the next one is of another clock", DUE, FROM_TO(DAY_US, 91 * DAY_US), true,
     CERTIFICATE_PREPARE},
    {"a next one that nobody needs", FRESH, FRESH, true, CERTIFICATE_PROMOTE},
    {"a broken one that nobody needs", FRESH, BROKEN, true, CERTIFICATE_PREPARE},
};

static void test_steps(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct certificate_plan_input input = {
            .current = rows[i].current,
            .next = rows[i].next,
            .trusted = rows[i].trusted,
            .now_us = NOW,
            .duration_ms = DURATION_DAYS * DAY_US / 1000,
        };
        enum certificate_step step = certificate_plan(&input);

        if (step != rows[i].step)
            fail_msg("%s: %s", rows[i].why, certificate_step_text(step));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_steps)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
