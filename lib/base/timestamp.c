#include "lib/base/timestamp.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* Without a zone; returns the length and what is left of a second. */
static size_t format_seconds(int64_t us, char text[TIMESTAMP_SIZE], long *ret_micros)
{
    time_t seconds = (time_t)(us / 1000000);
    long micros = (long)(us % 1000000);
    struct tm tm;

    if (micros < 0) {
        micros += 1000000;
        seconds--;
    }
    gmtime_r(&seconds, &tm);
    *ret_micros = micros;
    /* strftime would not pad the year */
    size_t length = (size_t)snprintf(text, TIMESTAMP_SIZE, "%04ld", tm.tm_year + 1900L);
    return length + strftime(text + length, TIMESTAMP_SIZE - length, "-%m-%dT%H:%M:%S", &tm);
}

void timestamp_format(int64_t us, char text[TIMESTAMP_SIZE])
{
    long micros;
    size_t length = format_seconds(us, text, &micros);

    snprintf(text + length, TIMESTAMP_SIZE - length, "Z");
}

void timestamp_format_micro(int64_t us, char text[TIMESTAMP_SIZE])
{
    long micros;
    size_t length = format_seconds(us, text, &micros);

    snprintf(text + length, TIMESTAMP_SIZE - length, ".%06ldZ", micros);
}

/* Exactly `n` digits with a value from 0 to `most`; `text` moves behind them. */
static bool parse_digits(const char **text, int n, int most, int *ret_number)
{
    int number = 0;

    for (int i = 0; i < n; i++, (*text)++) {
        if (!isdigit((unsigned char)**text))
            return false;
        number = number * 10 + (**text - '0');
    }
    *ret_number = number;
    return number <= most;
}

static bool parse_one_of(const char **text, const char *allowed)
{
    return **text && strchr(allowed, *(*text)++);
}

static bool parse_date(const char **text, struct tm *tm)
{
    if (!parse_digits(text, 4, 9999, &tm->tm_year) || !parse_one_of(text, "-") ||
        !parse_digits(text, 2, 12, &tm->tm_mon) || !parse_one_of(text, "-") ||
        !parse_digits(text, 2, 31, &tm->tm_mday))
        return false;
    tm->tm_year -= 1900;
    tm->tm_mon -= 1;
    return true;
}

static bool parse_time_of_day(const char **text, struct tm *tm)
{
    return parse_digits(text, 2, 23, &tm->tm_hour) && parse_one_of(text, ":") &&
           parse_digits(text, 2, 59, &tm->tm_min) && parse_one_of(text, ":") &&
           parse_digits(text, 2, 59, &tm->tm_sec);
}

static bool parse_fraction(const char **text, int64_t *ret_us)
{
    int64_t us = 0, scale = 100000;

    *ret_us = 0;
    if (**text != '.')
        return true;
    const char *digits = ++*text;
    for (; isdigit((unsigned char)**text); (*text)++, scale /= 10)
        us += (**text - '0') * scale;
    *ret_us = us;
    return *text > digits && *text <= digits + 9;
}

static bool parse_zone(const char *text, int64_t *ret_seconds)
{
    int hours, minutes, sign = *text == '-' ? -1 : 1;

    *ret_seconds = 0;
    if (strcasecmp(text, "z") == 0)
        return true;
    if (!parse_one_of(&text, "+-") || !parse_digits(&text, 2, 23, &hours) ||
        !parse_one_of(&text, ":") || !parse_digits(&text, 2, 59, &minutes) || *text)
        return false;
    *ret_seconds = sign * (hours * 3600 + minutes * 60);
    return true;
}

struct err *timestamp_parse(const char *text, int64_t *ret_us)
{
    struct tm tm = {0};
    const char *rest = text;
    int64_t fraction, offset;

    if (!parse_date(&rest, &tm) || !parse_one_of(&rest, "Tt ") || !parse_time_of_day(&rest, &tm) ||
        !parse_fraction(&rest, &fraction) || !parse_zone(rest, &offset))
        return err_new(ERR_INVALID, "\"%s\" is not a time such as 2026-11-21T08:51:00Z", text);

    struct tm day = tm; /* timegm moves the 30th of February to March */
    int64_t seconds = timegm(&tm);
    if (tm.tm_mon != day.tm_mon || tm.tm_mday != day.tm_mday)
        return err_new(ERR_INVALID, "\"%s\" is not a time: there is no such day", text);
    *ret_us = (seconds - offset) * 1000000 + fraction;
    return NULL;
}

int64_t timestamp_noted(const char *text)
{
    int64_t us = 0;
    CLEANUP(err_freep) struct err *err = text ? timestamp_parse(text, &us) : NULL;

    return err ? 0 : us;
}
