/* Answers as text, for nodes asked by name and as whole objects. */
#include "scheduler-extender/extender_answer.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define OBJECT(text)                                                                               \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }

#define NAME(name)                                                                                 \
    {                                                                                              \
        .text = name "and more", .length = sizeof(name) - 1                                        \
    }

static struct named names[] = {NAME("a"), NAME("b\\u0062"), NAME("c")};
static struct json_piece objects[] = {OBJECT("{\"metadata\": {\"name\":\"a\"}}"),
                                      OBJECT("{\"metadata\":{\"name\":\"b\\u0062\"},\"x\":1}"),
                                      OBJECT("{\"metadata\":{\"name\":\"c\"}}")};

static void test_scores(void **state)
{
    struct extender_args asked = {.form = NODES_BY_NAME, .names = names, .n_nodes = 3};
    unsigned scores[] = {10, 3, 7};

    (void)state;
    CLEANUP(freep) char *answer = answer_scores(&asked, scores);
    assert_string_equal(answer,
                        "[{\"Host\":\"a\",\"Score\":10},{\"Host\":\"b\\u0062\",\"Score\":3},"
                        "{\"Host\":\"c\",\"Score\":7}]");
    scores[0] = scores[1] = 0;
    CLEANUP(freep) char *one = answer_scores(&asked, scores);
    assert_string_equal(one, "[{\"Host\":\"c\",\"Score\":7}]");
    asked.n_nodes = 0;
    CLEANUP(freep) char *nothing = answer_scores(&asked, scores);
    assert_string_equal(nothing, "[]");
}

/* Neither answer looks at the names, which nobody has read. */
static void test_when_all_are_alike(void **state)
{
    static const struct {
        struct extender_args asked;
        const char *answer;
    } alike[] = {
        {{.form = NODES_BY_NAME, .nodes = OBJECT("[ \"a\",\"b\" ]")},
         "{\"Nodes\":null,\"NodeNames\":[ \"a\",\"b\" ],\"FailedNodes\":{},"
         "\"FailedAndUnresolvableNodes\":{},\"Error\":\"\"}"},
        {{.form = NODES_WHOLE, .nodes = OBJECT("{\"metadata\":{},\"items\":null}")},
         "{\"Nodes\":{\"metadata\":{},\"items\":null},\"NodeNames\":null,\"FailedNodes\":{},"
         "\"FailedAndUnresolvableNodes\":{},\"Error\":\"\"}"},
        {{.form = NODES_NONE},
         "{\"Nodes\":null,\"NodeNames\":null,\"FailedNodes\":{},"
         "\"FailedAndUnresolvableNodes\":{},\"Error\":\"\"}"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(alike); i++) {
        CLEANUP(freep) char *allowed = answer_filter(&alike[i].asked, NULL);
        CLEANUP(freep) char *scores = answer_scores(&alike[i].asked, NULL);

        assert_string_equal(allowed, alike[i].answer);
        assert_string_equal(scores, "[]");
    }
}

/* However many there are. */
static void test_when_many_are_alike(void **state)
{
    char nodes[5000];
    const struct extender_args asked = {.form = NODES_BY_NAME, .nodes = {nodes, sizeof nodes}};

    (void)state;
    memset(nodes, ' ', sizeof nodes);
    nodes[0] = '[', nodes[sizeof nodes - 1] = ']';
    CLEANUP(freep) char *answer = answer_filter(&asked, NULL);
    assert_memory_equal(answer + strlen("{\"Nodes\":null,\"NodeNames\":"), nodes, sizeof nodes);
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
        const struct extender_args asked = {.form = rows[i].form,
                                            .nodes = {NULL, 256}, /* how much room they take */
                                            .names = names,
                                            .objects = objects,
                                            .n_nodes = 3};
        CLEANUP(freep) char *answer = answer_filter(&asked, rows[i].allowed);

        assert_string_equal(answer, rows[i].answer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scores),
        cmocka_unit_test(test_filter),
        cmocka_unit_test(test_when_all_are_alike),
        cmocka_unit_test(test_when_many_are_alike),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
