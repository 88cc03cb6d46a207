#include "lib/program/shared_flags.h"

#include "lib/base/log.h"

const char *const LOG_FORMATS[] = {[LOG_TEXT] = "text", [LOG_JSON] = "json", NULL};

void log_flags_apply(const struct log_flags *log)
{
    log_setup((int)log->verbosity, (enum log_format)log->format);
}
