/* Answers as text, for nodes asked by name and as whole objects. */
#include "scheduler-extender/extender_answer.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define OBJECT(text)                                                                               \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }

static const char *names[] = {"a", "b\\u0062", "c"};
static struct json_piece objects[] = {OBJECT("{\"metadata\": {\"name\":\"a\"}}"),
                                      OBJECT("{\"metadata\":{\"name\":\"b\\u0062\"},\"x\":1}"),
                                      OBJECT("{\"metadata\":{\"name\":\"c\"}}")};

static void test_scores(void **state)
{
    struct extender_args asked = {.form = NODES_BY_NAME, .names = names, .n_nodes = 3};
    const unsigned scores[] = {10, 0, 7};

    (void)state;
    CLEANUP(freep) char *answer = answer_scores(&asked, scores);
    assert_string_equal(answer,
                        "[{\"Host\":\"a\",\"Score\":10},{\"Host\":\"b\\u0062\",\"Score\":0},"
                        "{\"Host\":\"c\",\"Score\":7}]");
    asked.n_nodes = 0;
    CLEANUP(freep) char *nothing = answer_scores(&asked, scores);
    assert_string_equal(nothing, "[]");
}

static const struct {
    enum nodes_form form;
    bool allowed[3];
    const char *answer;
} rows[] = {
    {NODES_BY_NAME,
     {true, true, true},
     "{\"Nodes\":null,\"NodeNames\":[\"a\",\"b\\u0062\",\"c\"],\"FailedNodes\":{},"
     "\"FailedAndUnresolvableNodes\":{},\"Error\":\"\"}"},
    {NODES_BY_NAME,
     {true, false, true},
     "{\"Nodes\":null,\"NodeNames\":[\"a\",\"c\"],"
     "\"FailedNodes\":{\"b\\u0062\":\"AzDriverNode for b\\u0062 is not ready.\"},"
     "\"FailedAndUnresolvableNodes\":{},\"Error\":\"\"}"},
    {NODES_BY_NAME,
     {false, true, false},
     "{\"Nodes\":null,\"NodeNames\":[\"b\\u0062\"],"
     "\"FailedNodes\":{\"a\":\"AzDriverNode for a is not ready.\","
     "\"c\":\"AzDriverNode for c is not ready.\"},"
     "\"FailedAndUnresolvableNodes\":{},\"Error\":\"\"}"},
    {NODES_WHOLE,
     {false, true, true},
     "{\"Nodes\":{\"items\":[{\"metadata\":{\"name\":\"b\\u0062\"},\"x\":1},"
     "{\"metadata\":{\"name\":\"c\"}}]},\"NodeNames\":null,"
     "\"FailedNodes\":{\"a\":\"AzDriverNode for a is not ready.\"},"
     "\"FailedAndUnresolvableNodes\":{},\"Error\":\"\"}"},
    {NODES_WHOLE,
     {false, false, false},
     "{\"Nodes\":{\"items\":[]},\"NodeNames\":null,"
     "\"FailedNodes\":{\"a\":\"AzDriverNode for a is not ready.\","
     "\"b\\u0062\":\"AzDriverNode for b\\u0062 is not ready.\","
     "\"c\":\"AzDriverNode for c is not ready.\"},"
     "\"FailedAndUnresolvableNodes\":{},\"Error\":\"\"}"},
};

static void test_filter(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct extender_args asked = {
            .form = rows[i].form, .names = names, .objects = objects, .n_nodes = 3};
        CLEANUP(freep) char *answer = answer_filter(&asked, rows[i].allowed);

        assert_string_equal(answer, rows[i].answer);
    }
}

static void test_filter_without_nodes(void **state)
{
    const struct extender_args asked = {.form = NODES_NONE};

    (void)state;
    CLEANUP(freep) char *answer = answer_filter(&asked, NULL);
    assert_string_equal(answer, "{\"Nodes\":null,\"NodeNames\":null,\"FailedNodes\":{},"
                                "\"FailedAndUnresolvableNodes\":{},\"Error\":\"\"}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_filter_without_nodes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
