/* Each row is a document and what reading and writing it again gives, or the error's text; ' stands
 * for ". */
#include "lib/json/codec.h"

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "test/unit/expect.h"
#include "test/unit/lib/json/sample.pb-c.h"

static const struct {
    const char *why, *document, *expected;
} rows[] = {
    {"empty", "{}", "{}"},
    {"values that look like nothing are values",
     "{'text':'','flag':false,'small':0,'large':0,'real':0.0,'child':{}}",
     "{'text':'','flag':false,'small':0,'large':0,'real':0.0,'child':{}}"},
    {"null and unknown members are passed over",
     "{'text':null,'kind':'X','child':{'managedFields':[{}],'text':'a'}}",
     "{'child':{'text':'a'}}"},
    {"lists and maps without elements are as if they were not there",
     "{'names':[],'children':[],'labels':{},'parts':{}}", "{}"},
    {"members are written in order of declaration", "{'flag':true,'text':'a'}",
     "{'text':'a','flag':true}"},
    {"lists of everything",
     "{'names':['b','a'],'flags':[true,false],'smalls':[1,-1],'larges':[2],'reals':[0.5],"
     "'anys':[null,{'x':[]}],'children':[{'text':'a'},{}]}",
     "{'names':['b','a'],'flags':[true,false],'smalls':[1,-1],'larges':[2],'reals':[0.5],"
     "'anys':[null,{'x':[]}],'children':[{'text':'a'},{}]}"},
    {"maps keep their order",
     "{'labels':{'z':'1','a':''},'sizes':{'b':0,'a':9},'switches':{'on':true,'off':false},"
     "'values':{'v':[1]},'parts':{'p':{'text':'a'}}}",
     "{'labels':{'z':'1','a':''},'sizes':{'b':0,'a':9},'switches':{'on':true,'off':false},"
     "'values':{'v':[1]},'parts':{'p':{'text':'a'}}}"},
    {"names are raised at underscores, two stand for one, C's words are ordinary",
     "{'diskSizeGB':4,'volume_id':'v','continue':'c','aB_cD':'x'}",
     "{'diskSizeGB':4,'volume_id':'v','continue':'c','aB_cD':'x'}"},
    {"a list of entries is a list", "{'pairs':[{'name':'n','value':'v'}]}",
     "{'pairs':[{'name':'n','value':'v'}]}"},
    {"a free subtree is passed on as it is", "{'any':{'code':[1,2.5,null,{'x':true}],'e':{}}}",
     "{'any':{'code':[1,2.5,null,{'x':true}],'e':{}}}"},
    {"a free value need not be a tree", "{'any':'text'}", "{'any':'text'}"},
    {"a free value may have a NUL character in it", "{'any':'a\\u0000b'}", "{'any':'a\\u0000b'}"},
    {"the widest integers",
     "{'large':-9223372036854775808,'larges':[9223372036854775807],'small':2147483647,"
     "'smalls':[-2147483648]}",
     "{'small':2147483647,'large':-9223372036854775808,'smalls':[-2147483648],"
     "'larges':[9223372036854775807]}"},
    {"a whole number is a number", "{'real':3}", "{'real':3.0}"},
    {"text beyond ASCII", "{'text':'Gr\xc3\xb6\xc3\x9f\x65 \\u20ac'}",
     "{'text':'Gr\xc3\xb6\xc3\x9f\x65 \xe2\x82\xac'}"},

    {"not an object", "[]", "document: expected an object, not a list"},
    {"string", "{'text':1}", "text: expected a string, not this number"},
    {"boolean", "{'flag':'true'}", "flag: expected a boolean, not a string"},
    {"32-bit integer", "{'child':{'small':'1'}}",
     "child.small: expected a 32-bit integer, not a string"},
    {"32 bits above", "{'small':2147483648}", "small: expected a 32-bit integer, not this number"},
    {"32 bits below", "{'small':-2147483649}", "small: expected a 32-bit integer, not this number"},
    {"no fractions", "{'small':1.5}", "small: expected a 32-bit integer, not this number"},
    {"integer", "{'large':1.0}", "large: expected an integer, not this number"},
    {"number", "{'real':true}", "real: expected a number, not a boolean"},
    {"object", "{'child':'x'}", "child: expected an object, not a string"},
    {"list", "{'names':{}}", "names: expected a list, not an object"},
    {"map", "{'labels':[]}", "labels: expected an object, not a list"},
    {"element", "{'names':['a',{}]}", "names[1]: expected a string, not an object"},
    {"element that is null", "{'names':['a',null]}", "names[1]: expected a string, not null"},
    {"member of an element", "{'children':[{},{'children':[{'small':[]}]}]}",
     "children[1].children[0].small: expected a 32-bit integer, not a list"},
    {"value of a map", "{'labels':{'a':'b','c':[]}}", "labels.c: expected a string, not a list"},
    {"member of a value", "{'parts':{'p.q':{'flag':0}}}",
     "parts.p.q.flag: expected a boolean, not this number"},
};

static char *with_double_quotes(const char *text)
{
    char *copy = mem_strdup(text);

    for (char *c = copy; *c; c++)
        if (*c == '\'')
            *c = '"';
    return copy;
}

/* The document read and written again, or the error's message. */
static char *read_and_write(const char *document)
{
    CLEANUP(json_decrefp) json_t *json = json_loads(document, JSON_ALLOW_NUL, NULL);
    CLEANUP(json_decrefp) json_t *written = NULL;
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    const ProtobufCMessage *message = NULL;

    assert_non_null(json);
    CLEANUP(err_freep)
    struct err *err = json_decode(&sample__sample__descriptor, json, arena, &message);
    if (err) {
        assert_null(message);
        assert_int_equal(err_kind(err), ERR_INVALID);
        return mem_strdup(err_message(err));
    }
    written = json_encode(message);
    return json_dumps(written, JSON_COMPACT);
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *document = with_double_quotes(rows[i].document);
        CLEANUP(freep) char *expected = with_double_quotes(rows[i].expected);
        CLEANUP(freep) char *got = read_and_write(document);

        if (strcmp(got, expected) != 0)
            fail_msg("%s: expected %s, got %s", rows[i].why, expected, got);
    }
}

/* `levels` objects or lists in one another, as value of the member `name`. */
static char *nested(const char *name, unsigned levels, const char *open, const char *close)
{
    CLEANUP(buffer_fini) struct buffer text = {.limit = 10000};

    buffer_printf(&text, "{\"%s\":", name);
    for (unsigned i = 0; i < levels; i++)
        buffer_printf(&text, "%s", open);
    buffer_printf(&text, "null");
    for (unsigned i = 0; i < levels; i++)
        buffer_printf(&text, "%s", close);
    buffer_printf(&text, "}");
    return buffer_take(&text);
}

static void test_depth_is_bounded(void **state)
{
    static const struct {
        const char *name;
        unsigned levels;
        const char *open, *close;
        bool fits;
    } cases[] = {
        {"child", 63, "{\"child\":", "}", true},
        {"child", 64, "{\"child\":", "}", false},
        {"any", 63, "{\"child\":", "}", true},
        {"any", 64, "{\"child\":", "}", false},
        {"any", 63, "[", "]", true},
        {"any", 64, "[", "]", false},
        {"anys", 63, "[", "]", true},
        {"anys", 64, "[", "]", false},
        {"any", 2000, "[", "]", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(freep)
        char *document = nested(cases[i].name, cases[i].levels, cases[i].open, cases[i].close);
        CLEANUP(freep) char *got = read_and_write(document);

        if (cases[i].fits)
            assert_int_equal(got[0], '{');
        else
            assert_string_equal(got, "document is nested deeper than 64 levels");
    }
}

static void test_text_that_is_not_utf8_is_repaired(void **state)
{
    char output[] = "mkfs: Gr\xf6sse";
    Sample__Sample sample = SAMPLE__SAMPLE__INIT;

    (void)state;
    sample.text = output;
    CLEANUP(json_decrefp) json_t *json = json_encode(&sample.base);
    assert_string_equal(json_string_value(json_object_get(json, "text")), "mkfs: Gr?sse");
    assert_string_equal(output, "mkfs: Gr\xf6sse");
}

static void test_bytes_that_are_not_json_are_a_bug(void **state)
{
    Sample__Sample sample = SAMPLE__SAMPLE__INIT;
    uint8_t cut_off[] = {'{', '"', 'a', '"'};

    (void)state;
    sample.has_any = true;
    sample.any = (ProtobufCBinaryData){sizeof cut_off, cut_off};
    assert_dies(json_decref(json_encode(&sample.base)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_depth_is_bounded),
        cmocka_unit_test(test_text_that_is_not_utf8_is_repaired),
        cmocka_unit_test(test_bytes_that_are_not_json_are_a_bug),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
