#include "azdiskctl/bundle_logs.h"

#include <string.h>

#include "azdiskctl/document.h"
#include "azdiskctl/log_source.h"
#include "azdiskctl/pod_log.h"
#include "azdiskctl/redact.h"
#include "azdiskctl/redact_object.h"
#include "lib/base/alloc.h"
#include "lib/base/string_set.h"

enum {
    MOST_OF_A_LOG = 2 * 1024 * 1024,
    MOST_OF_ALL = 256 * 1024 * 1024,
    LONGEST_MS = 10 * 60 * 1000, /* for all: each node that does not answer costs half a minute */
};

struct logs {
    const struct kube_connection *connection;
    const struct bundle_folder *folder;
    struct bearer_token *token;
    json_t *files;
    uint64_t deadline;
    size_t bytes, n;
    struct string_set refused; /* namespaces whose logs may not be read */
    size_t left_out;
    const char *because;
};

static char *file_name(const struct logs *logs, const struct pod_log *log)
{
    CLEANUP(freep) char *pod = bundle_name_part(log->pod);
    CLEANUP(freep) char *container = bundle_name_part(log->container);

    return mem_printf("log-%04zu-%s-%s%s.txt", logs->n, pod, container,
                      log->previous ? "-previous" : "");
}

/* One that may not be read is like the others of its namespace. */
static void note_unread(struct logs *logs, const struct pod_log *log, const struct err *unread,
                        json_t *entry)
{
    json_object_set_new(entry, "error", redact_note(err_message(unread)));
    if (err_kind(unread) == ERR_DENIED)
        (void)string_set_add(&logs->refused, log->namespace_);
}

static struct err *collect(struct task *self, struct logs *logs, const struct pod_log *log,
                           json_t *entry)
{
    CLEANUP(log_tail_fini) struct log_tail tail;
    size_t bytes = 0;

    log_tail_init(&tail, MOST_OF_A_LOG);
    CLEANUP(err_freep)
    struct err *unread = pod_log_read(self, logs->connection, logs->token, log, &tail);
    log_tail_end(&tail);
    if (unread)
        note_unread(logs, log, unread, entry);
    if (tail.text.length) {
        CLEANUP(freep) char *name = file_name(logs, log);
        CLEANUP(freep) char *text = redact_text(tail.text.data, tail.text.length, &bytes);

        json_object_set_new(entry, "file", json_string(name));
        TRY(bundle_folder_write(logs->folder, name, text, bytes));
    }
    json_object_set_new(entry, "bytes", json_integer((json_int_t)bytes));
    if (tail.bytes > tail.text.length)
        json_object_set_new(entry, "of", json_integer((json_int_t)tail.bytes));
    logs->bytes += bytes;
    return NULL;
}

static struct err *collect_source(struct task *self, struct logs *logs, const json_t *source)
{
    const struct pod_log log = {.namespace_ = text_of(source, "namespace"),
                                .pod = text_of(source, "pod"),
                                .container = text_of(source, "container"),
                                .previous = json_is_true(json_object_get(source, "previous"))};
    CLEANUP(freep) char *pod = mem_printf("%s/%s", log.namespace_, log.pod);
    json_t *entry = json_pack("{s:s, s:s, s:b}", "pod", pod, "container", log.container, "previous",
                              log.previous);

    logs->n++;
    json_array_append_new(logs->files, entry);
    return collect(self, logs, &log, entry);
}

/* NULL: nothing keeps it from being read. */
static const char *why_not(const struct logs *logs, struct loop *loop, const json_t *source)
{
    if (string_set_has(&logs->refused, text_of(source, "namespace")))
        return "pods/log may not be read";
    if (logs->bytes > MOST_OF_ALL - MOST_OF_A_LOG)
        return "the logs have 256 MiB together";
    return loop_now(loop) >= logs->deadline ? "the logs have taken 10 minutes" : NULL;
}

static struct err *collect_all(struct task *self, struct logs *logs, const json_t *sources)
{
    const json_t *source;
    size_t i;

    json_array_foreach(sources, i, source) {
        const char *because = why_not(logs, loop_of(self), source);

        if (!because)
            TRY(collect_source(self, logs, source));
        else if (logs->left_out++ == 0)
            logs->because = because;
    }
    return NULL;
}

struct err *bundle_logs(struct task *self, const struct kube_connection *connection,
                        const struct bundle_folder *folder, const json_t *sources, json_t *files,
                        json_t **ret_left_out)
{
    struct loop *loop = loop_of(self);
    CLEANUP(json_decrefp) json_t *ordered = log_sources_ordered(sources);
    struct logs logs = {.connection = connection,
                        .folder = folder,
                        .token = bearer_token_new(loop, &connection->config),
                        .files = files,
                        .deadline = loop_deadline(loop, LONGEST_MS)};
    struct err *err = collect_all(self, &logs, ordered);

    bearer_token_unref(logs.token);
    string_set_clear(&logs.refused);
    *ret_left_out = logs.left_out ? json_pack("{s:I, s:s}", "containers", (json_int_t)logs.left_out,
                                              "because", logs.because)
                                  : NULL;
    return err;
}
