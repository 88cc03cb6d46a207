/* When users are told that a volume has no fence, row by row. */
#include "controller/attachment/unfenced.h"

#include "lib/base/alloc.h"
#include "test/unit/object.h"

#define SHARED "'maxShares':'2'"
#define NOTE(text) "'annotation':{'disk.csi.azure.com/fence':'" text "'},"
#define UNSUPPORTED NOTE("unsupported")

static const struct {
    const char *why;
    const char *parameters, *before, *after, *wanted, *role;
    bool is_news;
} rows[] = {
    {"by default", SHARED, "", UNSUPPORTED, "Primary", "Primary", true},
    {"preferred", SHARED ",'fencing':'preferred'", "", UNSUPPORTED, "Primary", "Primary", true},
    {"after a fence", SHARED, NOTE("held 0x1"), UNSUPPORTED, "Primary", "Primary", true},
    {"known already", SHARED, UNSUPPORTED, UNSUPPORTED, "Primary", "Primary", false},
    {"over", SHARED, UNSUPPORTED, "", "Primary", "Primary", false},
    {"a fence", SHARED, "", NOTE("held 0x1"), "Primary", "Primary", false},
    {"nothing is said", SHARED, "", "", "Primary", "Primary", false},
    {"none is wanted", SHARED ",'fencing':'none'", "", UNSUPPORTED, "Primary", "Primary", false},
    {"the workload has its own", SHARED ",'fencing':'guest'", "", UNSUPPORTED, "Primary", "Primary",
     false},
    {"it is refused", SHARED ",'fencing':'required'", "", UNSUPPORTED, "Primary", "Primary", false},
    {"nobody else can write", "'maxShares':'1'", "", UNSUPPORTED, "Primary", "Primary", false},
    {"a replica", SHARED, "", UNSUPPORTED, "Replica", "Replica", false},
    {"a former primary", SHARED, "", UNSUPPORTED, "Replica", "Primary", false},
    {"not yet a primary", SHARED, "", UNSUPPORTED, "Primary", "Replica", false},
};

static struct kube_object *attachment(const char *wanted, const char *role, const char *note)
{
    return object_taken(&api__az_volume_attachment__descriptor,
                        mem_printf("{'metadata':{'name':'a'},'spec':{'role':'%s'},'status':{%s"
                                   "'state':'Attached','detail':{'role':'%s'}}}",
                                   wanted, note, role));
}

static void test_when_it_is_news(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(kube_object_unrefp)
        struct kube_object *volume = object_taken(
            &api__az_volume__descriptor,
            mem_printf("{'metadata':{'name':'v'},'spec':{'parameters':{%s}}}", rows[i].parameters));
        CLEANUP(kube_object_unrefp)
        struct kube_object *before = attachment(rows[i].wanted, rows[i].role, rows[i].before);
        CLEANUP(kube_object_unrefp)
        struct kube_object *after = attachment(rows[i].wanted, rows[i].role, rows[i].after);

        if (unfenced_is_news(as_volume(volume), as_attachment(before), as_attachment(after)) !=
            rows[i].is_news)
            fail_msg("%s", rows[i].why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_when_it_is_news)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
