/* Requests in the forms that schedulers send, by what is read out of them: pod, form, nodes. */
#include "scheduler-extender/extender_args.h"

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/kube/pod_claim.h"
#include "scheduler-extender/pod_text.h"
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
    {"", "not JSON: invalid, truncated or nested too deeply after byte 0"},
    {"nodes", "not JSON: invalid, truncated or nested too deeply after byte 0"},
    {"{\"Pod\":{},\"NodeNames\":[\"a\"",
     "not JSON: invalid, truncated or nested too deeply after byte 23"},
    {"[]", "Pod is missing"},
    {"{}", "Pod is missing"},
    {"{\"Pod\":null,\"NodeNames\":[\"a\"]}", "Pod is missing"},
    {"{\"Pod\":7,\"NodeNames\":[\"a\"]}", "Pod is not an object"},
    {"{\"Pod\":{\"spec\":{\"volumes\":{}}}}", "Pod.spec.volumes is not a list"},
    {"{\"Pod\":{},\"NodeNames\":\"a\"}", "NodeNames is not a list"},
    {"{\"Pod\":{},\"Nodes\":[]}", "Nodes is not an object"},
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
        buffer_printf(&text, " %.*s", (int)args->names[i].length, args->names[i].text);
        if (args->form == NODES_WHOLE)
            buffer_printf(&text, "/%zu", args->objects[i].length);
    }
    return buffer_take(&text);
}

static void test_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        CLEANUP(extender_args_fini) struct extender_args args = {0};

        assert_ok(extender_args_parse(good[i].request, strlen(good[i].request), &args));
        assert_int_equal(args.n_nodes, 0); /* nobody has asked for them yet */
        assert_ok(extender_args_read_nodes(&args));
        CLEANUP(freep) char *read = describe(&args);
        assert_string_equal(read, good[i].read);
        assert_string_equal(args.pod->metadata->namespace_, "shop");
        assert_string_equal(args.pod->spec->volumes[0]->persistent_volume_claim->claim_name,
                            "data-db-0");
    }
}

static struct err *read_all(const char *request, size_t length)
{
    CLEANUP(extender_args_fini) struct extender_args args = {0};

    TRY(extender_args_parse(request, length, &args));
    return extender_args_read_nodes(&args);
}

static void test_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_fails(read_all(bad[i].request, strlen(bad[i].request)), ERR_INVALID, bad[i].fault);
}

/* The member as it came, which answers a pod that may go anywhere. */
static void test_the_member_is_known_before_its_nodes(void **state)
{
    static const char request[] = "{\"Pod\":{},\"NodeNames\": [ \"a\" , 7 ] }";
    CLEANUP(extender_args_fini) struct extender_args args = {0};

    (void)state;
    assert_ok(extender_args_parse(request, strlen(request), &args));
    assert_int_equal(args.form, NODES_BY_NAME);
    assert_int_equal(args.nodes.length, strlen("[ \"a\" , 7 ]"));
    assert_memory_equal(args.nodes.text, "[ \"a\" , 7 ]", args.nodes.length);
}

/* ---- what is built of a pod ---- */

#define NAME_253                                                                                   \
    "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"  \
    "1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901"  \
    "23456789012345678901234567890123456789012345678901234567890123456789012"

static const struct {
    const char *why, *pod;
    const char *claims; /* by their keys */
} pods[] = {
    {"no claims", "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\"},\"spec\":{}}", ""},
    {"no list of volumes", "{\"metadata\":{\"namespace\":\"n\"},\"spec\":{\"volumes\":null}}", ""},
    {"claims among other volumes",
     "{\"metadata\":{\"annotations\":{\"a\":\"b\"},\"name\":\"p\",\"namespace\":\"n\"},"
     "\"spec\":{\"volumes\":["
     "{\"name\":\"t\",\"projected\":{\"sources\":[{}]}},{\"name\":\"m\",\"configMap\":{}},"
     "{\"name\":\"d\",\"persistentVolumeClaim\":{\"claimName\":\"c\",\"readOnly\":true}},"
     "{\"name\":\"e\",\"ephemeral\":{\"volumeClaimTemplate\":{\"spec\":{}}}}]}}",
     " n/c n/p-e"},
    {"volumes that are none",
     "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\"},\"spec\":{\"volumes\":[7,null,[],{},"
     "{\"persistentVolumeClaim\":7},{\"persistentVolumeClaim\":{\"claimName\":7}},"
     "{\"ephemeral\":{}}]}}",
     ""},
    {"a name as long as names may be",
     "{\"metadata\":{\"namespace\":\"n\"},\"spec\":{\"volumes\":["
     "{\"persistentVolumeClaim\":{\"claimName\":\"" NAME_253 "\"}},"
     "{\"persistentVolumeClaim\":{\"claimName\":\"" NAME_253 "4\"}}]}}",
     " n/" NAME_253},
};

static void test_claims(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(pods); i++) {
        CLEANUP(extender_args_fini) struct extender_args args = {0};
        CLEANUP(buffer_fini) struct buffer claims = {.limit = 1000};
        CLEANUP(freep) char *request = mem_printf("{\"Pod\":%s}", pods[i].pod);

        assert_ok(extender_args_parse(request, strlen(request), &args));
        buffer_printf(&claims, "%s", "");
        for (size_t v = 0; v < args.pod->spec->n_volumes; v++) {
            CLEANUP(freep) char *key = pod_claim_key(args.pod, args.pod->spec->volumes[v]);

            if (key)
                buffer_printf(&claims, " %s", key);
        }
        assert_string_equal(claims.data, pods[i].claims);
    }
}

/* ---- bounds ---- */

/* `begin`, then `item` again and again with commas between, then `end`. */
static void refuse_many(const char *begin, const char *item, unsigned n, const char *end,
                        const char *fault)
{
    CLEANUP(buffer_fini) struct buffer text = {.limit = 1 << 20};

    buffer_printf(&text, "%s%s", begin, item);
    for (unsigned i = 0; i < n; i++)
        buffer_printf(&text, ",%s", item);
    buffer_printf(&text, "%s", end);
    assert_fails(read_all(text.data, text.length), ERR_EXHAUSTED, fault);
}

static void test_nodes_and_claims_are_bounded(void **state)
{
    (void)state;
    refuse_many("{\"Pod\":{},\"NodeNames\":[", "\"\"", EXTENDER_MAX_NODES, "]}",
                "more than 20000 nodes");
    refuse_many("{\"Pod\":{\"spec\":{\"volumes\":[", "{\"ephemeral\":{}}", POD_MAX_CLAIMS, "]}}}",
                "the pod has more than 1000 volumes with claims");
}

/* What is passed over costs nothing, however much it is. */
static void test_only_what_is_wanted_is_built(void **state)
{
    CLEANUP(extender_args_fini) struct extender_args args = {0};
    CLEANUP(buffer_fini) struct buffer text = {.limit = 1 << 20};

    (void)state;
    buffer_printf(&text, "{\"Pod\":{\"metadata\":{\"annotations\":{\"a\":\"\"");
    for (int i = 0; i < 10000; i++)
        buffer_printf(&text, ",\"a\":{\"b\":[0]}");
    buffer_printf(&text, "}},\"spec\":{\"volumes\":[{}");
    for (int i = 0; i < 10000; i++)
        buffer_printf(&text, ",{\"name\":\"v\",\"emptyDir\":{}}");
    buffer_printf(&text, "]}},\"NodeNames\":[\"a\"]}");
    assert_ok(extender_args_parse(text.data, text.length, &args));
    assert_int_equal(args.pod->spec->n_volumes, 0);
    assert_in_range(arena_bytes(args.arena), 0, 64 * 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_the_member_is_known_before_its_nodes),
        cmocka_unit_test(test_claims),
        cmocka_unit_test(test_nodes_and_claims_are_bounded),
        cmocka_unit_test(test_only_what_is_wanted_is_built),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
