/* What is remembered of volumes that lack replicas. */
#include "controller/replica/unschedulable.h"

#include <string.h>

#include "controller/metrics.h"
#include "lib/base/alloc.h"
#include "test/unit/expect.h"

static char one_key[] = "d/one", other_key[] = "d/other";
static const struct kube_object one = {.key = one_key}, other = {.key = other_key};

static int set_up(void **state)
{
    struct controller *controller = mem_alloc(sizeof *controller);

    controller->leading = mem_alloc(sizeof *controller->leading);
    *state = controller;
    return 0;
}

static int tear_down(void **state)
{
    struct controller *controller = *state;

    unschedulable_clear(controller);
    free(controller->leading);
    free(controller);
    return 0;
}

/* Whoever asks others to make room asks when there is news only, or two would ask for ever. */
static void test_news(void **state)
{
    struct controller *c = *state;

    assert_true(unschedulable_add(c, &one, "node-1"));
    assert_false(unschedulable_add(c, &one, "node-1"));
    assert_true(unschedulable_add(c, &one, "node-2"));
    assert_true(unschedulable_add(c, &one, "node-1"));
}

static void test_each_volume_has_its_own(void **state)
{
    struct controller *c = *state;

    assert_true(unschedulable_add(c, &one, "node-1"));
    assert_true(unschedulable_add(c, &other, "node-1"));
    assert_false(unschedulable_add(c, &one, "node-1"));
    assert_false(unschedulable_add(c, &other, "node-1"));
}

static void test_what_has_ended_is_news_again(void **state)
{
    struct controller *c = *state;

    assert_true(unschedulable_add(c, &one, "node-1"));
    unschedulable_remove(c, one_key);
    assert_true(unschedulable_add(c, &one, "node-1"));
    unschedulable_clear(c);
    assert_true(unschedulable_add(c, &one, "node-1"));
}

static char *counted(void)
{
    struct metric *const metric = &METRIC_LACKING_REPLICAS;
    CLEANUP(buffer_fini) struct buffer out = {.limit = SIZE_MAX};

    metrics_write(&metric, 1, &out);
    char *text = buffer_take(&out);
    char *value = mem_strdup(strrchr(text, ' ') + 1);
    free(text);
    return value;
}

#define EXPECT_COUNTED(n)                                                                          \
    do {                                                                                           \
        CLEANUP(freep) char *value = counted();                                                    \
        assert_string_equal(value, n "\n");                                                        \
    } while (0)

static void test_they_are_counted(void **state)
{
    struct controller *c = *state;

    unschedulable_add(c, &one, "node-1");
    unschedulable_add(c, &one, "node-2");
    EXPECT_COUNTED("1");
    unschedulable_add(c, &other, "node-1");
    EXPECT_COUNTED("2");
    unschedulable_remove(c, one_key);
    EXPECT_COUNTED("1");
    unschedulable_clear(c);
    EXPECT_COUNTED("0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_news, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_each_volume_has_its_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_has_ended_is_news_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_they_are_counted, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
