#include "azdiskctl/logs.h"

#include <string.h>

#include "azdiskctl/document.h"
#include "azdiskctl/pod_log.h"
#include "azdiskctl/text_table.h"
#include "lib/base/alloc.h"

enum { MOST_OF_A_LOG = 16 * 1024 * 1024, MOST_OF_ALL = 64 * 1024 * 1024 };

/* ---- reading them ---- */

static void note_unread(json_t *unread, const json_t *source, const char *error)
{
    json_array_append_new(unread,
                          json_pack("{s:s, s:s, s:s}", "pod", text_of(source, "pod"), "container",
                                    text_of(source, "container"), "error", error));
}

/* Of a log that broke off, the last line may have no end: no time can be told of it, and who reads
 * on has it anew. */
static size_t whole_length(const struct log_tail *tail, bool broke_off)
{
    const struct buffer *text = &tail->text;
    const char *end = broke_off && text->length ? memrchr(text->data, '\n', text->length) : NULL;

    return end ? (size_t)(end - text->data) + 1 : broke_off ? 0 : text->length;
}

static void read_source(struct task *self, const struct logs_config *config,
                        struct bearer_token *token, const json_t *source,
                        const struct log_names *names, struct log_lines *lines,
                        struct log_extent *extent, json_t *unread)
{
    CLEANUP(log_tail_fini) struct log_tail tail;
    const struct pod_log log = {.namespace_ = text_of(source, "namespace"),
                                .pod = text_of(source, "pod"),
                                .container = text_of(source, "container"),
                                .previous = json_is_true(json_object_get(source, "previous")),
                                .timestamps = true,
                                .since_ms = config->since_ms};

    log_tail_init(&tail, MOST_OF_A_LOG);
    CLEANUP(err_freep) struct err *err = pod_log_read(self, config->connection, token, &log, &tail);
    log_tail_end(&tail);
    extent->failed = err != NULL;
    log_lines_add(lines, source, tail.text.data, whole_length(&tail, extent->failed), names,
                  &extent->cursor);
    if (err)
        note_unread(unread, source, err_message(err));
    else if (tail.bytes > tail.text.length)
        note_unread(unread, source, "only its newest 16 MiB were looked at");
}

json_t *logs_read(struct task *self, const struct logs_config *config, struct bearer_token *token,
                  const json_t *sources, const struct log_names *names,
                  struct log_extent *ret_extents)
{
    struct log_lines lines = {0};
    json_t *unread = json_array(), *source;
    size_t i;

    json_array_foreach(sources, i, source) {
        ret_extents[i] = (struct log_extent){.left_out = lines.bytes >= MOST_OF_ALL};
        if (ret_extents[i].left_out)
            note_unread(unread, source, "the lines of the others have 64 MiB");
        else
            read_source(self, config, token, source, names, &lines, &ret_extents[i], unread);
    }
    json_t *document = json_pack("{s:o, s:o}", "lines", log_lines_json(&lines), "unread", unread);
    log_lines_fini(&lines);
    return document;
}

static struct err *read_all(struct task *self, const struct logs_config *config,
                            struct log_subject *subject, json_t **ret)
{
    CLEANUP(json_decrefp) json_t *sources = NULL;

    TRY(log_subject_find(self, config, subject));
    TRY(log_subject_sources(self, config, subject, &sources));
    CLEANUP(freep)
    struct log_extent *extents = mem_alloc((json_array_size(sources) + 1) * sizeof *extents);
    struct bearer_token *token = bearer_token_new(loop_of(self), &config->connection->config);
    *ret = logs_read(self, config, token, sources, &subject->names, extents);
    bearer_token_unref(token);
    return NULL;
}

struct err *logs_json(struct task *self, const struct logs_config *config, json_t **ret)
{
    CLEANUP(log_subject_fini) struct log_subject subject = {0};

    return read_all(self, config, &subject, ret);
}

/* ---- what is said of it ---- */

bool logs_are_complete(const json_t *document)
{
    return json_array_size(json_object_get(document, "unread")) == 0;
}

void logs_text(const json_t *document, struct buffer *out)
{
    static const char *const members[] = {"time", "pod", "container", "text"};
    struct text_table table = {.columns = COUNT_OF(members)};
    const json_t *entry;
    size_t i;

    json_array_foreach(json_object_get(document, "lines"), i, entry)
        text_table_add_members(&table, entry, members);
    text_table_write(&table, "", out);
    json_array_foreach(json_object_get(document, "unread"), i, entry)
        buffer_printf(out, "incomplete: %s %s: %s\n", text_of(entry, "pod"),
                      text_of(entry, "container"), text_of(entry, "error"));
}
