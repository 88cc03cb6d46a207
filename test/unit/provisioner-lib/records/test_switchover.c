/* A wish on a claim counts until its time, if that is not far away. */
#include "provisioner-lib/records/switchover.h"

#include "lib/api/names.h"
#include "lib/base/text.h"
#include "test/unit/object.h"

#define NOON INT64_C(1772366400000000) /* 2026-03-01T12:00:00Z */

static const struct {
    const char *wish, *node;
} rows[] = {
    {"n 2026-03-01T12:00:01Z", "n"},
    {"n.example 2026-03-01T13:00:00Z", "n.example"},
    {"n 2026-03-01T12:00:00Z", NULL},
    {"n 2026-03-01T11:00:00Z", NULL},
    {"n 2026-03-01T13:00:00.000001Z", NULL},
    {"n 9999-01-01T00:00:00Z", NULL},
    {"n soon", NULL},
    {"n", NULL},
    {"n ", NULL},
    {" 2026-03-01T12:10:00Z", NULL},
    {"", NULL},
};

static char *wished(const char *annotations)
{
    CLEANUP(kube_object_unrefp)
    struct kube_object *claim =
        object_taken(&api__persistent_volume_claim__descriptor,
                     mem_printf("{'metadata':{'name':'c'%s}}", annotations));

    return switchover_node(kube_annotation(claim->metadata, ANNOTATION_SWITCHOVER), NOON);
}

static void test_wishes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep)
        char *text =
            mem_printf(",'annotations':{'disk.csi.azure.com/switchover-to':'%s'}", rows[i].wish);
        CLEANUP(freep) char *node = wished(text);

        if (!same_text(node, rows[i].node))
            fail_msg("\"%s\": %s", rows[i].wish, node);
    }
}

static void test_what_is_written_is_read(void **state)
{
    CLEANUP(freep) char *wish = switchover_text("n", NOON + 1000000);
    CLEANUP(freep)
    char *text = mem_printf(",'annotations':{'disk.csi.azure.com/switchover-to':'%s'}", wish);
    CLEANUP(freep) char *node = wished(text);

    (void)state;
    assert_string_equal(wish, rows[0].wish);
    assert_string_equal(node, "n");
    assert_null(wished(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wishes),
        cmocka_unit_test(test_what_is_written_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
