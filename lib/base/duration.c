#include "lib/base/duration.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/alloc.h"

static const struct {
    const char *suffix;
    uint64_t in_ms;
} units[] = {{"ms", 1}, {"s", 1000}, {"m", 60 * 1000}, {"h", 60 * 60 * 1000}};

/* "ms" comes before "m" in the table, so the longer suffix wins. 0 if there is none. */
static uint64_t parse_unit(const char **text)
{
    for (size_t i = 0; i < COUNT_OF(units); i++) {
        size_t length = strlen(units[i].suffix);

        if (strncmp(*text, units[i].suffix, length) == 0) {
            *text += length;
            return units[i].in_ms;
        }
    }
    return 0;
}

/* Digits with a fraction; false if there are no digits before the point. */
static bool parse_number(const char **text, double *ret_number)
{
    const char *c = *text;
    double number = 0, scale = 1;

    for (; isdigit((unsigned char)*c); c++)
        number = number * 10 + (*c - '0');
    if (c == *text)
        return false;
    if (*c == '.')
        for (c++; isdigit((unsigned char)*c); c++)
            number += (*c - '0') * (scale /= 10);
    *text = c;
    *ret_number = number;
    return true;
}

struct err *duration_parse(const char *text, uint64_t *ret_ms)
{
    const char *c = text;
    double total = 0, number;
    uint64_t unit;

    if (strcmp(text, "0") == 0) {
        *ret_ms = 0;
        return NULL;
    }
    do {
        if (!parse_number(&c, &number) || !(unit = parse_unit(&c)))
            return err_new(ERR_INVALID, "\"%s\" is not a duration such as 300ms, 30s, 5m or 1h30m",
                           text);
        total += number * (double)unit;
    } while (*c);
    if (total > DURATION_MAX_HOURS * 3600e3)
        return err_new(ERR_INVALID, "\"%s\" is longer than %dh", text, DURATION_MAX_HOURS);
    *ret_ms = (uint64_t)(total + 0.5);
    return NULL;
}

void duration_format(uint64_t ms, char text[DURATION_SIZE])
{
    size_t used = 0;

    if (ms == 0) {
        snprintf(text, DURATION_SIZE, "0s");
        return;
    }
    for (size_t i = COUNT_OF(units); i-- > 0;) {
        uint64_t count = ms / units[i].in_ms;

        ms %= units[i].in_ms;
        if (count)
            used += (size_t)snprintf(text + used, DURATION_SIZE - used, "%llu%s",
                                     (unsigned long long)count, units[i].suffix);
    }
}
