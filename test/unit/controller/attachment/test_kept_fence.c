/* Whose fence outlives whom, row by row: silent-0 had the volume, and helper-0 goes. */
#include "controller/attachment/kept_fence.h"

#include "lib/kube/node.h"
#include "test/unit/controller/controller_of.h"

#define OLD "0x1111111100000001"
#define NEW "0x1111111100000002"
#define THIRD "0x1111111100000003"
#define HELD(key) "held " key
#define TAKEN(key, former) "held " key " from " former
#define AT(second) "2026-01-01T00:00:" second "Z"

static const struct {
    const char *why;
    const char *fence, *deleted; /* of silent-0 */
    const char *taken;           /* of helper-0, which is deleted at 09 */
    const char *given_up;        /* nodes */
    bool keeps;
} rows[] = {
    {"published still", HELD(OLD), NULL, TAKEN(NEW, OLD), "silent-0", true},
    {"published still, and has noticed", "lost " OLD, NULL, TAKEN(NEW, OLD), "silent-0", true},
    {"published still, and it took nothing", HELD(OLD), NULL, NULL, "silent-0", false},
    {"published still, and it took another's", HELD(OLD), NULL, TAKEN(NEW, THIRD), "silent-0",
     false},
    {"published still, and both given up", HELD(OLD), NULL, TAKEN(NEW, OLD), "silent-0 helper-0",
     true},
    {"published still, and had it after it", TAKEN(OLD, NEW), NULL, TAKEN(NEW, OLD), "silent-0",
     false},
    {"heard of", HELD(OLD), NULL, TAKEN(NEW, OLD), "", false},
    {"it alone is given up", HELD(OLD), AT("08"), TAKEN(NEW, OLD), "helper-0", false},
    {"going", HELD(OLD), AT("08"), TAKEN(NEW, OLD), "silent-0", true},
    {"going, and nobody knows who took it", HELD(OLD), AT("08"), NULL, "silent-0", true},
    {"going, without a fence", NULL, AT("08"), NULL, "silent-0", false},
    {"both given up", HELD(OLD), AT("08"), TAKEN(NEW, OLD), "silent-0 helper-0", true},
    {"both given up, and it took nothing", HELD(OLD), AT("08"), NULL, "silent-0 helper-0", false},
    {"each from the other", TAKEN(OLD, NEW), AT("08"), TAKEN(NEW, OLD), "silent-0 helper-0", true},
    {"each from the other, it first", TAKEN(OLD, NEW), AT("10"), TAKEN(NEW, OLD),
     "silent-0 helper-0", false},
};

static char *attachment(const char *node, const char *fence, const char *deleted)
{
    CLEANUP(freep)
    char *note =
        fence ? mem_printf("'annotation':{'" ANNOTATION_FENCE "':'%s'}", fence) : mem_strdup("");
    CLEANUP(freep)
    char *since = deleted ? mem_printf(",'deletionTimestamp':'%s'", deleted) : mem_strdup("");

    return mem_printf("{'metadata':{'name':'v-%s'%s},'spec':{'volumeName':'v','nodeName':'%s'},"
                      "'status':{%s}}",
                      node, since, node, note);
}

static char *node(const char *name, const char *given_up, const char *taint)
{
    return mem_printf("{'metadata':{'name':'%s'},'spec':{'taints':[{'key':'%s'}]}}", name,
                      strstr(given_up, name) ? taint : "other");
}

static bool is_kept(size_t i, const char *taint, const char *about_to_be_given_up,
                    const char *deleted)
{
    CLEANUP(freep) char *silent_node = node("silent-0", rows[i].given_up, taint);
    CLEANUP(freep) char *helper_node = node("helper-0", rows[i].given_up, taint);
    CLEANUP(freep) char *silent = attachment("silent-0", rows[i].fence, rows[i].deleted);
    CLEANUP(freep) char *helper = attachment("helper-0", rows[i].taken, deleted);
    CLEANUP(freep)
    char *text = mem_printf("{'nodes':[%s,%s],'attachments':[%s,%s]}", silent_node, helper_node,
                            silent, helper);
    CLEANUP(json_decrefp) json_t *cluster = json_of(text);
    struct cluster_view view = view_of(cluster);
    struct controller controller = controller_of(&view);
    struct leading leading = {0};

    controller.leading = &leading;
    if (about_to_be_given_up)
        string_set_add(&leading.given_up, about_to_be_given_up);
    bool keeps = keeps_fence(&controller, view.attachments.items[1]);

    string_set_clear(&leading.given_up);
    controller_fini(&controller);
    view_free(&view);
    return keeps;
}

static void test_whose_fence_is_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (is_kept(i, TAINT_OUT_OF_SERVICE, NULL, AT("09")) != rows[i].keeps ||
            is_kept(i, TAINT_FAILED_OVER, NULL, AT("09")) != rows[i].keeps)
            fail_msg("%s", rows[i].why);
}

/* The taint rests on the fence, and may be written before it is seen. */
static void test_it_is_kept_while_the_taint_is_written(void **state)
{
    const size_t heard_of = 6;

    (void)state;
    assert_string_equal(rows[heard_of].why, "heard of");
    assert_false(is_kept(heard_of, TAINT_OUT_OF_SERVICE, "helper-0", AT("09")));
    assert_true(is_kept(heard_of, TAINT_OUT_OF_SERVICE, "silent-0", AT("09")));
}

/* Whether it would have to stay is asked of one before it is deleted: then it goes last. */
static void test_it_would_be_kept(void **state)
{
    const size_t it_first = 14;

    (void)state;
    assert_string_equal(rows[it_first].why, "each from the other, it first");
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (is_kept(i, TAINT_OUT_OF_SERVICE, NULL, NULL) != (rows[i].keeps || i == it_first))
            fail_msg("%s", rows[i].why);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whose_fence_is_kept),
        cmocka_unit_test(test_it_is_kept_while_the_taint_is_written),
        cmocka_unit_test(test_it_would_be_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
