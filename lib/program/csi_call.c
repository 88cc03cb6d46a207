#include "lib/program/csi_call.h"

#include <inttypes.h>
#include <stdio.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/program/upstream_calls.h"

enum {
    LONGEST_VALUE =
        320, /* a disk's ID has up to 281 bytes; the rest of a longer text is not told */
    LONGEST_SUBJECT = 2048,
};

struct metric METRIC_CSI_OPERATIONS = {
    .name = "azuredisk_csi_operations_seconds",
    .help = "Duration of CSI calls.",
    .type = METRIC_HISTOGRAM,
    .labels = {"driver_name", "method_name", "grpc_status_code"},
    .buckets = METRIC_SECONDS,
};

void csi_call_count(const char *driver_name, const struct rpc_outcome *outcome)
{
    const struct err *err = outcome->err;
    double seconds = (double)outcome->duration_ms / 1000;
    char code[8];

    snprintf(code, sizeof code, "%d", err ? err_kind_grpc_status(err_kind(err)) : 0);
    metric_observe(&METRIC_CSI_OPERATIONS, seconds, driver_name, outcome->method, code);
    upstream_count_call(outcome->method, !err, seconds);
}

/* NULL: the request has no such field. */
static const char *field_text(const ProtobufCMessage *request, const char *name)
{
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(request->descriptor, name);

    if (!field || field->type != PROTOBUF_C_TYPE_STRING || field->label != PROTOBUF_C_LABEL_NONE)
        return NULL;
    return *(const char *const *)((const char *)request + field->offset);
}

/* "volume_id V, node_id N: ", empty if it names nothing. No other field is told: some are secrets.
 */
static char *subject_of(const ProtobufCMessage *request)
{
    static const char *const names[] = {"name", "volume_id", "source_volume_id", "snapshot_id",
                                        "node_id"};
    struct buffer text;

    buffer_init(&text, LONGEST_SUBJECT);
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const char *value = field_text(request, names[i]);

        if (value && *value)
            buffer_printf(&text, "%s%s %.*s", text.length > 0 ? ", " : "", names[i], LONGEST_VALUE,
                          value);
    }
    if (text.length > 0)
        buffer_printf(&text, ": ");
    return buffer_take(&text);
}

void csi_call_log(const struct rpc_outcome *outcome, enum log_level success)
{
    const struct err *err = outcome->err;

    if (!err && !log_enabled(success))
        return;
    CLEANUP(freep) char *subject = outcome->request ? subject_of(outcome->request) : mem_strdup("");

    if (err)
        log_warning("%s: %s%s: %s (%" PRIu64 " ms)", outcome->method, subject,
                    err_kind_reason(err_kind(err)), err_message(err), outcome->duration_ms);
    else
        LOG(*subject ? success : LOG_DEBUG, "%s: %sok (%" PRIu64 " ms)", outcome->method, subject,
            outcome->duration_ms);
}
