/* Points in time and lengths of time: what was written of one that was taken reads as the same. */
#include "lib/base/duration.h"
#include "lib/base/timestamp.h"
#include "test/fuzz/input.h"

static void check_timestamp(const char *text)
{
    char again[TIMESTAMP_SIZE];
    int64_t us, us_again;

    if (!input_taken(timestamp_parse(text, &us)))
        return;
    timestamp_format_micro(us, again);
    if (us < 0 || us >= INT64_C(253402300800) * 1000000) /* years below 1970 or of five digits */
        return;
    MUST(input_taken(timestamp_parse(again, &us_again)));
    MUST(us == us_again);
}

static void check_duration(const char *text)
{
    char again[DURATION_SIZE];
    uint64_t ms, ms_again;

    if (!input_taken(duration_parse(text, &ms)))
        return;
    duration_format(ms, again);
    MUST(input_taken(duration_parse(again, &ms_again)));
    MUST(ms == ms_again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(freep) char *text = input_text(data, size);

    check_timestamp(text);
    check_duration(text);
    return 0;
}
