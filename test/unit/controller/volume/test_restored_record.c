/* An AzVolume that Velero has restored without its status is no request for a disk; others are. */
#include "controller/volume/restored_record.h"

#include "controller/controller.h"
#include "lib/api/names.h"
#include "test/unit/controller/controller_of.h"
#include "test/unit/lib/kube/script.h"

#define VOLUMES "/apis/disk.csi.azure.com/v1beta2/namespaces/d/azvolumes"
#define RECORD(version, labels, status)                                                            \
    "{'metadata':{'namespace':'d','name':'v','uid':'u','resourceVersion':'" version                \
    "','labels':{" labels "},'finalizers':['" FINALIZER_VOLUME "']},"                              \
    "'spec':{'volumeName':'v','parameters':{'skuName':'Premium_LRS'},"                             \
    "'capacityRange':{'required_bytes':10737418240}}" status "}"
#define RESTORED "'velero.io/backup-name':'b','velero.io/restore-name':'monday'"
#define WITH(state) ",'status':{'state':'" state "'}"
#define REFUSED_STATUS                                                                             \
    "{'status':{'error':{'code':'FAILED_PRECONDITION','message':'AzVolume v was restored by "      \
    "Velero (monday) without its status, *kubectl delete azvolume v -n d*docs/gitops.md)'},"       \
    "'state':'CreationFailed'*"

static const struct {
    const char *record;
    bool refused;
} rows[] = {
    {RECORD("1", RESTORED, ""), true},
    {RECORD("1", RESTORED, ",'status':{}"), true},
    {RECORD("1", RESTORED, WITH("Pending")), false},
    {RECORD("1", RESTORED, WITH("Creating")), false},
    {RECORD("1", "'velero.io/backup-name':'b'", ""), false},
    {RECORD("1", "", ""), false},
};

static void test_which(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *cluster = mem_printf("{'volumes':[%s]}", rows[i].record);
        CLEANUP(json_decrefp) json_t *json = json_of(cluster);
        CLEANUP(view_free) struct cluster_view view = view_of(json);

        if (restored_without_status(as_volume(view.volumes.items[0])) != rows[i].refused)
            fail_msg("row %zu", i);
    }
}

static void reconcile(struct task *self, void *arg)
{
    CLEANUP(err_freep) struct err *err = reconcile_volume(self, arg, "d/v");

    assert_non_null(err);
    assert_int_equal(err_kind(err), ERR_PRECONDITION);
}

/* The cloud that there is makes no disks. */
static void test_the_refusal_is_on_record(void **state)
{
    static const struct script_step steps[] = {
        SCRIPT_ANSWER("PATCH " VOLUMES "/v/status " REFUSED_STATUS, 200,
                      RECORD("2", RESTORED, WITH("CreationFailed"))),
    };
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    CLEANUP(json_decrefp) json_t *json = json_of("{'volumes':[" RECORD("1", RESTORED, "") "]}");
    CLEANUP(view_free) struct cluster_view view = view_of(json);
    CLEANUP(controller_fini) struct controller controller = controller_of(&view);
    struct script script;

    (void)state;
    script_init(&script, loop, steps, COUNT_OF(steps));
    controller.loop = loop;
    controller.namespaces = store_new(&NAMESPACES);
    controller.settings.namespace_ = "d";
    controller.leader_kube = script_client(&script, NULL);
    loop_spawn(loop, "reconcile", reconcile, &controller);
    loop_run(loop);
    assert_int_equal(script.next, COUNT_OF(steps));
    assert_int_equal(script.unanswered, 0);
    kube_free(controller.leader_kube);
    store_free(controller.namespaces);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which),
        cmocka_unit_test(test_the_refusal_is_on_record),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
