#include "lib/kube/object.h"

#include <malloc.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/json/codec.h"
#include "lib/json/parse.h"
#include "test/unit/expect.h"
#include "test/unit/lib/kube/objects.h"
#include "test/unit/needle.h"

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

static size_t size_of(const char *json)
{
    struct kube_object *object = object_of(&api__node__descriptor, json);
    size_t size = malloc_usable_size(object);

    kube_object_unref(object);
    return size;
}

/* Caches keep tens of thousands. */
static void test_takes_no_more_than_it_needs(void **state)
{
    size_t named = size_of("{'metadata':{'name':'the-name-of-a-node-that-is-rather-long'}}");
    size_t labelled = size_of("{'metadata':{'name':'the-name-of-a-node-that-is-rather-long',"
                              "'labels':{'host':'the-name-of-a-node-that-is-rather-long'}}}");

    (void)state;
    assert_in_range(labelled - named, 1,
                    sizeof(Api__ObjectMeta__LabelsEntry) + sizeof(void *) + sizeof "host" + 16);
}

/* Whatever is the same in it, and however large it is. */
static void test_any_size(void **state)
{
    static char text[20 * 1024];

    (void)state;
    memset(text, 'x', sizeof text - 1);
    for (unsigned seed = 0; seed < 300; seed++) {
        unsigned random = seed;
        CLEANUP(json_decrefp) json_t *labels = json_object();

        for (unsigned i = 0; i < seed % 150; i++) {
            random = random * 1664525 + 1013904223;
            size_t most = random >> 24 == 0 ? sizeof text - 1 : 200, length = (random >> 8) % most;
            CLEANUP(freep) char *key = mem_printf("%u", (random >> 16) % 500);
            json_object_set_new(labels, key, json_stringn(text, length));
        }
        CLEANUP(json_decrefp)
        json_t *json = json_pack("{s:{s:s,s:O}}", "metadata", "name", "a", "labels", labels);
        struct kube_object *object = NULL;
        assert_null(kube_object_decode(&api__node__descriptor, json, &object));
        CLEANUP(json_decrefp) json_t *again = json_encode(object->message);
        const json_t *read = json_object_get(json_object_get(again, "metadata"), "labels");
        assert_true(json_object_size(labels) == 0 || json_equal(read, labels));
        kube_object_unref(object);
    }
}

static struct kube_object *secret_of(const struct needle *needle)
{
    CLEANUP(buffer_fini) struct buffer text = {.limit = 4096};
    CLEANUP(json_decrefp) json_t *json = NULL;
    struct kube_object *object = NULL;

    buffer_printf(&text, "{\"metadata\":{\"name\":\"s\"},\"data\":{\"key\":\"");
    needle_append(&text, needle);
    buffer_printf(&text, "\"}}");
    assert_ok(json_parse_here(text.data, text.length, &json));
    assert_ok(kube_object_decode(&api__secret__descriptor, json, &object));
    return object;
}

static void test_no_secret_stays_in_memory(void **state)
{
    struct needle needle = needle_new("secret");

    (void)state;
    json_clear_freed();
    struct kube_object *object = secret_of(&needle);
    assert_int_equal(needle_count(&needle), 1);
    kube_object_unref(object);
    assert_int_equal(needle_count(&needle), 0);
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
        cmocka_unit_test(test_any_size),
        cmocka_unit_test(test_keys_and_versions),
        cmocka_unit_test(test_what_is_no_object),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_digest),
        cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_key),
        /* The last: freed JSON is cleared from then on. */
        cmocka_unit_test(test_no_secret_stays_in_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
