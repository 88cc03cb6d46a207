/* The store beside a naive model, under random histories.
 *
 * A server of a few keys is an array that holds every state each key ever had. Its events reach the
 * store in order, the answers of our own writes in any order and much later, lists whenever. After
 * each step the store must not be behind what it was told, go back in time, or show what never was;
 * its indexes, its iteration, its order and what its observers heard must agree with it. When all
 * has been delivered, it must be equal to the server. Now and then the server is restored from a
 * backup; the next list must then make up for that.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/kube/store.h"
#include "lib/rt/random.h"
#include "test/unit/expect.h"
#include "test/unit/lib/kube/objects.h"

enum { KEYS = 5, STEPS = 300, SEEDS = 300, VALUES = 3, BUMP = 10 };

/* What one write did. Versions are indexes of this array, from 1. */
struct change {
    unsigned key;
    bool deleted;
    bool lost; /* by a restore; or it is none, but a number that a restore has passed over */
    char value[2];
    bool answer_pending; /* it was ours, and its answer has not been applied yet */
};

struct world {
    struct random random;
    struct change changes[STEPS + 1];
    unsigned newest;
    unsigned told;   /* up to which the store has been told by events and lists */
    unsigned listed; /* the newest list of which it has had anything */
    bool restored;   /* since the last whole list */
    struct store *store;
    struct store_index *by_value;
    struct kube_object *observed[KEYS]; /* as the observer knows it */
    unsigned shown[KEYS];               /* the newest state that the store has had of a key */
};

static const char *name_of(unsigned key)
{
    static const char *const names[KEYS] = {"a", "b", "c", "d", "e"};

    return names[key];
}

static const char *value_of(const struct kube_object *object)
{
    return KUBE_AS(Api__Node, object)->spec->provider_id;
}

/* The last change of the key up to a version; 0: none. */
static unsigned state_at(const struct world *world, unsigned key, unsigned version)
{
    for (unsigned i = version; i > 0; i--)
        if (world->changes[i].key == key && !world->changes[i].lost)
            return i;
    return 0;
}

static bool exists_at(const struct world *world, unsigned key, unsigned version)
{
    unsigned change = state_at(world, key, version);

    return change > 0 && !world->changes[change].deleted;
}

/* ---- what happens ---- */

static void write_something(struct world *world)
{
    unsigned key = (unsigned)random_below(&world->random, KEYS);
    bool there = exists_at(world, key, world->newest);

    world->changes[++world->newest] = (struct change){
        .key = key,
        .deleted = there && random_below(&world->random, 3) == 0,
        .value = {(char)('x' + random_below(&world->random, VALUES)), '\0'},
        .answer_pending = random_below(&world->random, 2) == 0,
    };
}

static struct kube_object *object_at(const struct world *world, unsigned version)
{
    const struct change *change = &world->changes[version];

    return node_of(name_of(change->key), version, change->value);
}

/* A watch from before a restore is refused. */
static void deliver_event(struct world *world)
{
    if (world->told == world->newest || world->restored)
        return;
    world->told++;
    if (world->changes[world->told].lost)
        return;
    CLEANUP(kube_object_unrefp) struct kube_object *object = object_at(world, world->told);
    if (world->changes[world->told].deleted)
        store_remove(world->store, object);
    else
        store_put(world->store, object);
}

/* The answer to some write of ours that changed an object; deletions have none. */
static void deliver_answer(struct world *world)
{
    unsigned start = 1 + (unsigned)random_below(&world->random, world->newest + 1);

    for (unsigned version = start; version <= world->newest; version++) {
        struct change *change = &world->changes[version];

        if (!change->answer_pending || change->deleted)
            continue;
        change->answer_pending = false;
        CLEANUP(kube_object_unrefp) struct kube_object *object = object_at(world, version);
        store_apply_write(world->store, object);
        return;
    }
}

/* Everything since some moment is lost, and the next write has a later number than any before. */
static void restore(struct world *world)
{
    unsigned backup = world->newest - (unsigned)random_below(&world->random, world->newest / 2 + 1);
    unsigned from = backup + 1;

    for (world->newest += BUMP; from <= world->newest; from++)
        world->changes[from].lost = true;
    world->restored = true;
    world->listed = world->newest;
}

/* A list of any state not older than what the store knows; while it is read, others go on. */
static void relist(struct world *world)
{
    unsigned oldest = world->listed > world->told ? world->listed : world->told;
    unsigned version = oldest + (unsigned)random_below(&world->random, world->newest - oldest + 1);

    world->listed = version;
    store_begin_list(world->store);
    for (unsigned key = 0; key < KEYS; key++) {
        if (random_below(&world->random, 20) == 0)
            return; /* it breaks off */
        if (random_below(&world->random, 4) == 0)
            deliver_answer(world);
        if (random_below(&world->random, 4) == 0 && world->newest < STEPS)
            write_something(world);
        if (!exists_at(world, key, version))
            continue;
        CLEANUP(kube_object_unrefp)
        struct kube_object *object = object_at(world, state_at(world, key, version));
        store_put_listed(world->store, object, version);
    }
    store_end_list(world->store, version);
    world->told = version;
    for (unsigned key = 0; key < KEYS && world->restored; key++)
        world->shown[key] = 0;
    world->restored = false;
}

/* ---- what must hold ---- */

static unsigned key_of(const struct kube_object *object)
{
    return (unsigned)(object->key[0] - 'a');
}

static void observe(void *ctx, struct kube_object *before, struct kube_object *after)
{
    struct world *world = ctx;
    unsigned key = key_of(after ? after : before);

    assert_ptr_equal(world->observed[key], before);
    world->observed[key] = after;
}

static void check_key(struct world *world, unsigned key)
{
    const struct kube_object *object = store_get(world->store, name_of(key));
    unsigned known = state_at(world, key, world->told);

    assert_ptr_equal(world->observed[key], object);
    if (world->restored)
        return; /* it may show what has been lost */
    if (!object) {
        if (exists_at(world, key, world->told) || known < world->shown[key])
            fail_msg("%s is missing, told up to %u", name_of(key), world->told);
        return;
    }
    if (object->version < world->shown[key])
        fail_msg("%s went back from %u to %u", name_of(key), world->shown[key],
                 (unsigned)object->version);
    world->shown[key] = (unsigned)object->version;
    const struct change *change = &world->changes[object->version];
    assert_in_range(object->version, 1, world->newest);
    assert_int_equal(change->key, key);
    assert_string_equal(value_of(object), change->value);
    assert_false(change->deleted);
    assert_false(change->lost);
    if (object->version < known)
        fail_msg("%s is of version %u, though %u was told", name_of(key), (unsigned)object->version,
                 known);
}

static size_t count_found(const struct world *world, const char *value)
{
    size_t n;
    struct kube_object *const *objects = store_find(world->by_value, value, &n);

    for (size_t i = 0; i < n; i++) {
        assert_string_equal(value_of(objects[i]), value);
        assert_ptr_equal(store_get(world->store, objects[i]->key), objects[i]);
    }
    return n;
}

static void check_order(const struct world *world, size_t n)
{
    const char *last = "";

    for (struct kube_object *object; (object = store_after(world->store, last)); n--) {
        assert_ptr_equal(store_get(world->store, object->key), object);
        assert_true(strcmp(object->key, last) > 0);
        last = object->key;
    }
    assert_int_equal(n, 0);
}

static void check(struct world *world)
{
    size_t n = 0, found = 0;

    for (unsigned key = 0; key < KEYS; key++)
        check_key(world, key);
    STORE_FOREACH(world->store, object) {
        assert_ptr_equal(store_get(world->store, object->key), object);
        n++;
    }
    assert_int_equal(store_count(world->store), n);
    check_order(world, n);
    for (unsigned i = 0; i < VALUES; i++)
        found += count_found(world, (char[]){(char)('x' + i), '\0'});
    assert_int_equal(found, n);
}

static void check_equal(const struct world *world)
{
    for (unsigned key = 0; key < KEYS; key++) {
        const struct kube_object *object = store_get(world->store, name_of(key));

        assert_int_equal(object != NULL, exists_at(world, key, world->newest));
        if (object)
            assert_int_equal(object->version, state_at(world, key, world->newest));
    }
}

/* ---- runs ---- */

static void by_value(const struct kube_object *object, void (*emit)(void *ctx, const char *value),
                     void *ctx)
{
    emit(ctx, value_of(object));
}

static void run(uint64_t seed)
{
    struct world *world = mem_alloc(sizeof *world);

    world->random.state = seed;
    world->store = store_new(&NODES);
    store_keep_sorted(world->store);
    world->by_value = store_add_index(world->store, by_value);
    store_observe(world->store, observe, world);
    while (world->newest < STEPS - BUMP) {
        uint64_t choice = random_below(&world->random, 200);

        if (choice < 90)
            write_something(world);
        else if (choice < 140)
            deliver_event(world);
        else if (choice < 190)
            deliver_answer(world);
        else if (choice < 199)
            relist(world);
        else
            restore(world);
        check(world);
    }
    while (world->restored || world->told < world->newest) {
        if (world->restored)
            relist(world);
        deliver_event(world);
        deliver_answer(world);
        check(world);
    }
    for (unsigned i = 0; i < STEPS; i++)
        deliver_answer(world);
    check_equal(world);
    store_free(world->store);
    free(world);
}

static uint64_t running;

static void test_random_histories(void **state)
{
    (void)state;
    for (running = 1; running <= SEEDS; running++)
        run(running);
}

static int tell_seed(void **state)
{
    (void)state;
    if (running <= SEEDS)
        print_error("seed %u\n", (unsigned)running);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_teardown(test_random_histories, tell_seed)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
