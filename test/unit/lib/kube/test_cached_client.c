/* What the store has after each call. */
#include "lib/kube/cached_client.h"

#include "lib/api/azdisk.pb-c.h"
#include "lib/base/alloc.h"
#include "test/unit/expect.h"
#include "test/unit/lib/kube/script.h"

#define PATH "/apis/disk.csi.azure.com/v1beta2/namespaces/ns/azvolumes"
#define METADATA(version, more)                                                                    \
    "'metadata':{'namespace':'ns','name':'v','uid':'u','resourceVersion':'" version "'" more "}"
#define ANOTHER                                                                                    \
    "{'metadata':{'namespace':'ns','name':'v','uid':'w','resourceVersion':'5'},"                   \
    "'status':{'state':'Pending'}}"
#define NOT_FOUND "{'kind':'Status','reason':'NotFound','message':'none','details':{'name':'v'}}"
#define VOLUME(version, state) "{" METADATA(version, "") ",'status':{'state':'" state "'}}"

struct scene {
    struct kube *kube;
    struct store *store;
    void (*body)(struct task *self, struct kube *kube, struct store *store);
};

static void scene_main(struct task *self, void *arg)
{
    struct scene *scene = arg;

    scene->body(self, scene->kube, scene->store);
}

static void play(const struct script_step *steps, size_t n,
                 void (*body)(struct task *self, struct kube *kube, struct store *store))
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    CLEANUP(store_freep) struct store *store = store_new(&AZ_VOLUMES);
    struct scene scene = {.store = store, .body = body};
    struct script script;

    script_init(&script, loop, steps, n);
    scene.kube = script_client(&script, NULL);
    loop_spawn(loop, "test", scene_main, &scene);
    loop_run(loop);
    assert_int_equal(script.next, n);
    kube_free(scene.kube);
}

/* "" if the store has none. */
static const char *state_in(const struct store *store)
{
    const struct kube_object *object = store_get(store, "ns/v");

    return object ? KUBE_AS(Api__AzVolume, object)->status->state : "";
}

static struct kube_object *volume_in(const struct store *store)
{
    struct kube_object *object = store_get(store, "ns/v");

    assert_non_null(object);
    return kube_object_ref(object);
}

/* ---- what is answered is in the store ---- */

static const struct script_step answered[] = {
    SCRIPT_ANSWER("POST " PATH
                  " {'apiVersion':'disk.csi.azure.com/v1beta2','kind':'AzVolume','metadata':{}}",
                  201, VOLUME("1", "Pending")),
    SCRIPT_ANSWER("PATCH " PATH "/v/status {'status':{'state':'Created'}}", 200,
                  VOLUME("2", "Created")),
    SCRIPT_ANSWER("PATCH " PATH "/v {'spec':{}}", 200, VOLUME("3", "Updating")),
    SCRIPT_ANSWER("GET " PATH "/v", 200, VOLUME("4", "Updated")),
};

static void write_and_read(struct task *self, struct kube *kube, struct store *store)
{
    CLEANUP(json_decrefp) json_t *json = json_pack("{s:{}}", "metadata");
    CLEANUP(kube_object_unrefp) struct kube_object *created = NULL, *read = NULL;

    assert_ok(cached_create(self, kube, store, "ns", json, &created));
    assert_string_equal(state_in(store), "Pending");
    assert_ok(cached_patch_status(self, kube, store, created,
                                  json_pack("{s:{s:s}}", "status", "state", "Created"), NULL));
    assert_string_equal(state_in(store), "Created");
    assert_ok(cached_patch(self, kube, store, created, json_pack("{s:{}}", "spec"), NULL));
    assert_string_equal(state_in(store), "Updating");
    assert_ok(cached_get(self, kube, store, "ns", "v", &read));
    assert_string_equal(state_in(store), "Updated");
    assert_int_equal(read->version, 4);
}

static void test_what_is_answered_is_in_the_store(void **state)
{
    (void)state;
    play(answered, COUNT_OF(answered), write_and_read);
}

/* ---- conditions ---- */

static const struct script_step conditional[] = {
    SCRIPT_ANSWER("GET " PATH "/v", 200, VOLUME("7", "Created")),
    SCRIPT_ANSWER("PATCH " PATH "/v {'spec':{},'metadata':{'resourceVersion':'7'}}", 409, "{}"),
    SCRIPT_ANSWER("GET " PATH "/v", 200, VOLUME("8", "Updating")),
    SCRIPT_ANSWER("PATCH " PATH "/v {'spec':{},'metadata':{'resourceVersion':'7'}}", 409, "{}"),
    SCRIPT_ANSWER("PATCH " PATH "/v {'metadata':{'labels':{},'uid':'u'}}", 200,
                  VOLUME("9", "Updated")),
};

static void patch_on_conditions(struct task *self, struct kube *kube, struct store *store)
{
    assert_ok(cached_get(self, kube, store, "ns", "v", NULL));
    CLEANUP(kube_object_unrefp) struct kube_object *object = volume_in(store);
    json_t *labels = if_same(object, json_pack("{s:{s:{}}}", "metadata", "labels"));

    /* The store was behind, and is not any more; then it was the caller. */
    for (int i = 0; i < 2; i++) {
        json_t *spec = if_unchanged(object, json_pack("{s:{}}", "spec"));

        assert_fails(cached_patch(self, kube, store, object, spec, NULL), ERR_CONFLICT,
                     "PATCH " PATH "/v: no message (HTTP 409)");
        assert_string_equal(state_in(store), "Updating");
    }
    assert_ok(cached_patch(self, kube, store, object, labels, NULL));
    assert_string_equal(state_in(store), "Updated");
}

static void test_conditions(void **state)
{
    (void)state;
    play(conditional, COUNT_OF(conditional), patch_on_conditions);
}

/* ---- what is gone ---- */

#define DELETING ",'deletionTimestamp':'2026-01-01T00:00:00Z'"

static const struct script_step released[] = {
    SCRIPT_ANSWER("GET " PATH "/v", 200, VOLUME("1", "Created")),
    SCRIPT_ANSWER("PATCH " PATH "/v {'metadata':{'finalizers':[]}}", 200,
                  "{" METADATA("2", DELETING) ",'status':{'state':'Deleting'}}"),
};

static void take_the_finalizer(struct task *self, struct kube *kube, struct store *store)
{
    assert_ok(cached_get(self, kube, store, "ns", "v", NULL));
    CLEANUP(kube_object_unrefp) struct kube_object *object = volume_in(store);
    json_t *none = json_pack("{s:{s:[]}}", "metadata", "finalizers");

    assert_ok(cached_patch(self, kube, store, object, none, NULL));
    assert_string_equal(state_in(store), "Created");
}

static void test_the_last_state_of_what_is_gone_is_not_kept(void **state)
{
    (void)state;
    play(released, COUNT_OF(released), take_the_finalizer);
}

#define DELETE_AT(version)                                                                         \
    "DELETE " PATH "/v {'preconditions':{'uid':'u','resourceVersion':'" version "'}}"

static const struct script_step deleted[] = {
    SCRIPT_ANSWER("GET " PATH "/v", 200, VOLUME("1", "Created")),
    SCRIPT_ANSWER(DELETE_AT("1"), 409, "{}"),
    SCRIPT_ANSWER("GET " PATH "/v", 200, VOLUME("2", "Updated")),
    SCRIPT_ANSWER(DELETE_AT("2"), 200, "{}"),
    SCRIPT_ANSWER("GET " PATH "/v", 200,
                  "{" METADATA("3", DELETING ",'finalizers':['f']") ",'status':{'state':'x'}}"),
    SCRIPT_ANSWER(DELETE_AT("3"), 404, NOT_FOUND),
    SCRIPT_ANSWER("GET " PATH "/v", 404, NOT_FOUND),
};

static void delete_it(struct task *self, struct kube *kube, struct store *store)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL, *newer = NULL, *going = NULL;

    assert_ok(cached_get(self, kube, store, "ns", "v", &object));
    assert_fails(cached_delete(self, kube, store, object), ERR_CONFLICT,
                 "DELETE " PATH "/v: no message (HTTP 409)");
    assert_string_equal(state_in(store), "Updated");
    newer = volume_in(store);
    assert_ok(cached_delete(self, kube, store, newer));
    going = volume_in(store);
    assert_true(kube_is_deleting(going->metadata));
    assert_ok(cached_delete(self, kube, store, going)); /* gone already */
    assert_string_equal(state_in(store), "");
}

static void test_what_is_left_of_what_is_deleted(void **state)
{
    (void)state;
    play(deleted, COUNT_OF(deleted), delete_it);
}

static const struct script_step missing[] = {
    SCRIPT_ANSWER("GET " PATH "/v", 200, VOLUME("1", "Created")),
    SCRIPT_ANSWER("PATCH " PATH "/v/status {'status':{}}", 404, NOT_FOUND),
    SCRIPT_ANSWER("GET " PATH "/v", 200, VOLUME("1", "Created")),
    SCRIPT_ANSWER("POST " PATH
                  " {'apiVersion':'disk.csi.azure.com/v1beta2','kind':'AzVolume','metadata':{}}",
                  201, ANOTHER),
    SCRIPT_ANSWER("PATCH " PATH "/v {'spec':{}}", 404, NOT_FOUND),
    SCRIPT_ANSWER("GET " PATH "/v", 404, NOT_FOUND),
};

static void miss_it(struct task *self, struct kube *kube, struct store *store)
{
    CLEANUP(json_decrefp) json_t *json = json_pack("{s:{}}", "metadata");
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;

    assert_ok(cached_get(self, kube, store, "ns", "v", &object));
    assert_fails(
        cached_patch_status(self, kube, store, object, json_pack("{s:{}}", "status"), NULL),
        ERR_NOT_FOUND, "PATCH " PATH "/v/status: none (HTTP 404)");
    assert_string_equal(state_in(store), "");
    /* What is read of it later is of before its end. */
    assert_ok(cached_get(self, kube, store, "ns", "v", NULL));
    assert_string_equal(state_in(store), "");
    /* Another one of its name is not the one that is missing. */
    assert_ok(cached_create(self, kube, store, "ns", json, NULL));
    assert_fails(cached_patch(self, kube, store, object, json_pack("{s:{}}", "spec"), NULL),
                 ERR_NOT_FOUND, "PATCH " PATH "/v: none (HTTP 404)");
    assert_string_equal(state_in(store), "Pending");
    assert_fails(cached_get(self, kube, store, "ns", "v", NULL), ERR_NOT_FOUND,
                 "GET " PATH "/v: none (HTTP 404)");
    assert_string_equal(state_in(store), "");
}

static void test_what_is_not_found_is_forgotten(void **state)
{
    (void)state;
    play(missing, COUNT_OF(missing), miss_it);
}

#define IN_TROUBLE "{'kind':'Status','message':'no etcd'}"

static const struct script_step unread[] = {
    SCRIPT_ANSWER("GET " PATH "/v", 200, VOLUME("1", "Created")),
    SCRIPT_ANSWER("PATCH " PATH "/v {'spec':{},'metadata':{'resourceVersion':'1'}}", 409, "{}"),
    SCRIPT_ANSWER("GET " PATH "/v", 500, IN_TROUBLE),
    SCRIPT_ANSWER(DELETE_AT("1"), 200, "{}"),
    SCRIPT_ANSWER("GET " PATH "/v", 500, IN_TROUBLE),
};

/* The refusal counts, and a delete is not over: whoever looks would find the object as it was. */
static void write_while_nothing_can_be_read(struct task *self, struct kube *kube,
                                            struct store *store)
{
    assert_ok(cached_get(self, kube, store, "ns", "v", NULL));
    CLEANUP(kube_object_unrefp) struct kube_object *object = volume_in(store);

    assert_fails(cached_patch(self, kube, store, object,
                              if_unchanged(object, json_pack("{s:{}}", "spec")), NULL),
                 ERR_CONFLICT, "PATCH " PATH "/v: no message (HTTP 409)");
    assert_string_equal(state_in(store), "Created");
    assert_fails(cached_delete(self, kube, store, object), ERR_UNAVAILABLE,
                 "GET " PATH "/v: no etcd (HTTP 500)");
    assert_string_equal(state_in(store), "Created");
}

static void test_what_cannot_be_read_after_a_write(void **state)
{
    (void)state;
    play(unread, COUNT_OF(unread), write_while_nothing_can_be_read);
}

static const struct script_step borrowed[] = {
    SCRIPT_ANSWER("GET " PATH "/v", 200, VOLUME("1", "Created")),
    SCRIPT_ANSWER("PATCH " PATH "/v {'spec':{}}", 404, NOT_FOUND),
};

/* The store has the only reference, and drops it; the sanitizer notices what is read thereafter. */
static void patch_what_is_borrowed(struct task *self, struct kube *kube, struct store *store)
{
    assert_ok(cached_get(self, kube, store, "ns", "v", NULL));
    assert_fails(cached_patch(self, kube, store, store_get(store, "ns/v"),
                              json_pack("{s:{}}", "spec"), NULL),
                 ERR_NOT_FOUND, "PATCH " PATH "/v: none (HTTP 404)");
    assert_string_equal(state_in(store), "");
}

static void test_what_is_borrowed_lasts(void **state)
{
    (void)state;
    play(borrowed, COUNT_OF(borrowed), patch_what_is_borrowed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_answered_is_in_the_store),
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_what_is_left_of_what_is_deleted),
        cmocka_unit_test(test_what_is_not_found_is_forgotten),
        cmocka_unit_test(test_what_cannot_be_read_after_a_write),
        cmocka_unit_test(test_what_is_borrowed_lasts),
        cmocka_unit_test(test_the_last_state_of_what_is_gone_is_not_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
