/* What in the cloud the attempts of a record can have left. */
#include "provisioner-lib/records/failed_attempt.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "test/unit/expect.h"

#define EARLIER "it was made before the record"
#define LATER "it was made later"

/* A record of ten o'clock, with a last attempt at five past. */
static const char RECORD[] = "2026-01-01T10:00:00Z", GOES[] = "2026-01-01T10:15:00Z";

static const struct {
    const char *goes, *made, *why;
} rows[] = {
    {GOES, "2026-01-01T09:00:00Z", EARLIER},
    {GOES, "2026-01-01T09:59:49Z", EARLIER},
    {GOES, "2026-01-01T09:59:50Z", NULL}, /* its clock is slow */
    {GOES, "2026-01-01T10:02:00Z", NULL},
    {GOES, "2026-01-01T10:05:10Z", NULL}, /* fast */
    {GOES, "2026-01-01T10:05:11Z", LATER},
    {GOES, "2026-01-01T10:14:59Z", LATER}, /* by an attempt that the record does not know */
    {GOES, "2026-01-01T10:16:00Z", LATER},
    {GOES, NULL, NULL}, /* it is being made */
    {NULL, "2026-01-01T10:02:00Z", LATER},
};

static void test_what_is_left(void **state)
{
    Api__ObjectMeta record;
    char began[TIMESTAMP_SIZE];

    (void)state;
    api__object_meta__init(&record);
    memcpy(began, RECORD, sizeof RECORD);
    record.creation_timestamp = began;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *why = failed_attempt_excludes(&record, timestamp_noted(rows[i].goes),
                                                  timestamp_noted(rows[i].made));

        if (!why != !rows[i].why || (why && strcmp(why, rows[i].why) != 0))
            fail_msg("row %zu: %s", i, why ? why : "it may be left");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
