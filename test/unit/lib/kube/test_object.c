#include "lib/kube/object.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"
#include "test/unit/lib/kube/objects.h"

static void test_keys_and_versions(void **state)
{
    static const struct {
        const char *json, *key;
        uint64_t version;
    } rows[] = {
        {"{'metadata':{'name':'a'}}", "a", 0},
        {"{'metadata':{'name':'a','namespace':'n','resourceVersion':'12'}}", "n/a", 12},
        {"{'metadata':{'name':'a','resourceVersion':'18446744073709551615'}}", "a", UINT64_MAX},
        {"{'metadata':{'name':'a','resourceVersion':''}}", "a", 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct kube_object *object = object_of(&api__pod__descriptor, rows[i].json);

        assert_string_equal(object->key, rows[i].key);
        assert_int_equal(object->version, rows[i].version);
        kube_object_unref(object);
    }
}

/* Caches keep tens of thousands. */
static void test_takes_no_more_than_it_needs(void **state)
{
    struct kube_object *object = object_of(
        &api__node__descriptor,
        "{'metadata':{'name':'a','labels':{'kubernetes.io/hostname':'a','x':''}},"
        "'spec':{'providerID':'azure:///subscriptions/1/resourceGroups/rg/providers/"
        "Microsoft.Compute/virtualMachines/a','taints':[{'key':'k','value':'v','effect':'e'}]}}");

    (void)state;
    assert_in_range(arena_bytes(object->arena), arena_used(object->arena),
                    arena_used(object->arena) + 16);
    kube_object_unref(object);
}

static void test_what_is_no_object(void **state)
{
    static const struct {
        const char *json, *fault;
    } rows[] = {
        {"{}", "Pod without metadata.name"},
        {"{\"metadata\":{}}", "Pod without metadata.name"},
        {"{\"metadata\":{\"name\":1}}", "Pod: metadata.name: expected a string, not this number"},
        {"[]", "Pod: document: expected an object, not a list"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_decrefp) json_t *json = json_loads(rows[i].json, 0, NULL);
        struct kube_object *object = NULL;

        assert_fails(kube_object_decode(&api__pod__descriptor, json, &object), ERR_INVALID,
                     rows[i].fault);
        assert_null(object);
    }
}

/* With the last reference its memory goes; the sanitizer would notice any other order. */
static void test_references(void **state)
{
    struct kube_object *object = node_of("a", 1, "x");
    struct kube_object *second = kube_object_ref(object);

    (void)state;
    assert_ptr_equal(second, object);
    kube_object_unref(object);
    assert_string_equal(KUBE_AS(Api__Node, second)->spec->provider_id, "x");
    kube_object_unref(second);
    kube_object_unref(NULL);
}

static void test_digest(void **state)
{
    struct kube_object *object =
        object_of(&api__pod__descriptor,
                  "{'metadata':{'name':'a','namespace':'n','uid':'u','resourceVersion':'12'}}");
    struct kube_object *digest = kube_digest_new(object, 3);

    (void)state;
    kube_object_unref(object);
    assert_string_equal(digest->key, "n/a");
    assert_int_equal(digest->version, 12);
    assert_memory_equal(KUBE_DIGEST(char, digest), "\0\0", 3);
    assert_null(digest->metadata->uid);
    kube_object_ref(digest);
    kube_object_unref(digest);
    assert_string_equal(digest->key, "n/a");
    kube_object_unref(digest);
}

static void test_metadata(void **state)
{
    CLEANUP(kube_object_unrefp)
    struct kube_object *object =
        object_of(&api__pod__descriptor, "{'metadata':{'name':'a','labels':{'l':'1','empty':''},"
                                         "'annotations':{'l':'2'},'finalizers':['f','g']}}");
    const Api__ObjectMeta *metadata = object->metadata;

    (void)state;
    assert_string_equal(kube_label(metadata, "l"), "1");
    assert_string_equal(kube_label(metadata, "empty"), "");
    assert_null(kube_label(metadata, "m"));
    assert_string_equal(kube_annotation(metadata, "l"), "2");
    assert_null(kube_annotation(metadata, "empty"));
    assert_true(kube_has_finalizer(metadata, "g"));
    assert_false(kube_has_finalizer(metadata, "h"));
}

static void test_key(void **state)
{
    CLEANUP(freep) char *with = kube_key("n", "a");
    CLEANUP(freep) char *without = kube_key(NULL, "a");

    (void)state;
    assert_string_equal(with, "n/a");
    assert_string_equal(without, "a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_takes_no_more_than_it_needs),
        cmocka_unit_test(test_keys_and_versions),
        cmocka_unit_test(test_what_is_no_object),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_digest),
        cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
