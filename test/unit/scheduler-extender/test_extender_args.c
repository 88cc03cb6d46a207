/* Requests in the forms that schedulers send, by what is read out of them: pod, form, nodes. */
#include "scheduler-extender/extender_args.h"

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/rt/loop.h"
#include "test/unit/expect.h"

#define POD                                                                                        \
    "{\"metadata\":{\"name\":\"db-0\",\"namespace\":\"shop\",\"uid\":\"u\",\"labels\":{\"a\":"     \
    "\"b\"}},"                                                                                     \
    "\"spec\":{\"volumes\":[{\"name\":\"data\",\"persistentVolumeClaim\":{\"claimName\":\"data-"   \
    "db-0\"}}],"                                                                                   \
    "\"containers\":[{\"name\":\"db\",\"image\":\"db:1\"}]},\"status\":{\"phase\":\"Pending\"}}"
#define NODE(name)                                                                                 \
    "{\"metadata\":{\"name\":\"" name "\",\"uid\":\"u\"},\"spec\":{\"podCIDR\":\"10.0.0.0/24\"},"  \
    "\"status\":{\"capacity\":{\"cpu\":\"4\"}}}"

static const struct {
    const char *why, *request;
    const char *read; /* "form: names", and after each whole node its length */
} good[] = {
    {"names, as schedulers send them today",
     "{\"Pod\":" POD ",\"Nodes\":null,\"NodeNames\":[\"a\",\"b\"]}", "names: a b"},
    {"names, as the first generation spelt them", "{\"pod\":" POD ",\"nodenames\":[\"a\",\"b\"]}",
     "names: a b"},
    {"names in camel case", "{\"pod\":" POD ",\"nodes\":null,\"nodeNames\":[\"a\"]}", "names: a"},
    {"names with space between everything",
     " {\n\t\"Pod\" : " POD " , \"NodeNames\" : [ \"a\" ,\r\n \"b\" ] } ", "names: a b"},
    {"no names", "{\"Pod\":" POD ",\"NodeNames\":[]}", "names:"},
    {"whole nodes, as schedulers send them today",
     "{\"Pod\":" POD
     ",\"Nodes\":{\"metadata\":{},\"items\":[" NODE("a") "," NODE("bb") "]},\"NodeNames\":null}",
     "nodes: a/102 bb/103"},
    {"whole nodes, as the first generation spelt them",
     "{\"pod\":" POD ",\"nodes\":{\"metadata\":{},\"items\":[" NODE("a") "]}}", "nodes: a/102"},
    {"an empty list of whole nodes", "{\"Pod\":" POD ",\"Nodes\":{\"items\":null}}", "nodes:"},
    {"no nodes at all", "{\"Pod\":" POD ",\"Nodes\":null,\"NodeNames\":null}", "none:"},
    {"a member that is not known", "{\"New\":[{}],\"Pod\":" POD ",\"NodeNames\":[\"a\"]}",
     "names: a"},
    {"a name with an escape stays as it is spelt", "{\"Pod\":" POD ",\"NodeNames\":[\"a\\u0062\"]}",
     "names: a\\u0062"},
};

static const struct {
    const char *request, *fault;
} bad[] = {
    {"", "not JSON: wrong, cut off or too deep after byte 0"},
    {"nodes", "not JSON: wrong, cut off or too deep after byte 0"},
    {"{\"Pod\":{},\"NodeNames\":[\"a\"", "not JSON: wrong, cut off or too deep after byte 23"},
    {"[]", "no Pod"},
    {"{}", "no Pod"},
    {"{\"Pod\":null,\"NodeNames\":[\"a\"]}", "no Pod"},
    {"{\"Pod\":7,\"NodeNames\":[\"a\"]}", "Pod: document: expected an object, not such a number"},
    {"{\"Pod\":{\"spec\":{\"volumes\":{}}}}", "Pod: spec.volumes: expected a list, not an object"},
    {"{\"Pod\":{},\"NodeNames\":\"a\"}", "NodeNames is not a list"},
    {"{\"Pod\":{},\"NodeNames\":[\"a\",2]}", "NodeNames[1] is not a string"},
    {"{\"Pod\":{},\"Nodes\":{\"items\":[" NODE("a") ",{}]}}",
     "Nodes.items[1] has no metadata.name"},
    {"{\"Pod\":{},\"Nodes\":{\"items\":[{\"metadata\":{\"name\":1}}]}}",
     "Nodes.items[0] has no metadata.name"},
};

static char *describe(const struct extender_args *args)
{
    static const char *const forms[] = {"none", "names", "nodes"};
    struct buffer text = {.limit = 1000};

    buffer_printf(&text, "%s:", forms[args->form]);
    for (size_t i = 0; i < args->n_nodes; i++) {
        buffer_printf(&text, " %s", args->names[i]);
        if (args->form == NODES_WHOLE)
            buffer_printf(&text, "/%zu", args->objects[i].length);
    }
    return buffer_take(&text);
}

static void read_good_ones(struct task *self, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        CLEANUP(extender_args_fini) struct extender_args args = {0};

        assert_ok(extender_args_parse(self, good[i].request, strlen(good[i].request), &args));
        CLEANUP(freep) char *read = describe(&args);
        assert_string_equal(read, good[i].read);
        assert_string_equal(args.pod->metadata->namespace_, "shop");
        assert_string_equal(args.pod->spec->volumes[0]->persistent_volume_claim->claim_name,
                            "data-db-0");
    }
}

static void read_bad_ones(struct task *self, void *arg)
{
    (void)arg;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct extender_args args;

        assert_fails(extender_args_parse(self, bad[i].request, strlen(bad[i].request), &args),
                     ERR_INVALID, bad[i].fault);
    }
}

static void read_too_many(struct task *self, void *arg)
{
    CLEANUP(buffer_fini) struct buffer text = {.limit = 1 << 20};
    struct extender_args args;

    (void)arg;
    buffer_printf(&text, "{\"Pod\":{},\"NodeNames\":[\"\"");
    for (int i = 0; i < EXTENDER_MAX_NODES; i++)
        buffer_printf(&text, ",\"\"");
    buffer_printf(&text, "]}");
    assert_fails(extender_args_parse(self, text.data, text.length, &args), ERR_EXHAUSTED,
                 "more than 100000 nodes");
}

static void in_a_task(task_fn *body)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);

    loop_spawn(loop, "test", body, NULL);
    loop_run(loop);
}

static void test_forms(void **state)
{
    (void)state;
    in_a_task(read_good_ones);
}

static void test_faults(void **state)
{
    (void)state;
    in_a_task(read_bad_ones);
}

static void test_the_number_of_nodes_is_bounded(void **state)
{
    (void)state;
    in_a_task(read_too_many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_the_number_of_nodes_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
