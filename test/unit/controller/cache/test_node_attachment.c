/* Which object is the attachment of a volume on a node, whatever it is called. */
#include "controller/cache/node_attachment.h"

#include "test/unit/controller/controller_of.h"

#define NAMED(name, uid, volume, node, role)                                                       \
    "{'metadata':{'name':'" name "','uid':'" uid "'},'spec':{'volumeName':'" volume                \
    "','nodeName':'" node "','role':'" role "'}}"
#define PLAIN "data-a-node-attachment"

/* clang-format off */
static const struct {
    const char *what, *attachments, *volume, *node, *uid;
} rows[] = {
    {"none", "", "data", "a-node", NULL},
    {"it", NAMED(PLAIN, "1", "data", "a-node", "Primary"), "data", "a-node", "1"},
    {"another volume's of that name", NAMED(PLAIN, "1", "data-a", "node", "Primary"), "data", "a-node", NULL},
    {"both", NAMED(PLAIN, "1", "data-a", "node", "Primary") "," NAMED("data-f-attachment", "2", "data", "a-node", "Replica"),
     "data", "a-node", "2"},
    {"the other of both", NAMED(PLAIN, "1", "data-a", "node", "Primary") "," NAMED("data-f-attachment", "2", "data", "a-node", "Replica"),
     "data-a", "node", "1"},
    {"on another node", NAMED(PLAIN, "1", "data", "b-node", "Primary"), "data", "a-node", NULL},
    {"two of them", NAMED("x", "1", "data", "a-node", "Replica") "," NAMED("y", "2", "data", "a-node", "Primary") ","
     NAMED("z", "3", "data", "a-node", "Replica"), "data", "a-node", "2"},
};
/* clang-format on */

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *text = mem_printf("{'attachments':[%s]}", rows[i].attachments);
        CLEANUP(json_decrefp) json_t *json = json_of(text);
        CLEANUP(view_free) struct cluster_view view = view_of(json);
        CLEANUP(controller_fini) struct controller controller = controller_of(&view);
        const struct kube_object *found =
            node_attachment(&controller, rows[i].volume, rows[i].node);
        const char *uid = rows[i].uid ? rows[i].uid : "";

        if (strcmp(found ? found->metadata->uid : "", uid) != 0)
            fail_msg("%s: %s", rows[i].what, found ? found->metadata->uid : "none");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
