/* Selectors as they are written, against the labels of one node. */
#include "lib/kube/selector_text.h"

#include "lib/kube/selector.h"
#include "test/unit/expect.h"
#include "test/unit/lib/kube/objects.h"

#define NODE                                                                                       \
    "{'metadata':{'name':'n1','labels':{'disk':'ssd','in':'out','empty':'',"                       \
    "'kubernetes.azure.com/scalesetpriority':'spot'}}}"

static void test_what_is_selected(void **state)
{
    static const struct {
        const char *text;
        bool matches;
    } rows[] = {
        {"", true},
        {"  ", true},
        {"disk=ssd", true},
        {"disk==ssd", true},
        {" disk = ssd ", true},
        {"disk=hdd", false},
        {"gpu=ssd", false},
        {"disk!=ssd", false},
        {"disk!=hdd", true},
        {"gpu!=a100", true},
        {"disk", true},
        {"empty", true},
        {"empty=", true},
        {"disk=", false},
        {"gpu", false},
        {"!gpu", true},
        {"! disk", false},
        {"disk in (hdd,ssd)", true},
        {"disk in(hdd, ssd )", true},
        {"disk in (hdd)", false},
        {"gpu in (a)", false},
        {"disk notin (hdd)", true},
        {"disk notin (hdd,ssd)", false},
        {"gpu notin (a)", true},
        {"empty in ()", true},
        {"in", true},
        {"in in (out)", true},
        {"kubernetes.azure.com/scalesetpriority!=spot", false},
        {"disk=ssd,in=out", true},
        {"disk=ssd,!in", false},
        {"disk in (ssd,hdd),in notin (a,b),!gpu", true},
    };
    CLEANUP(kube_object_unrefp)
    struct kube_object *node = object_of(&api__node__descriptor, NODE);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(label_selector_freep) Api__LabelSelector *selector = NULL;

        assert_ok(label_selector_parse(rows[i].text, &selector));
        if (label_selector_matches(selector, node->metadata) != rows[i].matches)
            fail_msg("%s", rows[i].text);
    }
}

static void test_what_is_no_selector(void **state)
{
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"=ssd", "\"=ssd\" is not a label selector: the name of a label is missing at \"=ssd\""},
        {"disk=ssd,", "\"disk=ssd,\" is not a label selector: the name of a label is missing at "
                      "\"\""},
        {"a,,b", "\"a,,b\" is not a label selector: the name of a label is missing at \",b\""},
        {"!", "\"!\" is not a label selector: the name of a label is missing at \"\""},
        {"disk=ssd gpu", "\"disk=ssd gpu\" is not a label selector: \"gpu\" is unexpected"},
        {"disk within (a)",
         "\"disk within (a)\" is not a label selector: \"within (a)\" is unexpected"},
        {"cores>4", "\"cores>4\" is not a label selector: \">4\" is unexpected"},
        {"!disk=ssd", "\"!disk=ssd\" is not a label selector: \"=ssd\" is unexpected"},
        {"disk in ssd", "\"disk in ssd\" is not a label selector: \"(\" is missing at \"ssd\""},
        {"disk in (a", "\"disk in (a\" is not a label selector: \")\" is missing at \"\""},
        {"disk in (a b)", "\"disk in (a b)\" is not a label selector: \")\" is missing at \"b)\""},
        {"{\"disk\":1}", "\"{\"disk\":1}\" is not a label selector: the name of a label is missing "
                         "at \"{\"disk\":1}\""},
    };
    CLEANUP(freep) char *longest = mem_alloc(SELECTOR_TEXT_MAX + 2);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        Api__LabelSelector *selector = NULL;

        assert_fails(label_selector_parse(rows[i].text, &selector), ERR_INVALID, rows[i].expected);
        assert_null(selector);
    }
    memset(longest, 'a', SELECTOR_TEXT_MAX + 1);
    Api__LabelSelector *selector = NULL;
    assert_fails(label_selector_parse(longest, &selector), ERR_INVALID,
                 "the selector has more than 1024 characters");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_selected),
        cmocka_unit_test(test_what_is_no_selector),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
