#include "provisioner-lib/records/failed_attempt.h"

#include <stddef.h>

#include "lib/base/timestamp.h"

/* By which the clocks of the cluster and of the cloud may differ. */
enum { CLOCKS_US = 10 * 1000 * 1000 };

const char *failed_attempt_excludes(const Api__ObjectMeta *record, int64_t goes_us, int64_t made_us)
{
    int64_t first_us = timestamp_noted(record->creation_timestamp);
    int64_t last_us = goes_us - (int64_t)FAILED_STAYS_MS * 1000;

    if (made_us && made_us < first_us - CLOCKS_US)
        return "it was made before the record";
    return made_us > last_us + CLOCKS_US ? "it was made later" : NULL;
}
