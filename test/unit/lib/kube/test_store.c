/* Single rules of the store, its indexes and waits; test_store_model.c has the whole. */
#include "lib/kube/store.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"
#include "test/unit/lib/kube/objects.h"

static void put(struct store *store, const char *name, uint64_t version, const char *value)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = node_of(name, version, value);

    store_put(store, object);
}

static void put_listed(struct store *store, const char *name, uint64_t version, const char *value,
                       uint64_t list)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = node_of(name, version, value);

    store_put_listed(store, object, list);
}

static void put_beside(struct store *store, const char *name, uint64_t version, const char *value,
                       uint64_t list)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = node_of(name, version, value);

    store_put_beside(store, object, list);
}

static void take_away(struct store *store, const char *name, uint64_t version)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = node_of(name, version, "");

    store_remove(store, object);
}

static void apply_write(struct store *store, const char *name, uint64_t version, const char *value)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = node_of(name, version, value);

    store_apply_write(store, object);
}

static const char *value_of(const struct kube_object *object)
{
    return KUBE_AS(Api__Node, object)->spec->provider_id;
}

/* "a=1 b=2 ", in the store's order. */
static const char *content(const struct store *store)
{
    static char text[256];
    size_t length = 0;

    text[0] = '\0';
    STORE_FOREACH(store, object)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s=%s ", object->key,
                                   value_of(object));
    return text;
}

static void test_events(void **state)
{
    CLEANUP(store_freep) struct store *store = store_new(&NODES);

    (void)state;
    put(store, "a", 1, "1");
    put(store, "b", 2, "2");
    put(store, "c", 3, "3");
    put(store, "a", 4, "4");
    assert_string_equal(content(store), "a=4 b=2 c=3 "); /* a change does not move it */
    put(store, "a", 1, "old");
    put(store, "a", 4, "again");
    assert_string_equal(content(store), "a=4 b=2 c=3 ");
    take_away(store, "a", 3); /* another one of that name, long ago */
    assert_string_equal(content(store), "a=4 b=2 c=3 ");
    take_away(store, "a", 5);
    take_away(store, "x", 6);
    assert_string_equal(content(store), "b=2 c=3 ");
    put(store, "a", 7, "7");
    assert_string_equal(content(store), "b=2 c=3 a=7 ");
    assert_int_equal(store_count(store), 3);
    assert_string_equal(value_of(store_get(store, "a")), "7");
    assert_null(store_get(store, "x"));
}

static void test_notes(void **state)
{
    CLEANUP(store_freep) struct store *store = store_new(&NODES);

    (void)state;
    put(store, "a", 10, "10");
    apply_write(store, "a", 12, "12");
    apply_write(store, "a", 11, "11");
    apply_write(store, "b", 13, "13");
    assert_string_equal(content(store), "a=12 b=13 ");
    put(store, "a", 12, "event"); /* of what was written */
    assert_string_equal(content(store), "a=12 b=13 ");
    put(store, "b", 13, "event");
    take_away(store, "b", 14);
    apply_write(store, "b", 13, "13"); /* an answer that was overtaken by the deletion */
    assert_string_equal(content(store), "a=12 ");
    apply_write(store, "b", 15, "15"); /* a successor */
    assert_string_equal(content(store), "a=12 b=15 ");
    take_away(store, "b", 14); /* the event of the predecessor's end */
    assert_string_equal(content(store), "a=12 b=15 ");
    take_away(store, "a", 16); /* by a write of ours that took it out of a selection */
    apply_write(store, "a", 16, "16");
    assert_string_equal(content(store), "b=15 ");
}

/* The Node "a" of one life; its value is its version. */
static struct kube_object *a_with_uid(const char *uid, int version)
{
    return object_taken(&api__node__descriptor,
                        mem_printf("{'metadata':{'name':'a','uid':'%s','resourceVersion':'%d'},"
                                   "'spec':{'providerID':'%d'}}",
                                   uid, version, version));
}

static void test_what_is_not_found(void **state)
{
    CLEANUP(store_freep) struct store *store = store_new(&NODES);
    CLEANUP(kube_object_unrefp)
    struct kube_object *gone = a_with_uid("1", 1);
    CLEANUP(kube_object_unrefp)
    struct kube_object *successor = a_with_uid("2", 3);

    (void)state;
    store_put(store, gone);
    put(store, "b", 2, "2");
    store_tombstone(store, gone);
    assert_string_equal(content(store), "b=2 ");
    store_tombstone(store, gone);
    store_put(store, successor);
    store_tombstone(store, gone); /* the answer was late */
    assert_string_equal(content(store), "b=2 a=3 ");
    take_away(store, "a", 4);
    assert_string_equal(content(store), "b=2 ");
}

/* A server gives every object a uid; one without can be no other's predecessor. */
static void test_what_has_no_uid_has_no_tombstone(void **state)
{
    CLEANUP(store_freep) struct store *store = store_new(&NODES);
    CLEANUP(kube_object_unrefp) struct kube_object *bare = node_of("a", 1, "1");
    CLEANUP(kube_object_unrefp) struct kube_object *known = a_with_uid("1", 2);

    (void)state;
    store_put(store, bare);
    store_tombstone(store, bare);
    store_tombstone(store, known);
    assert_string_equal(content(store), "a=1 ");
    store_put(store, known);
    store_tombstone(store, bare);
    assert_string_equal(content(store), "a=2 ");
}

/* Events come later than the answer, and tell of what was before. */
static void test_what_has_a_tombstone_does_not_come_back(void **state)
{
    CLEANUP(store_freep) struct store *store = store_new(&NODES);
    CLEANUP(kube_object_unrefp)
    struct kube_object *a = a_with_uid("1", 5);
    CLEANUP(kube_object_unrefp)
    struct kube_object *later = a_with_uid("1", 7);

    (void)state;
    store_put(store, a);
    store_tombstone(store, a);
    store_put(store, later);
    store_apply_write(store, later);
    assert_string_equal(content(store), "");
    store_remove(store, later);
    store_put(store, later); /* nothing of that kind happens, but nothing is remembered either */
    assert_string_equal(content(store), "a=7 ");
    store_begin_list(store); /* from before its end */
    store_put_listed(store, later, 8);
    store_tombstone(store, later);
    store_put_listed(store, later, 8);
    store_end_list(store, 8);
    store_put(store, later);
    assert_string_equal(content(store), "");
    store_begin_list(store); /* without it: what its successor has of it is another one's */
    store_end_list(store, 9);
    store_put(store, later);
    assert_string_equal(content(store), "a=7 ");
    store_tombstone(store, later);
    store_begin_list(store); /* asked for later, and it is there: its end has never been */
    store_put_listed(store, later, 10);
    assert_string_equal(content(store), "a=7 ");
}

static void test_lists(void **state)
{
    CLEANUP(store_freep) struct store *store = store_new(&NODES);

    (void)state;
    assert_false(store_is_synced(store));
    apply_write(store, "early", 20, "20"); /* the list is older */
    store_begin_list(store);
    put_listed(store, "a", 1, "1", 10);
    put_listed(store, "b", 2, "2", 10);
    assert_false(store_is_synced(store));
    store_end_list(store, 10);
    assert_true(store_is_synced(store));
    assert_string_equal(content(store), "early=20 a=1 b=2 ");

    store_begin_list(store);
    put_listed(store, "b", 2, "2", 30);
    apply_write(store, "gone", 25, "25"); /* deleted before the list, whose answer is slower */
    apply_write(store, "new", 35, "35");  /* made after the list */
    assert_true(store_is_synced(store));  /* as before, while it lasts */
    store_end_list(store, 30);
    assert_string_equal(content(store), "b=2 new=35 ");
    apply_write(store, "a", 29, "29");
    apply_write(store, "c", 30, "30");
    assert_string_equal(content(store), "b=2 new=35 ");

    store_begin_list(store); /* breaks off; nothing goes for that */
    put_listed(store, "d", 40, "40", 40);
    store_begin_list(store);
    put_listed(store, "b", 2, "2", 41);
    store_end_list(store, 41);
    assert_string_equal(content(store), "b=2 ");
}

/* What it told of the time after the backup has never been. */
static void test_lists_of_a_server_that_was_restored(void **state)
{
    static const uint64_t lists[] = {1000, 50}; /* by etcd's manual, and otherwise */

    (void)state;
    for (size_t i = 0; i < COUNT_OF(lists); i++) {
        CLEANUP(store_freep) struct store *store = store_new(&NODES);

        put(store, "changed", 60, "60");
        put(store, "made", 61, "61");
        put(store, "deleted", 40, "40");
        take_away(store, "deleted", 62);
        apply_write(store, "told", 63, "63");
        put(store, "told", 63, "63");
        store_begin_list(store);
        put_listed(store, "changed", 30, "30", lists[i]);
        put_listed(store, "deleted", 40, "40", lists[i]);
        put_listed(store, "told", 31, "31", lists[i]);
        store_end_list(store, lists[i]);
        assert_string_equal(content(store), "changed=30 told=31 deleted=40 ");
        apply_write(store, "changed", lists[i] + 1, "new");
        put(store, "told", lists[i] + 2, "new");
        apply_write(store, "made", lists[i] + 3, "new");
        assert_string_equal(content(store), "changed=new told=new deleted=40 made=new ");
    }
}

/* An answer that was late comes from before the restore. */
static void test_a_note_from_before_a_restore(void **state)
{
    CLEANUP(store_freep) struct store *store = store_new(&NODES);

    (void)state;
    apply_write(store, "written", 60, "60");
    store_begin_list(store);
    put_listed(store, "written", 30, "30", 1000);
    put_listed(store, "a", 31, "31", 1000);
    apply_write(store, "later", 999, "999");
    apply_write(store, "written", 61, "61");
    store_end_list(store, 1000);
    apply_write(store, "a", 62, "62");
    assert_string_equal(content(store), "written=30 a=31 ");
}

static void test_writes_while_a_list_is_on_its_way(void **state)
{
    CLEANUP(store_freep) struct store *store = store_new(&NODES);

    (void)state;
    put(store, "a", 1, "1");
    store_begin_list(store);
    apply_write(store, "a", 11, "11");
    put_listed(store, "a", 1, "1", 10);
    put_listed(store, "b", 2, "2", 10);
    apply_write(store, "b", 12, "12");
    apply_write(store, "c", 13, "13");
    store_end_list(store, 10);
    assert_string_equal(content(store), "a=11 b=12 c=13 ");
    store_begin_list(store); /* of another server, which is behind */
    put_listed(store, "a", 1, "1", 10);
    store_end_list(store, 10);
    assert_string_equal(content(store), "a=11 b=12 c=13 ");
    put(store, "a", 11, "11");
    take_away(store, "b", 14);
    assert_string_equal(content(store), "a=11 c=13 ");
}

static void test_a_list_beside(void **state)
{
    CLEANUP(store_freep) struct store *store = store_new(&NODES);

    (void)state;
    put(store, "a", 15, "lost");
    put(store, "b", 16, "16");
    put(store, "newer", 25, "25");
    put_beside(store, "a", 3, "3", 20); /* a restored server's */
    put_beside(store, "b", 18, "18", 20);
    put_beside(store, "newer", 4, "4", 20);
    put_beside(store, "gone", 5, "5", 20); /* told up to 25: it was deleted since */
    assert_string_equal(content(store), "a=3 b=18 newer=25 ");
    put_beside(store, "c", 29, "29", 30);
    store_begin_list(store); /* the reflector's own, which was on its way */
    put_listed(store, "a", 3, "3", 28);
    store_end_list(store, 28);
    assert_string_equal(content(store), "a=3 c=29 ");
}

static void keep(struct store *store, const char *name, unsigned version)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = node_of(name, version, "");

    store_keep(store, object);
}

static void test_objects_that_cannot_be_read(void **state)
{
    CLEANUP(store_freep) struct store *store = store_new(&NODES);

    (void)state;
    put(store, "a", 1, "1");
    put(store, "b", 2, "2");
    keep(store, "a", 11);
    keep(store, "c", 12);
    assert_string_equal(content(store), "a=1 b=2 ");
    apply_write(store, "d", 12, "12"); /* of before what has been told */
    assert_string_equal(content(store), "a=1 b=2 ");

    store_begin_list(store);
    keep(store, "b", 13);
    store_end_list(store, 20);
    assert_string_equal(content(store), "b=2 ");
    put(store, "b", 21, "21");
    assert_string_equal(content(store), "b=21 ");
}

/* ---- walks ---- */

/* The next so many, "-" at the end. */
static const char *next(struct store_walk *walk, size_t n)
{
    static char text[256];
    size_t length = 0;

    while (n-- > 0) {
        const struct kube_object *object = store_walk_next(walk);

        length += (size_t)snprintf(text + length, sizeof text - length, "%s ",
                                   object ? object->key : "-");
    }
    return text;
}

static void test_walks(void **state)
{
    CLEANUP(store_freep) struct store *store = store_new(&NODES);
    struct store_walk walk, other;

    (void)state;
    store_walk_begin(&walk, store);
    assert_string_equal(next(&walk, 1), "- ");
    store_walk_end(&walk);
    for (char name[] = "a"; *name <= 'f'; ++*name)
        put(store, name, (uint64_t)*name, "");
    store_walk_begin(&walk, store);
    store_walk_begin(&other, store);
    assert_string_equal(next(&walk, 2), "a b ");
    take_away(store, "b", 200); /* where it is, and before */
    take_away(store, "a", 201);
    take_away(store, "c", 202); /* where it would be next */
    take_away(store, "d", 203);
    put(store, "e", 204, "changed");
    put(store, "g", 205, "");
    assert_string_equal(next(&walk, 4), "e f g - ");
    store_walk_end(&walk);
    assert_string_equal(next(&other, 2), "e f ");
    take_away(store, "g", 206); /* the last one */
    assert_string_equal(next(&other, 1), "- ");
    store_walk_end(&other);
}

/* ---- indexes ---- */

/* The letters of the value, so that "ab" is found under a and b; "aa" under a once. */
static void by_letter(const struct kube_object *object, void (*emit)(void *ctx, const char *value),
                      void *ctx)
{
    for (const char *c = value_of(object); *c; c++)
        emit(ctx, (char[]){*c, '\0'});
}

static void by_length(const struct kube_object *object, void (*emit)(void *ctx, const char *value),
                      void *ctx)
{
    emit(ctx, (char[]){(char)('0' + strlen(value_of(object))), '\0'});
}

static const char *found(const struct store_index *index, const char *value)
{
    static char text[256];
    size_t n, length = 0;
    struct kube_object *const *objects = store_find(index, value, &n);

    assert_int_equal(n == 0, objects == NULL);
    text[0] = '\0';
    for (size_t i = 0; i < n; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s ", objects[i]->key);
    return text;
}

static void test_indexes(void **state)
{
    CLEANUP(store_freep) struct store *store = store_new(&NODES);
    struct store_index *letters = store_add_index(store, by_letter);
    struct store_index *lengths = store_add_index(store, by_length);

    (void)state;
    put(store, "x", 1, "ab");
    put(store, "y", 2, "aa");
    put(store, "z", 3, "");
    assert_string_equal(found(letters, "a"), "x y ");
    assert_string_equal(found(letters, "b"), "x ");
    assert_string_equal(found(letters, "c"), "");
    assert_string_equal(found(lengths, "2"), "x y ");
    assert_string_equal(found(lengths, "0"), "z ");
    put(store, "x", 4, "bc");
    assert_string_equal(found(letters, "a"), "y ");
    assert_string_equal(found(letters, "b"), "x ");
    assert_string_equal(found(letters, "c"), "x ");
    put(store, "x", 2, "old");
    assert_string_equal(found(letters, "o"), "");
    take_away(store, "y", 5);
    assert_string_equal(found(letters, "a"), "");
    assert_string_equal(found(lengths, "2"), "x ");
    store_begin_list(store);
    store_end_list(store, 9);
    assert_string_equal(found(letters, "b"), "");
    assert_string_equal(found(lengths, "0"), "");
}

/* ---- observers ---- */

struct history {
    const struct store *store;
    char text[256];
};

static const char *shown(const struct kube_object *object)
{
    return object ? value_of(object) : "-";
}

static void record(void *ctx, struct kube_object *before, struct kube_object *after)
{
    struct history *history = ctx;
    size_t length = strlen(history->text);
    const struct kube_object *object = after ? after : before;

    assert_ptr_equal(store_get(history->store, object->key), after); /* it has happened already */
    snprintf(history->text + length, sizeof history->text - length, "%s:%s>%s ", object->key,
             shown(before), shown(after));
}

static void test_observers(void **state)
{
    CLEANUP(store_freep) struct store *store = store_new(&NODES);
    struct history first = {.store = store}, second = {.store = store};

    (void)state;
    store_observe(store, record, &first);
    store_observe(store, record, &second);
    put(store, "a", 1, "1");
    put(store, "a", 1, "1"); /* nothing new */
    apply_write(store, "a", 2, "2");
    put(store, "a", 2, "2");
    put(store, "b", 3, "3");
    take_away(store, "a", 4);
    take_away(store, "a", 5);
    store_begin_list(store);
    store_end_list(store, 6);
    assert_string_equal(first.text, "a:->1 a:1>2 b:->3 a:2>- b:3>- ");
    assert_string_equal(second.text, first.text);
}

/* ---- waiting ---- */

struct waiter {
    struct store *store;
    const char *key;
    uint64_t deadline;
    char outcome[64];
};

static void wait_for_key(struct task *self, void *arg)
{
    struct waiter *waiter = arg;
    CLEANUP(err_freep)
    struct err *err = store_wait(self, waiter->store, waiter->key, waiter->deadline);
    struct kube_object *object = store_get(waiter->store, waiter->key);

    snprintf(waiter->outcome, sizeof waiter->outcome, "%s",
             err      ? err_kind_reason(err_kind(err))
             : object ? value_of(object)
                      : "gone");
}

static void wait_for_sync(struct task *self, void *arg)
{
    struct waiter *waiter = arg;
    CLEANUP(err_freep) struct err *err = store_wait_synced(self, waiter->store, waiter->deadline);

    snprintf(waiter->outcome, sizeof waiter->outcome, "%s",
             err ? err_kind_reason(err_kind(err)) : "synced");
}

static void test_waits(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    CLEANUP(store_freep) struct store *store = store_new(&NODES);
    struct waiter a1 = {store, "a", TIMER_NEVER, ""}, a2 = {store, "a", 500, ""},
                  b = {store, "b", 500, ""}, late = {store, "c", 100, ""},
                  cancelled = {store, "a", TIMER_NEVER, ""};

    (void)state;
    loop_spawn(loop, "a1", wait_for_key, &a1);
    loop_spawn(loop, "a2", wait_for_key, &a2);
    loop_spawn(loop, "b", wait_for_key, &b);
    loop_spawn(loop, "late", wait_for_key, &late);
    loop_advance(loop, 100);
    assert_string_equal(late.outcome, "DeadlineExceeded");
    put(store, "a", 1, "1");
    loop_advance(loop, 1);
    assert_string_equal(a1.outcome, "1");
    assert_string_equal(a2.outcome, "1");
    assert_string_equal(b.outcome, "");
    loop_spawn(loop, "a1", wait_for_key, &a1);
    struct task *task = loop_spawn(loop, "cancelled", wait_for_key, &cancelled);
    loop_advance(loop, 1);
    put(store, "a", 1, "1"); /* no change */
    task_cancel(task);
    loop_advance(loop, 1);
    assert_string_equal(cancelled.outcome, "Canceled");
    take_away(store, "a", 2);
    loop_advance(loop, 1);
    assert_string_equal(a1.outcome, "gone");
    loop_run(loop);
    assert_string_equal(b.outcome, "DeadlineExceeded");
}

struct finder {
    struct store_index *index;
    const char *value;
    char outcome[64];
};

static void wait_for_value(struct task *self, void *arg)
{
    struct finder *finder = arg;
    CLEANUP(err_freep)
    struct err *err = store_wait_found(self, finder->index, finder->value, TIMER_NEVER);
    size_t n;

    store_find(finder->index, finder->value, &n);
    snprintf(finder->outcome, sizeof finder->outcome, "%s%zu",
             err ? err_kind_reason(err_kind(err)) : "", n);
}

/* What comes under the value, changes, leaves it or goes; others are not waited for. */
static void test_waits_for_what_an_index_has(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    CLEANUP(store_freep) struct store *store = store_new(&NODES);
    struct finder finder = {.index = store_add_index(store, by_letter), .value = "1"};
    const struct {
        const char *key, *value; /* NULL: it goes */
        const char *outcome;
    } steps[] = {{"a", "2", ""},  {"a", "1", "1"}, {"b", "3", ""},  {"b", "1", "2"},
                 {"a", "2", "1"}, {"a", NULL, ""}, {"b", NULL, "0"}};

    bool waits = false;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        if (!waits)
            loop_spawn(loop, "finder", wait_for_value, &finder);
        finder.outcome[0] = '\0';
        loop_advance(loop, 1);
        if (steps[i].value)
            put(store, steps[i].key, i + 1, steps[i].value);
        else
            take_away(store, steps[i].key, i + 1);
        loop_advance(loop, 1);
        assert_string_equal(finder.outcome, steps[i].outcome);
        waits = !finder.outcome[0];
    }
}

static void test_waiting_for_the_first_list(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    CLEANUP(store_freep) struct store *store = store_new(&NODES);
    struct waiter waits = {store, NULL, TIMER_NEVER, ""}, late = {store, NULL, 10, ""};

    (void)state;
    loop_spawn(loop, "waits", wait_for_sync, &waits);
    loop_spawn(loop, "late", wait_for_sync, &late);
    loop_advance(loop, 20);
    assert_string_equal(late.outcome, "DeadlineExceeded");
    store_begin_list(store);
    put(store, "a", 1, "1");
    loop_advance(loop, 1);
    assert_string_equal(waits.outcome, "");
    store_end_list(store, 1);
    loop_spawn(loop, "late", wait_for_sync, &late);
    loop_run(loop);
    assert_string_equal(waits.outcome, "synced");
    assert_string_equal(late.outcome, "synced");
}

/* A page goes on after a key, whether or not there is (still) an object of that key. */
static void test_order_of_keys(void **state)
{
    CLEANUP(store_freep) struct store *store = store_new(&NODES);

    (void)state;
    store_keep_sorted(store);
    assert_null(store_after(store, ""));
    put(store, "c", 1, "1");
    put(store, "a", 2, "2");
    put(store, "b", 3, "3");
    put(store, "b", 4, "4");
    assert_string_equal(store_after(store, "")->key, "a");
    assert_string_equal(value_of(store_after(store, "a")), "4");
    assert_string_equal(store_after(store, "aa")->key, "b");
    take_away(store, "b", 5);
    assert_string_equal(store_after(store, "a")->key, "c");
    assert_string_equal(store_after(store, "b")->key, "c");
    assert_null(store_after(store, "c"));
    assert_null(store_after(store, "x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_what_is_not_found),
        cmocka_unit_test(test_what_has_no_uid_has_no_tombstone),
        cmocka_unit_test(test_what_has_a_tombstone_does_not_come_back),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_lists_of_a_server_that_was_restored),
        cmocka_unit_test(test_a_note_from_before_a_restore),
        cmocka_unit_test(test_writes_while_a_list_is_on_its_way),
        cmocka_unit_test(test_a_list_beside),
        cmocka_unit_test(test_objects_that_cannot_be_read),
        cmocka_unit_test(test_walks),
        cmocka_unit_test(test_order_of_keys),
        cmocka_unit_test(test_indexes),
        cmocka_unit_test(test_observers),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_waits_for_what_an_index_has),
        cmocka_unit_test(test_waiting_for_the_first_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
