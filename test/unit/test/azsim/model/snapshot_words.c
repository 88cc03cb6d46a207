/* The words of scripts that are about snapshots and what is made from them. */
#include "lib/base/alloc.h"
#include "test/azsim/model/snapshot.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/model/world.h"

static char *id_of(const struct world *world, const char *type, const char *name)
{
    return group_resource_id(world->model->groups[0], type, name);
}

static struct snapshot *find_snapshot(const struct world *world, const char *name)
{
    CLEANUP(freep) char *id = id_of(world, "snapshots", name);
    CLEANUP(freep) char *key = resource_key(id);

    return snapshot_find(world->model, key);
}

/* A source is a disk, or a snapshot if there is one of that name. */
static char *source_id(struct world *world, const char *name)
{
    return id_of(world, find_snapshot(world, name) ? "snapshots" : "disks", name);
}

struct refusal *do_snapshot(struct world *world, char **words, size_t n)
{
    const char *how = word_or(words, n, 3, "incremental");
    CLEANUP(freep) char *source = source_id(world, words[2]);
    json_t *body = json_pack(
        "{s:s, s:{s:b, s:{s:s, s:s}}}", "location", word_or(words, n, 4, "eastus"), "properties",
        "incremental", strcmp(how, "full") != 0, "creationData", "createOption",
        strcmp(how, "start") == 0 ? "CopyStart" : "Copy", "sourceResourceId", source);
    struct operation *operation = NULL;
    struct snapshot *snapshot;
    struct refusal *refusal =
        snapshot_put(world->model, world->model->groups[0], words[1], body, &snapshot, &operation);

    json_decref(body);
    note_operation(world, refusal, operation);
    if (!refusal)
        loop_advance(world->loop, 1000);
    return refusal;
}

struct refusal *do_restore(struct world *world, char **words, size_t n)
{
    int size = number_of(word_or(words, n, 3, "0"));
    const char *zone = word_or(words, n, 5, "1");
    CLEANUP(freep) char *source = source_id(world, words[2]);
    json_t *body = json_pack("{s:s, s:{s:s}, s:{s:{s:s, s:s}}, s:[s]}", "location",
                             word_or(words, n, 6, "eastus"), "sku", "name",
                             word_or(words, n, 4, "Premium_LRS"), "properties", "creationData",
                             "createOption", "Copy", "sourceResourceId", source, "zones", zone);
    struct operation *operation = NULL;
    struct disk *disk;

    if (size)
        json_object_set_new(json_object_get(body, "properties"), "diskSizeGB", json_integer(size));
    struct refusal *refusal =
        disk_put(world->model, world->model->groups[0], words[1], body, &disk, &operation);
    json_decref(body);
    note_operation(world, refusal, operation);
    if (!refusal)
        loop_advance(world->loop, 1000);
    return refusal;
}

struct refusal *do_grow(struct world *world, char **words, size_t n)
{
    json_t *change = json_pack("{s:{s:i}}", "properties", "diskSizeGB", number_of(words[2]));
    struct operation *operation = NULL;
    struct refusal *refusal = disk_patch(find_disk(world, words[1]), change, &operation);

    (void)n;
    json_decref(change);
    note_operation(world, refusal, operation);
    if (!refusal)
        loop_advance(world->loop, 2000);
    return refusal;
}

struct refusal *do_forget(struct world *world, char **words, size_t n)
{
    struct operation *operation = NULL;
    struct refusal *refusal = snapshot_delete(find_snapshot(world, words[1]), &operation);

    (void)n;
    note_operation(world, refusal, operation);
    if (!refusal)
        loop_advance(world->loop, 1000);
    return refusal;
}

struct refusal *look_snapshot(struct world *world, char **words, size_t n)
{
    const struct snapshot *snapshot = find_snapshot(world, words[1]);
    struct buffer found = {.limit = 4096};

    if (snapshot)
        buffer_printf(&found, "%lld %g%s ", (long long)snapshot->size_gib,
                      copy_percent(&snapshot->copy, model_now_us(world->model)),
                      snapshot->copy.stopped_us ? " stopped" : "");
    if (snapshot && !model_location_is(world->model, snapshot_location(snapshot)))
        buffer_printf(&found, "in %s ", snapshot_location(snapshot));
    if (!snapshot)
        buffer_printf(&found, "gone ");
    expect_words(found.data, words, 2, n);
    buffer_fini(&found);
    return NULL;
}

struct refusal *look_percent(struct world *world, char **words, size_t n)
{
    const struct disk *disk = find_disk(world, words[1]);
    struct buffer found = {.limit = 4096};

    buffer_printf(&found, "%lld %g ", (long long)disk->spec.size_gib,
                  copy_percent(&disk->copy, model_now_us(world->model)));
    expect_words(found.data, words, 2, n);
    buffer_fini(&found);
    return NULL;
}
