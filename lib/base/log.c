#include "lib/base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/base/timestamp.h"
#include "lib/base/utf8.h"

enum {
    LONGEST_MESSAGE = 16 * 1024, /* the rest of a longer one is cut off */
    LONGEST_LINE = 6 * LONGEST_MESSAGE + 512,
};

static enum log_level threshold = LOG_INFO;
static enum log_format log_format = LOG_TEXT;

static const struct {
    char letter;
    const char *name;
} levels[] = {
    [LOG_ERROR] = {'E', "error"},
    [LOG_WARNING] = {'W', "warning"},
    [LOG_INFO] = {'I', "info"},
    [LOG_DEBUG] = {'D', "debug"},
};

void log_setup(int verbosity, enum log_format format)
{
    threshold = verbosity < 2 ? LOG_WARNING : verbosity < 5 ? LOG_INFO : LOG_DEBUG;
    log_format = format;
}

bool log_enabled(enum log_level level)
{
    return level <= threshold;
}

static int64_t wall_us(void)
{
    struct timeval now;

    gettimeofday(&now, NULL);
    return (int64_t)now.tv_sec * 1000000 + now.tv_usec;
}

/* Control characters would let a message forge lines of its own. */
static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

static bool is_plain(char c, bool json)
{
    return !is_control(c) && !(json && (c == '"' || c == '\\'));
}

static void append_escaped(struct buffer *line, const char *text, bool json)
{
    for (;; text++) {
        const char *plain = text;

        while (*text && is_plain(*text, json))
            text++;
        buffer_printf(line, "%.*s", (int)(text - plain), plain);
        if (!*text)
            return;
        if (is_control(*text))
            buffer_printf(line, json ? "\\u%04x" : "\\x%02x", (unsigned char)*text);
        else
            buffer_printf(line, "\\%c", *text);
    }
}

static void append_prefix(struct buffer *line, enum log_level level, const char *file, int number)
{
    char time_text[TIMESTAMP_SIZE];
    int64_t us = wall_us();
    time_t seconds = (time_t)(us / 1000000);
    struct tm tm;

    if (log_format == LOG_JSON) {
        timestamp_format_micro(us, time_text);
        buffer_printf(line, "{\"time\":\"%s\",\"level\":\"%s\",\"caller\":\"%s:%d\",\"message\":\"",
                      time_text, levels[level].name, file, number);
        return;
    }
    gmtime_r(&seconds, &tm);
    strftime(time_text, sizeof time_text, "%m%d %H:%M:%S", &tm);
    buffer_printf(line, "%c%s.%06d %7d %s:%d] ", levels[level].letter, time_text,
                  (int)(us % 1000000), (int)getpid(), file, number);
}

void log_write(enum log_level level, const char *file, int line_number, const char *format, ...)
{
    struct buffer line;
    va_list args;

    va_start(args, format);
    CLEANUP(freep) char *message = mem_vprintf(format, args);
    va_end(args);

    if (strlen(message) > LONGEST_MESSAGE)
        message[LONGEST_MESSAGE] = '\0';
    utf8_repair(message);
    buffer_init(&line, LONGEST_LINE);
    append_prefix(&line, level, file, line_number);
    append_escaped(&line, message, log_format == LOG_JSON);
    buffer_printf(&line, log_format == LOG_JSON ? "\"}\n" : "\n");
    (void)!write(STDERR_FILENO, line.data, line.length);
    buffer_fini(&line);
}
