#include "lib/program/shared_flags.h"

#include "lib/base/log.h"

bool tls_flags_check(const char *program, const struct tls_files *files, const char *address,
                     int *ret_status)
{
    const char *prefix = files->prefix;

    if (!files->certificate[0] != !files->key[0])
        return options_refuse(program, ret_status,
                              "%stls-cert-file and %stls-key-file must be set together", prefix,
                              prefix);
    if (files->client_ca[0] && !files->certificate[0])
        return options_refuse(program, ret_status, "%sclient-ca-file requires %stls-cert-file",
                              prefix, prefix);
    if (files->certificate[0] && !address[0])
        return options_refuse(program, ret_status, "%stls-cert-file requires %saddress", prefix,
                              prefix);
    return true;
}

const char *const LOG_FORMATS[] = {[LOG_TEXT] = "text", [LOG_JSON] = "json", NULL};

void log_flags_apply(const struct log_flags *log)
{
    log_setup((int)log->verbosity, (enum log_format)log->format);
}
