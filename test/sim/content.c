#include "test/sim/content.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/snapshot.h"

void contents_fini(struct contents *contents)
{
    HASH_FOREACH(contents->by_id, content) {
        HASH_DEL(contents->by_id, content);
        free(content);
    }
}

struct content *content_of(struct contents *contents, const char *unique_id)
{
    struct content *content;

    HASH_FIND_STR(contents->by_id, unique_id, content);
    if (content)
        return content;
    content = mem_alloc(sizeof *content);
    memcpy(content->unique_id, unique_id, sizeof content->unique_id);
    HASH_ADD_STR(contents->by_id, unique_id, content);
    return content;
}

/* ---- what Azure does with them ---- */

static bool is_snapshot(const struct contents *contents, const char *unique_id)
{
    HASH_FOREACH(contents->model->snapshots, snapshot) {
        if (strcmp(snapshot->unique_id, unique_id) == 0)
            return true;
    }
    return false;
}

/* A snapshot stays what it was when it was taken; a disk is what it has become. */
static struct err *copy(void *ctx, const char *from, const char *to)
{
    struct contents *contents = ctx;
    const struct content *source = content_of(contents, from);
    struct content *made = content_of(contents, to);
    bool taken = is_snapshot(contents, from);

    memcpy(made->origin, taken ? source->origin : source->unique_id, sizeof made->origin);
    made->moment = taken ? source->moment : loop_now(contents->model->loop);
    memcpy(made->given, source->filesystem, sizeof made->given);
    memcpy(made->filesystem, source->filesystem, sizeof made->filesystem);
    made->unclean = source->unclean;
    return NULL;
}

static struct err *attach(void *ctx, const struct vm *vm, unsigned lun, const struct disk *disk)
{
    (void)ctx, (void)vm, (void)lun, (void)disk;
    return NULL;
}

static void detach(void *ctx, const struct vm *vm, unsigned lun, const struct disk *disk)
{
    (void)ctx, (void)vm, (void)lun, (void)disk;
}

static void start(void *ctx, const struct vm *vm)
{
    (void)ctx, (void)vm;
}

static void resize(void *ctx, const struct disk *disk)
{
    (void)ctx, (void)disk;
}

static void remove_content(void *ctx, const char *unique_id)
{
    (void)ctx, (void)unique_id;
}

const struct model_devices CONTENT_DEVICES = {
    .attach = attach,
    .detach = detach,
    .start = start,
    .resize = resize,
    .copy = copy,
    .remove = remove_content,
};
