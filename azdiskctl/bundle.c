#include "azdiskctl/bundle.h"

#include <string.h>

#include "azdiskctl/bundle_logs.h"
#include "azdiskctl/bundle_objects.h"
#include "azdiskctl/check.h"
#include "azdiskctl/document.h"
#include "azdiskctl/map.h"
#include "azdiskctl/output.h"
#include "azdiskctl/redact.h"
#include "azdiskctl/redact_object.h"
#include "azdiskctl/text_table.h"
#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "lib/json/parse.h"

enum { LARGEST_REPORT = 64 * 1024 * 1024 };

/* ---- the output of other commands ---- */

static struct cluster_query query_for(const struct bundle_config *config, unsigned parts)
{
    return (struct cluster_query){.driver_name = config->driver_name,
                                  .object_namespace = config->object_namespace,
                                  .parts = parts};
}

static struct err *map(struct task *self, const struct bundle_config *config, json_t **ret)
{
    CLEANUP(cluster_fini) struct cluster cluster = {0};
    struct cluster_query query = query_for(config, CLUSTER_SNAPSHOTS);

    TRY(cluster_read(self, config->connection->kube, &query, &cluster));
    *ret = map_json(&cluster);
    return NULL;
}

static struct err *check(struct task *self, const struct bundle_config *config, json_t **ret)
{
    const struct check_config of_check = {.kube = config->connection->kube,
                                          .cloud = config->cloud,
                                          .query = query_for(config, 0),
                                          .prices = ""};

    return check_json(self, &of_check, ret);
}

struct report {
    const char *file;
    struct err *(*make)(struct task *self, const struct bundle_config *config, json_t **ret);
    struct output_writers writers;
};

static const struct report reports[] = {
    {"map.txt", map, {.of = {[OUTPUT_TEXT] = map_text}}},
    {"check.txt", check, {.of = {[OUTPUT_TEXT] = check_text}}},
};

static struct err *write_report(const struct bundle_folder *folder, const struct report *report,
                                const json_t *document, json_t *entry)
{
    CLEANUP(freep) char *text = output_text(&report->writers, OUTPUT_TEXT, document);
    size_t length;
    CLEANUP(freep) char *redacted = redact_text(text, strlen(text), &length);

    if (length > LARGEST_REPORT) {
        json_object_set_new(entry, "error", json_string("it is larger than 64 MiB"));
        return NULL;
    }
    json_object_set_new(entry, "bytes", json_integer((json_int_t)length));
    return bundle_folder_write(folder, report->file, redacted, length);
}

static struct err *collect_reports(struct task *self, const struct bundle_config *config,
                                   const struct bundle_folder *folder, json_t *files)
{
    for (size_t i = 0; i < COUNT_OF(reports); i++) {
        CLEANUP(json_decrefp) json_t *document = NULL;
        json_t *entry = json_pack("{s:s}", "file", reports[i].file);
        CLEANUP(err_freep) struct err *unread = reports[i].make(self, config, &document);

        json_array_append_new(files, entry);
        if (unread)
            json_object_set_new(entry, "error", redact_note(err_message(unread)));
        else
            TRY(write_report(folder, &reports[i], document, entry));
    }
    return NULL;
}

/* ---- the whole ---- */

static struct err *collect(struct task *self, const struct bundle_config *config,
                           const struct bundle_folder *folder, json_t *index)
{
    json_t *objects = json_object_get(index, "objects"), *left_out = NULL;
    struct bundle_scope scope;

    bundle_scope_init(&scope, config->driver_name, config->object_namespace);
    struct err *err = bundle_objects(self, config->connection->kube, folder, &scope, objects);
    if (!err)
        err = bundle_logs(self, config->connection, folder, scope.logs,
                          json_object_get(index, "logs"), &left_out);
    if (left_out)
        json_object_set_new(index, "logsLeftOut", left_out);
    bundle_scope_fini(&scope);
    return err ? err : collect_reports(self, config, folder, json_object_get(index, "reports"));
}

static json_t *new_index(const struct bundle_config *config, const char *directory, int64_t now_us)
{
    char time[TIMESTAMP_SIZE];

    timestamp_format(now_us, time);
    return json_pack("{s:o, s:s, s:s, s:o, s:b, s:[], s:[], s:[]}", "directory",
                     redact_note(directory), "version", VERSION, "collected", time, "driver",
                     redact_note(config->driver_name), "azure", config->cloud != NULL, "objects",
                     "logs", "reports");
}

/* "azdiskctl-bundle-20261127T040000Z" */
static char *own_name(int64_t now_us)
{
    char time[TIMESTAMP_SIZE], *to = time;

    timestamp_format(now_us, time);
    for (const char *at = time; *at; at++)
        if (!strchr("-:", *at))
            *to++ = *at;
    *to = '\0';
    return mem_printf("azdiskctl-bundle-%s", time);
}

/* Behind all that it tells of: a directory without it is not complete. */
static struct err *write_index(const struct bundle_folder *folder, const json_t *index)
{
    CLEANUP(freep) char *text = json_dumps(index, JSON_INDENT(1));

    return bundle_folder_write(folder, "index.json", text, strlen(text));
}

struct err *bundle_json(struct task *self, const struct bundle_config *config, json_t **ret)
{
    int64_t now_us = loop_wall_us(loop_of(self));
    CLEANUP(freep)
    char *directory = config->directory ? mem_strdup(config->directory) : own_name(now_us);
    CLEANUP(bundle_folder_close) struct bundle_folder folder = {.fd = -1};
    CLEANUP(json_decrefp) json_t *index = new_index(config, directory, now_us);

    TRY(bundle_folder_open(directory, &folder));
    TRY(collect(self, config, &folder, index));
    CLEANUP(json_decrefp) json_t *redacted = redact_object(index);
    TRY(write_index(&folder, redacted));
    *ret = TAKE_PTR(redacted);
    return NULL;
}

/* ---- what is said of it ---- */

static const char *const lists[] = {"objects", "logs", "reports"};

static bool is_complete(const json_t *entry)
{
    return !json_object_get(entry, "error") && !json_object_get(entry, "leftOut");
}

bool bundle_is_complete(const json_t *document)
{
    const json_t *entry;
    size_t j;

    for (size_t i = 0; i < COUNT_OF(lists); i++)
        json_array_foreach(json_object_get(document, lists[i]), j, entry) {
            if (!is_complete(entry))
                return false;
        }
    return !json_object_get(document, "logsLeftOut");
}

static long long integer_of(const json_t *entry, const char *member)
{
    return json_integer_value(json_object_get(entry, member));
}

static char *note_of(const json_t *entry)
{
    if (text_of(entry, "error"))
        return mem_printf("could not be read: %s", text_of(entry, "error"));
    if (json_is_true(json_object_get(entry, "unknown")))
        return mem_strdup("the cluster does not know such objects");
    if (integer_of(entry, "leftOut"))
        return mem_printf("no room for %lld more", integer_of(entry, "leftOut"));
    return integer_of(entry, "of") ? mem_printf("the end of %lld bytes", integer_of(entry, "of"))
                                   : mem_strdup("-");
}

static char *number_of(const json_t *entry, const char *member)
{
    return json_object_get(entry, member) ? mem_printf("%lld", integer_of(entry, member))
                                          : mem_strdup("-");
}

/* A log without a file is called after its container. */
static char *name_of(const json_t *entry)
{
    const char *file = text_of(entry, "file");

    return file ? mem_strdup(file)
                : mem_printf("log of %s %s", text_of(entry, "pod"), text_of(entry, "container"));
}

static void add_row(struct text_table *table, const json_t *entry)
{
    text_table_take(table, name_of(entry));
    text_table_take(table, number_of(entry, "objects"));
    text_table_take(table, number_of(entry, "bytes"));
    text_table_take(table, note_of(entry));
}

/* There may be thousands: those that could be read are one row. */
static void add_logs(struct text_table *table, const json_t *logs)
{
    long long n = 0, bytes = 0;
    const json_t *entry;
    size_t i;

    json_array_foreach(logs, i, entry) {
        bytes += integer_of(entry, "bytes");
        n += json_object_get(entry, "file") != NULL;
        if (!is_complete(entry))
            add_row(table, entry);
    }
    text_table_take(table, mem_printf("log-*.txt (%lld)", n));
    text_table_add(table, NULL);
    text_table_take(table, mem_printf("%lld", bytes));
    text_table_add(table, NULL);
}

void bundle_text(const json_t *document, struct buffer *out)
{
    static const char *const head[] = {"FILE", "OBJECTS", "BYTES", "NOTE"};
    const json_t *left_out = json_object_get(document, "logsLeftOut"), *entry;
    struct text_table table = {.columns = COUNT_OF(head)};
    size_t i;

    text_table_add_row(&table, head);
    json_array_foreach(json_object_get(document, "objects"), i, entry)
        add_row(&table, entry);
    add_logs(&table, json_object_get(document, "logs"));
    json_array_foreach(json_object_get(document, "reports"), i, entry)
        add_row(&table, entry);
    text_table_write(&table, "", out);
    if (left_out)
        buffer_printf(out, "\nLogs of %lld more containers were left out: %s.\n",
                      integer_of(left_out, "containers"), text_of(left_out, "because"));
    buffer_printf(out, "\n%s has %s. Look through it before you give it to others.\n",
                  text_of(document, "directory"),
                  bundle_is_complete(document)
                      ? "all of it"
                      : "what could be read; index.json says what is missing");
}
