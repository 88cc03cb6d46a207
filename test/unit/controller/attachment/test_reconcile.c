/* When a change of a VM has ended, the VM is told of the calls that are to come: its next change
 * waits for them. */
#include "controller/attachment/attacher_calls.h"

#include "lib/api/names.h"
#include "lib/rt/group.h"
#include "lib/rt/wait.h"
#include "test/unit/controller/controller_of.h"

#define VM_OF_A GROUP_VMS "a"

/* clang-format off */
/* Of volume v on node a; beside it, volume w is to be attached there. */
#define CLUSTER_WITH(deleting, role, state) \
    "{'nodes':[" NODE("a", "True", "") "],'volumes':[" VOLUME("v", "1") "," VOLUME("w", "1") "]," \
    "'pvs':[" PV("w", "w") "]," \
    "'volume_attachments':[" VOLUME_ATTACHMENT("1", "w", "a", "false") "]," \
    "'attachments':[{'metadata':{'name':'v-a','uid':'u'," deleting "'finalizers':['" FINALIZER_ATTACHMENT "']}," \
    "'spec':{'volumeName':'v','volume_id':'" GROUP_DISKS "v','nodeName':'a','role':'" role "'}," \
    "'status':{'state':'" state "','annotation':{'" ANNOTATION_VM "':'" VM_OF_A "'}," \
    "'detail':{'role':'" role "','publish_context':{'LUN':'3'}}}}]}"
/* clang-format on */

enum { CHANGE_MS = 10 * 1000 };

static int announced;   /* calls that the VM was told of, less those that it no longer waits for */
static int at_the_end;  /* of the change */
static bool disk_there; /* on the VM, before the change */

static void instance_announce(struct cloud *cloud, const char *id, bool coming)
{
    (void)cloud;
    assert_string_equal(id, VM_OF_A);
    announced += coming ? 1 : -1;
}

static struct err *instance_get(struct task *self, struct cloud *cloud, const char *id,
                                uint64_t max_age_ms, enum cloud_urgency urgency,
                                struct cloud_instance *ret)
{
    (void)self;
    (void)cloud;
    (void)max_age_ms;
    (void)urgency;
    *ret = cloud_instance_copy(&(struct cloud_instance){
        .id = id,
        .host = "a",
        .max_disks = 8,
        .slots = &(struct cloud_slot){.disk_id = GROUP_DISKS "v", .lun = 3},
        .n_slots = disk_there ? 1 : 0,
    });
    return NULL;
}

/* It fails in a way that nothing is recorded of. */
static struct err *change(struct task *self)
{
    assert_ok(task_sleep(self, CHANGE_MS));
    at_the_end = announced;
    return err_new(ERR_CANCELED, "enough");
}

static struct err *disk_detach(struct task *self, struct cloud *cloud,
                               const struct cloud_detach *detach)
{
    (void)cloud;
    (void)detach;
    return change(self);
}

static struct err *disk_attach(struct task *self, struct cloud *cloud,
                               const struct cloud_attach *attach)
{
    (void)cloud;
    (void)attach;
    return change(self);
}

static void run(struct task *self, void *arg)
{
    CLEANUP(err_freep) struct err *err = reconcile_attachment(self, arg, "v-a");

    assert_int_equal(err_kind(err), ERR_CANCELED);
}

static void close_group(struct task *self, void *arg)
{
    group_close(self, arg);
}

static void expect_others_after(const char *text)
{
    static const struct cloud_ops ops = {.instance_announce = instance_announce,
                                         .instance_get = instance_get,
                                         .disk_attach = disk_attach,
                                         .disk_detach = disk_detach};
    struct cloud cloud = {&ops};
    struct leading leading = {0};
    struct task_group group;
    struct loop *loop = loop_new_virtual(1);
    json_t *json = json_of(text);
    struct cluster_view view = view_of(json);
    struct controller controller = controller_of(&view);

    list_init(&leading.reservations);
    group_init(&group, loop);
    controller.loop = loop;
    controller.cloud = &cloud;
    controller.leading = &leading;
    leading.attacher_calls = attacher_calls_start(&controller, &group);
    announced = 0;
    at_the_end = -1;
    loop_spawn(loop, "reconcile", run, &controller);
    loop_advance(loop, CHANGE_MS);
    assert_int_equal(at_the_end, 0);
    assert_int_equal(announced, 1);
    loop_spawn(loop, "close", close_group, &group);
    loop_advance(loop, 0);
    assert_int_equal(announced, 0);
    attacher_calls_free(leading.attacher_calls);
    controller_fini(&controller);
    view_free(&view);
    json_decref(json);
    loop_free(loop);
}

static void test_after_a_detach(void **state)
{
    (void)state;
    disk_there = true;
    expect_others_after(
        CLUSTER_WITH("'deletionTimestamp':'2026-01-01T00:00:09Z',", "Replica", "Detaching"));
}

static void test_after_an_attach(void **state)
{
    (void)state;
    disk_there = false;
    expect_others_after(CLUSTER_WITH("", "Primary", "Attaching"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_after_a_detach),
        cmocka_unit_test(test_after_an_attach),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
