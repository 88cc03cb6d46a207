/* log.h - lines for the person who operates the program.
 *
 * One line an entry on stderr, in the text form of Kubernetes programs or as a JSON object. Only
 * the boundary where an event is dealt with (a reconcile, an RPC, main) writes above debug;
 * libraries return errors instead. Never a secret. Any thread; a line is written in one piece.
 */
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };
enum log_format { LOG_TEXT, LOG_JSON };

/* Before other threads start. `verbosity` is Kubernetes' -v: 0 and 1 errors and warnings, 2 to 4
 * information, 5 debug. */
void log_setup(int verbosity, enum log_format format);
bool log_enabled(enum log_level level);

void log_write(enum log_level level, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The arguments are evaluated only if the line is written. */
#define LOG(level, ...)                                                                            \
    do {                                                                                           \
        if (log_enabled(level))                                                                    \
            log_write((level), __FILE__, __LINE__, __VA_ARGS__);                                   \
    } while (0)

#define log_error(...) LOG(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) LOG(LOG_WARNING, __VA_ARGS__)
#define log_info(...) LOG(LOG_INFO, __VA_ARGS__)
#define log_debug(...) LOG(LOG_DEBUG, __VA_ARGS__)
