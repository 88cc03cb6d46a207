/* What `kubectl get azvolumes -o wide` says of the attachments. */
#include "controller/volume/attachment_summary.h"

#include "provisioner-lib/records/names.h"
#include "test/unit/controller/controller_of.h"

#define ON(node, role, more)                                                                       \
    "{'metadata':{'name':'v-" node "'" more "},'spec':{'volumeName':'v','nodeName':'" node         \
    "','role':'" role "'},'status':{'state':'Attached','detail':{'role':'" role "'}}}"
#define LEAVES ",'deletionTimestamp':'2026-01-01T00:00:00Z'"
#define COMES                                                                                      \
    "{'metadata':{'name':'v-n'},'spec':{'volumeName':'v','nodeName':'n','role':'Primary'},"        \
    "'status':{'state':'Attaching'}}"
#define NOTED(node, note)                                                                          \
    "{'metadata':{'name':'v-" node "'},'spec':{'volumeName':'v','nodeName':'" node                 \
    "','role':'Replica'},'status':{'state':'Attached','detail':{'role':'Replica'},'annotation':{"  \
    "'disk.csi.azure.com/replica-ready':'" note "'}}}"
#define SAYS(nodes, ready) ",'primaryNode':'" nodes "','readyReplicas':" ready
#define EXPECT(nodes, ready) "{'status':{'primaryNode':'" nodes "','readyReplicas':" ready "}}"

/* clang-format off */
static const struct {
    const char *what, *says, *attachments, *expected; /* NULL: nothing is written */
} rows[] = {
    {"never published", "", "", NULL},
    {"published", "", ON("a", "Primary", ""), EXPECT("a", "0")},
    {"and on record", SAYS("a", "0"), ON("a", "Primary", ""), NULL},
    {"with replicas", SAYS("a", "0"), ON("a", "Primary", "") "," ON("b", "Replica", "") "," ON("c", "Replica", ""),
     EXPECT("a", "2")},
    {"of which one is not ready", SAYS("a", "2"), ON("a", "Primary", "") ","
     NOTED("b", "true 2026-01-01T00:00:00Z") "," NOTED("c", "false 2026-01-01T00:00:00Z no disk at LUN 3"),
     EXPECT("a", "1")},
    {"moved", SAYS("a", "1"), ON("a", "Replica", "") "," ON("b", "Primary", ""), EXPECT("b", "1")},
    {"on several nodes, by name", "", ON("b", "Primary", "") "," ON("a", "Primary", ""), EXPECT("a,b", "0")},
    {"on its way", "", COMES, NULL},
    {"the replica leaves", SAYS("a", "1"), ON("a", "Primary", "") "," ON("b", "Replica", LEAVES), EXPECT("a", "0")},
    {"published nowhere any more", SAYS("a", "1"), "", EXPECT("", "0")},
};
/* clang-format on */

static void test_summary(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep)
        char *text = mem_printf("{'volumes':[{'metadata':{'name':'v'},'spec':{'volumeName':'v'},"
                                "'status':{'state':'Created'%s}}],'attachments':[%s]}",
                                rows[i].says, rows[i].attachments);
        CLEANUP(json_decrefp) json_t *json = json_of(text);
        CLEANUP(view_free) struct cluster_view view = view_of(json);
        CLEANUP(json_decrefp)
        json_t *is = attachment_summary_json(as_volume(view.volumes.items[0]),
                                             view.attachments.items, view.attachments.n);
        CLEANUP(json_decrefp)
        json_t *expected = rows[i].expected ? json_of(rows[i].expected) : NULL;

        if (expected ? !json_equal(is, expected) : is != NULL)
            fail_msg("%s: %s", rows[i].what, json_dumps(is, 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_summary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
