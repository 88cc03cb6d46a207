#include "test/azsim/journal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/base/log.h"
#include "lib/base/timestamp.h"

/* Queries of operations are more than 5 kB of no interest. An answer is large enough for all
 * entries at their largest. */
enum { MAX_PATH = 1000, MAX_QUERY = 200, MAX_ANSWER = 256 * 1024 * 1024 };

struct journal {
    char *path;
    FILE *file;
    size_t file_size;
    uint64_t last;
    char *entries[JOURNAL_MAX_ENTRIES]; /* number N is at N modulo the size */
};

static void keep(struct journal *journal, uint64_t number, char *text)
{
    char **place = &journal->entries[number % JOURNAL_MAX_ENTRIES];

    free(*place);
    *place = text;
    journal->last = number;
}

/* ---- opening ---- */

static uint64_t number_of(const char *line)
{
    CLEANUP(json_decrefp) json_t *json = json_loads(line, 0, NULL);

    return (uint64_t)json_integer_value(json_object_get(json, "number"));
}

/* What earlier runs wrote. A line that was cut off is dropped, the next one begins at its place. */
static void read_back(struct journal *journal, FILE *file)
{
    CLEANUP(freep) char *line = NULL;
    size_t size = 0;
    ssize_t length;

    while ((length = getline(&line, &size, file)) > 0 && line[length - 1] == '\n') {
        uint64_t number = number_of(line);

        journal->file_size += (size_t)length;
        if (number > 0)
            keep(journal, number, mem_strndup(line, (size_t)length - 1));
    }
}

struct err *journal_open(const char *folder, struct journal **ret)
{
    CLEANUP(journal_freep) struct journal *journal = mem_alloc(sizeof *journal);

    journal->path = mem_printf("%s/journal.jsonl", folder);
    journal->file = fopen(journal->path, "a+e");
    if (!journal->file)
        return err_new(ERR_INTERNAL, "%s: %s", journal->path, strerror(errno));
    rewind(journal->file);
    read_back(journal, journal->file);
    if (ftruncate(fileno(journal->file), (off_t)journal->file_size) < 0)
        return err_new(ERR_INTERNAL, "%s: %s", journal->path, strerror(errno));
    *ret = TAKE_PTR(journal);
    return NULL;
}

void journal_free(struct journal *journal)
{
    if (!journal)
        return;
    for (size_t i = 0; i < JOURNAL_MAX_ENTRIES; i++)
        free(journal->entries[i]);
    if (journal->file)
        fclose(journal->file);
    free(journal->path);
    free(journal);
}

/* ---- writing ---- */

static int shortened(const char *text, size_t most)
{
    size_t length = strlen(text);

    return (int)(length < most ? length : most);
}

/* {"UpdateVMResource": 11, ...}: what is left in the buckets that were charged. */
static void add_charges(json_t *json, const struct arm_record *record)
{
    json_t *charged = json_object();

    for (size_t i = 0; i < COUNT_OF(record->charges); i++) {
        const struct throttle_charge *charge = record->charges[i];

        for (size_t j = 0; charge && j < charge->n; j++)
            json_object_set_new(charged, charge->limits[j].limit,
                                json_integer(charge->limits[j].left));
        if (charge && charge->refused)
            json_object_set_new(json, "throttled", json_string(charge->refused));
    }
    if (json_object_size(charged) > 0)
        json_object_set(json, "charged", charged);
    json_decref(charged);
    if (record->fault)
        json_object_set_new(json, "fault", json_string(record->fault));
}

static json_t *entry_json(uint64_t number, const struct arm_record *record)
{
    const struct http_call *call = record->call;
    const char *version = http_header_find(call->arguments, call->n_arguments, "api-version");
    char time[TIMESTAMP_SIZE];

    timestamp_format_micro(record->wall_us, time);
    json_t *json =
        json_pack("{s:I, s:s, s:s, s:s#, s:s*, s:s#, s:i, s:I, s:s*, s:s*, s:s*, s:s*}", "number",
                  (json_int_t)number, "time", time, "method", call->method, "path", call->path,
                  shortened(call->path, MAX_PATH), "apiVersion", version, "query", call->query,
                  shortened(call->query, MAX_QUERY), "status", record->status, "latencyMs",
                  (json_int_t)record->latency_ms, "kind", record->kind, "principal",
                  record->principal, "resource", record->resource, "vm", record->vm);

    if (!json) /* a path or query that is not UTF-8 */
        json = json_pack("{s:I, s:s, s:s, s:i}", "number", (json_int_t)number, "time", time,
                         "method", call->method, "status", record->status);
    add_charges(json, record);
    if (record->attached)
        json_object_set_new(json, "attached", arm_disk_names(record->attached));
    if (record->detached)
        json_object_set_new(json, "detached", arm_disk_names(record->detached));
    return json;
}

static void start_new_file(struct journal *journal)
{
    CLEANUP(freep) char *old = mem_printf("%s.1", journal->path);

    fclose(journal->file);
    rename(journal->path, old);
    journal->file = fopen(journal->path, "ae");
    journal->file_size = 0;
}

void journal_record(void *ctx, const struct arm_record *record)
{
    struct journal *journal = ctx;
    json_t *json = entry_json(journal->last + 1, record);
    char *text = json_dumps(json, JSON_COMPACT);

    json_decref(json);
    keep(journal, journal->last + 1, text);
    if (journal->file_size > JOURNAL_MAX_FILE)
        start_new_file(journal);
    if (!journal->file || fprintf(journal->file, "%s\n", text) < 0 || fflush(journal->file) != 0)
        log_error("%s: %s", journal->path, strerror(errno));
    journal->file_size += strlen(text) + 1;
}

/* ---- reading ---- */

uint64_t journal_last(const struct journal *journal)
{
    return journal->last;
}

char *journal_text(const struct journal *journal, uint64_t after, size_t limit)
{
    uint64_t oldest = journal->last > JOURNAL_MAX_ENTRIES ? journal->last - JOURNAL_MAX_ENTRIES : 0;
    uint64_t number = after > oldest ? after : oldest;
    struct buffer text = {.limit = MAX_ANSWER};
    const char *separator = "\n";

    buffer_printf(&text, "{\"last\": %llu, \"entries\": [", (unsigned long long)journal->last);
    for (; number < journal->last && limit > 0; number++) {
        const char *entry = journal->entries[(number + 1) % JOURNAL_MAX_ENTRIES];

        if (!entry)
            continue;
        buffer_printf(&text, "%s%s", separator, entry);
        separator = ",\n";
        limit--;
    }
    buffer_printf(&text, "]}\n");
    return buffer_take(&text);
}
