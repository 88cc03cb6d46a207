/* What the store is to have of the objects that the server tells of. */
#include "test/unit/lib/kube/reflector_scene.h"

static void test_only_what_is_kept_takes_memory(void **state)
{
    static const char *const keep[] = {"metadata.name", "metadata.resourceVersion", NULL};
    const struct script_step steps[] = {
        SCRIPT_ANSWER(LIST, 200,
                      ITEMS("10", "{'metadata':{'name':'a','uid':'u','resourceVersion':'1'},"
                                  "'spec':{'providerID':'p'}}")),
        SCRIPT_STREAM(WATCH("10"),
                      {1, "{'type':'ADDED','object':{'metadata':{'name':'b','resourceVersion':'11'"
                          "},'spec':{'providerID':'p'}}}\n"},
                      QUIET),
    };
    struct scene scene;

    (void)state;
    play(&scene, steps, COUNT_OF(steps), 1000);
    assert_int_equal(scene.full, 2);
    play_with(&scene, (struct reflector_config){.keep = keep}, steps, COUNT_OF(steps), 0, 1000);
    assert_string_equal(scene.content, "a=1 b=11 ");
    assert_int_equal(scene.full, 0);
}

static struct kube_object *digest_nothing(void *ctx, const struct kube_object *object)
{
    assert_non_null(ctx);
    return kube_digest_new(object, 0);
}

/* A digest has no metadata, and the watch goes on all the same from where it was. */
static void test_digests_take_the_place_of_objects(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER(LIST, 200, ITEMS("10", ITEM("a", "1"))),
        SCRIPT_STREAM(WATCH("10"), {1, EVENT("MODIFIED", "a", "12")}, {MINUTE, ""}),
        SCRIPT_STREAM(WATCH("12"), QUIET),
    };
    struct scene scene;

    (void)state;
    play_with(&scene, (struct reflector_config){.digest = digest_nothing}, steps, COUNT_OF(steps),
              0, 3 * MINUTE);
    assert_string_equal(scene.content, "a=12 ");
}

static bool is_versioned_even(const struct kube_object *object)
{
    return object->version % 2 == 0;
}

/* An object that is not wanted is not there, and one that no longer is goes. */
static void test_only_what_is_wanted_is_there(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER(LIST, 200, ITEMS("10", ITEM("a", "1") "," ITEM("b", "2") "," ITEM("c", "4"))),
        SCRIPT_STREAM(WATCH("10"), {1, EVENT("MODIFIED", "b", "11")},
                      {1, EVENT("MODIFIED", "c", "12")}, {1, EVENT("ADDED", "d", "13")},
                      {MINUTE, ""}),
        SCRIPT_STREAM(WATCH("13"), {1, EVENT("MODIFIED", "d", "14")}, QUIET),
    };
    struct scene scene;

    (void)state;
    play_with(&scene, (struct reflector_config){.wanted = is_versioned_even}, steps,
              COUNT_OF(steps), 0, 3 * MINUTE);
    assert_string_equal(scene.content, "c=12 d=14 ");
    assert_string_equal(scene.failures, "");
}

static void test_what_is_no_longer_wanted_goes_by_a_list(void **state)
{
    const struct script_step steps[] = {
        SCRIPT_ANSWER(LIST, 200, ITEMS("10", ITEM("a", "2") "," ITEM("b", "4"))),
        SCRIPT_ANSWER(WATCH("10"), 410, EXPIRED),
        SCRIPT_ANSWER(LIST, 200, ITEMS("20", ITEM("a", "15") "," ITEM("b", "4"))),
        SCRIPT_STREAM(WATCH("20"), QUIET),
    };
    struct scene scene;

    (void)state;
    play_with(&scene, (struct reflector_config){.wanted = is_versioned_even}, steps,
              COUNT_OF(steps), 0, 3 * MINUTE);
    assert_string_equal(scene.content, "b=4 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_what_is_kept_takes_memory),
        cmocka_unit_test(test_digests_take_the_place_of_objects),
        cmocka_unit_test(test_only_what_is_wanted_is_there),
        cmocka_unit_test(test_what_is_no_longer_wanted_goes_by_a_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
