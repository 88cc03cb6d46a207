#include "azdiskctl/age.h"

#include "lib/base/alloc.h"

enum { MINUTE = 60, HOUR = 60 * MINUTE, DAY = 24 * HOUR, YEAR = 365 * DAY };

/* The older, the coarser. `rest` is the smaller unit that is said as well, if there is any of it.
 */
static const struct span {
    int64_t below;
    int unit;
    char letter;
    int rest;
    char rest_letter;
} spans[] = {
    {2 * MINUTE, 1, 's', 0, 0},    {10 * MINUTE, MINUTE, 'm', 1, 's'},
    {3 * HOUR, MINUTE, 'm', 0, 0}, {8 * HOUR, HOUR, 'h', MINUTE, 'm'},
    {48 * HOUR, HOUR, 'h', 0, 0},  {8 * DAY, DAY, 'd', HOUR, 'h'},
    {2 * YEAR, DAY, 'd', 0, 0},    {INT64_C(8) * YEAR, YEAR, 'y', DAY, 'd'},
    {INT64_MAX, YEAR, 'y', 0, 0},
};

char *age_text(int64_t seconds)
{
    const struct span *span = spans;

    if (seconds < -1)
        return mem_strdup("<invalid>");
    seconds = seconds < 0 ? 0 : seconds;
    while (seconds >= span->below && span->below < INT64_MAX)
        span++;
    long long units = seconds / span->unit;
    long long rest = span->rest ? seconds % span->unit / span->rest : 0;

    return rest ? mem_printf("%lld%c%lld%c", units, span->letter, rest, span->rest_letter)
                : mem_printf("%lld%c", units, span->letter);
}

char *size_text(int64_t bytes)
{
    static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
    size_t i = 0;

    for (; bytes && bytes % 1024 == 0 && i + 1 < COUNT_OF(units); i++)
        bytes /= 1024;
    return mem_printf("%lld%s", (long long)bytes, units[i]);
}
