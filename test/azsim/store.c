#include "test/azsim/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "test/azsim/model/record.h"

/* Fewer bytes of changes than this are never worth a new snapshot. */
enum { LEAST_GROWTH = 1024 * 1024 };

struct store {
    char *path;
    json_t *owner;
    const struct model *model; /* NULL until it starts */
    FILE *file;
    size_t snapshot_size, changes_size;
};

/* ---- reading ---- */

/* One line of the file; `first` names the owner. */
static struct err *read_line(struct store *store, const char *line, bool first, json_t *snapshot)
{
    json_error_t error;
    CLEANUP(json_decrefp) json_t *json = json_loads(line, 0, &error);

    if (!json_is_object(json))
        return err_new(ERR_INVALID, "%s: not written by azsim: %s", store->path, error.text);
    if (!first) {
        records_apply(snapshot, json);
        return NULL;
    }
    if (json_equal(json, store->owner))
        return NULL;
    CLEANUP(freep) char *theirs = json_dumps(json, JSON_COMPACT);
    return err_new(ERR_INVALID, "%s belongs to another configuration: %s", store->path, theirs);
}

static struct err *read_lines(struct store *store, FILE *file, json_t *snapshot)
{
    CLEANUP(freep) char *line = NULL;
    size_t size = 0;
    ssize_t length;

    for (bool first = true; (length = getline(&line, &size, file)) > 0; first = false) {
        if (line[length - 1] != '\n')
            break; /* the program ended while it wrote it */
        TRY(read_line(store, line, first, snapshot));
    }
    return NULL;
}

struct err *store_open(const char *folder, const json_t *owner, struct store **ret_store,
                       json_t **ret_snapshot)
{
    CLEANUP(store_freep) struct store *store = mem_alloc(sizeof *store);
    CLEANUP(json_decrefp) json_t *snapshot = json_object();

    store->path = mem_printf("%s/state.jsonl", folder);
    store->owner = json_deep_copy(owner);
    FILE *file = fopen(store->path, "re");
    if (!file && errno != ENOENT)
        return err_new(ERR_INTERNAL, "%s: %s", store->path, strerror(errno));
    if (file) {
        struct err *err = read_lines(store, file, snapshot);

        fclose(file);
        TRY(err);
    }
    *ret_store = TAKE_PTR(store);
    *ret_snapshot = TAKE_PTR(snapshot);
    return NULL;
}

/* ---- writing ---- */

static bool write_line(FILE *file, const json_t *json, size_t *size)
{
    CLEANUP(freep) char *text = json_dumps(json, JSON_COMPACT);

    *size += strlen(text) + 1;
    return fprintf(file, "%s\n", text) > 0 && fflush(file) == 0;
}

/* The whole file anew; the old one is there until the new one is complete. */
static struct err *rewrite(struct store *store)
{
    CLEANUP(freep) char *path = mem_printf("%s.new", store->path);
    CLEANUP(json_decrefp) json_t *snapshot = records_of_model(store->model);
    FILE *file = fopen(path, "we");

    if (!file)
        return err_new(ERR_INTERNAL, "%s: %s", path, strerror(errno));
    if (store->file)
        fclose(store->file);
    store->file = file;
    store->snapshot_size = store->changes_size = 0;
    if (!write_line(file, store->owner, &store->snapshot_size) ||
        !write_line(file, snapshot, &store->snapshot_size) || rename(path, store->path) < 0)
        return err_new(ERR_INTERNAL, "%s: %s", path, strerror(errno));
    return NULL;
}

struct err *store_start(struct store *store, const struct model *model)
{
    store->model = model;
    return rewrite(store);
}

void store_commit(void *ctx, json_t *changes)
{
    struct store *store = ctx;
    struct err *err = NULL;

    if (!store->model)
        return; /* what is restored is on disk */
    if (!write_line(store->file, changes, &store->changes_size))
        err = err_new(ERR_INTERNAL, "%s: %s", store->path, strerror(errno));
    else if (store->changes_size > LEAST_GROWTH && store->changes_size > store->snapshot_size)
        err = rewrite(store);
    if (err) {
        log_error("saving the state failed: %s", err_message(err));
        exit(1);
    }
}

void store_free(struct store *store)
{
    if (!store)
        return;
    if (store->file)
        fclose(store->file);
    json_decref(store->owner);
    free(store->path);
    free(store);
}
