#include "test/sim/kube/collection.h"

#include <string.h>

#include "lib/base/alloc.h"

void collection_init(struct collection *collection, struct loop *loop, const struct kind *kind)
{
    *collection = (struct collection){.loop = loop, .kind = kind};
    waiters_init(&collection->watchers);
}

static void change_fini(struct change *change)
{
    version_unref(change->before);
    version_unref(change->event);
}

void collection_fini(struct collection *collection)
{
    loop_stop_timer(collection->loop, &collection->publication);
    for (uint64_t i = collection->oldest; i < collection->next; i++)
        change_fini(&collection->ring[i % HISTORY]);
    for (size_t i = 0; i < collection->n; i++)
        version_unref(collection->objects[i]);
    free(collection->ring);
    free(collection->objects);
}

/* ---- as it is ---- */

static bool find_place(struct version *const *objects, size_t n, const char *key, size_t *ret_place)
{
    size_t low = 0, high = n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(objects[middle]->key, key);

        if (order == 0) {
            *ret_place = middle;
            return true;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *ret_place = low;
    return false;
}

bool collection_place(const struct collection *collection, const char *key, size_t *ret_place)
{
    return find_place(collection->objects, collection->n, key, ret_place);
}

struct version *collection_find(const struct collection *collection, const char *key)
{
    size_t place;

    return collection_place(collection, key, &place) ? collection->objects[place] : NULL;
}

/* Puts a version in its key's place, or empties the place with NULL; returns what was there. The
 * array has room for one more. */
static struct version *replace(struct version **objects, size_t *n, const char *key,
                               struct version *now)
{
    size_t place;

    if (find_place(objects, *n, key, &place)) {
        struct version *before = objects[place];

        objects[place] = now;
        if (!now)
            memmove(objects + place, objects + place + 1,
                    (--*n - place) * sizeof(struct version *));
        return before;
    }
    if (now) {
        memmove(objects + place + 1, objects + place, ((*n)++ - place) * sizeof(struct version *));
        objects[place] = now;
    }
    return NULL;
}

/* ---- publication ---- */

static void publish(void *ctx)
{
    struct collection *collection = ctx;
    uint64_t now = loop_now(collection->loop);
    uint64_t before = collection->published;

    while (collection->published < collection->next &&
           collection_change(collection, collection->published)->seen <= now)
        collection->published++;
    if (collection->published > before)
        waiters_wake(&collection->watchers);
    if (collection->published < collection->next)
        loop_start_timer(collection->loop, &collection->publication,
                         collection_change(collection, collection->published)->seen, publish,
                         collection);
}

/* ---- changes ---- */

static void forget_oldest(struct collection *collection)
{
    struct change *change = &collection->ring[collection->oldest % HISTORY];

    if (change->event->revision > collection->forgotten)
        collection->forgotten = change->event->revision;
    change_fini(change);
    collection->oldest++;
    if (collection->published < collection->oldest)
        collection->published = collection->oldest;
}

static uint64_t time_to_see(const struct collection *collection, uint64_t now)
{
    uint64_t seen = loop_deadline(collection->loop, collection->delay_ms);
    uint64_t last = collection->next > collection->oldest
                        ? collection_change(collection, collection->next - 1)->seen
                        : now;

    return seen > last ? seen : last;
}

static void make_room(struct collection *collection)
{
    if (collection->n < collection->capacity)
        return;
    collection->capacity = collection->capacity ? 2 * collection->capacity : 16;
    collection->objects =
        mem_grow(collection->objects, collection->capacity * sizeof(struct version *));
}

void collection_record(struct collection *collection, struct version *event)
{
    struct version *after = event->born == CHANGE_DELETED ? NULL : version_ref(event);
    uint64_t now = loop_now(collection->loop);
    uint64_t seen = time_to_see(collection, now);

    if (seen > now)
        collection->late_until = seen;
    if (!collection->ring)
        collection->ring = mem_alloc(HISTORY * sizeof *collection->ring);
    if (collection->next - collection->oldest == HISTORY)
        forget_oldest(collection);
    make_room(collection);

    struct version *before = replace(collection->objects, &collection->n, event->key, after);
    collection->ring[collection->next++ % HISTORY] =
        (struct change){.before = before, .event = event, .at = now, .seen = seen};
    publish(collection);
}

/* ---- as it was ---- */

uint64_t collection_after(const struct collection *collection, uint64_t revision)
{
    uint64_t low = collection->oldest, high = collection->next;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (collection_change(collection, middle)->event->revision <= revision)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t collection_seen(const struct collection *collection, uint64_t newest)
{
    if (collection->published == collection->next)
        return newest;
    return collection_change(collection, collection->published)->event->revision - 1;
}

uint64_t collection_at(const struct collection *collection, uint64_t time, uint64_t newest)
{
    uint64_t i = collection_after(collection, newest);

    while (i > collection->oldest && collection_change(collection, i - 1)->at > time)
        newest = collection_change(collection, --i)->event->revision - 1;
    return newest > collection->forgotten ? newest : collection->forgotten;
}

struct version **collection_as_of(const struct collection *collection, uint64_t revision,
                                  size_t *ret_n)
{
    uint64_t first = collection_after(collection, revision);
    size_t room = collection->n + (size_t)(collection->next - first) + 1;
    struct version **objects = mem_alloc(room * sizeof(struct version *));
    size_t n = collection->n;

    if (n > 0)
        memcpy(objects, collection->objects, n * sizeof(struct version *));
    for (uint64_t i = collection->next; i > first; i--) {
        const struct change *change = collection_change(collection, i - 1);

        replace(objects, &n, change->event->key, change->before);
    }
    *ret_n = n;
    return objects;
}
