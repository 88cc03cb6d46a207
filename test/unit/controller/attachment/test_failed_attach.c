/* A disk in a VM's model that Azure cannot attach: when it is known, and that it is not left there.
 */
#include "controller/attachment/failed_attach.h"

#include "test/unit/controller/controller_of.h"

/* clang-format off */
#define OF_V \
    "{'nodes':[" NODE("a", "True", "") "],'volumes':[" VOLUME("v", "1") "]," \
    "'attachments':[{'metadata':{'name':'v-a','uid':'u'}," \
    "'spec':{'volumeName':'v','volume_id':'" GROUP_DISKS "v','nodeName':'a','role':'Primary'}}]}"
/* clang-format on */

static enum err_kind repair_fails; /* ERR_CANCELED and so on; -1: it does not */
static struct cloud_instance vm;
static int detaches, looks;

static struct err *instance_repair(struct task *self, struct cloud *cloud, const char *id,
                                   enum cloud_urgency urgency)
{
    (void)self;
    (void)cloud;
    (void)urgency;
    assert_string_equal(id, GROUP_VMS "a");
    return repair_fails == (enum err_kind) - 1 ? NULL : err_new(repair_fails, "it failed");
}

static struct err *instance_get(struct task *self, struct cloud *cloud, const char *id,
                                uint64_t max_age_ms, enum cloud_urgency urgency,
                                struct cloud_instance *ret)
{
    (void)self;
    (void)cloud;
    (void)urgency;
    assert_string_equal(id, GROUP_VMS "a");
    assert_int_equal(max_age_ms, 0);
    *ret = cloud_instance_copy(&vm);
    looks++;
    return NULL;
}

static struct err *disk_detach(struct task *self, struct cloud *cloud,
                               const struct cloud_detach *detach)
{
    (void)self;
    (void)cloud;
    assert_string_equal(detach->instance_id, GROUP_VMS "a");
    assert_string_equal(detach->disk_id, GROUP_DISKS "v");
    assert_null(detach->out_of_service);
    detaches++;
    return err_new(ERR_BUSY, "which nobody waits for");
}

struct setting {
    struct cloud cloud;
    struct leading leading;
    json_t *json;
    struct cluster_view view;
    struct controller controller;
    struct attachment_work work;
};

static void set_up(struct setting *setting)
{
    static const struct cloud_ops ops = {.instance_get = instance_get,
                                         .instance_repair = instance_repair,
                                         .disk_detach = disk_detach};

    *setting = (struct setting){.cloud = {&ops}, .json = json_of(OF_V)};
    setting->view = view_of(setting->json);
    setting->controller = controller_of(&setting->view);
    setting->controller.cloud = &setting->cloud;
    setting->controller.leading = &setting->leading;
    list_init(&setting->leading.reservations);
    assert_true(attachment_work_gather(&setting->controller, "v-a", &setting->work));
    setting->work.instance_id = mem_strdup(GROUP_VMS "a");
}

static void tear_down(struct setting *setting)
{
    attachment_forget_learned(&setting->controller);
    attachment_work_fini(&setting->work);
    controller_fini(&setting->controller);
    view_free(&setting->view);
    json_decref(setting->json);
}

static bool plan_knows(struct setting *setting)
{
    CLEANUP(attachment_work_fini) struct attachment_work work = {0};

    assert_true(attachment_work_gather(&setting->controller, "v-a", &work));
    return work.in.failed_attach;
}

static const struct {
    enum err_kind kind;
    bool of_disks;
} failures[] = {
    {ERR_INTERNAL, true},  {ERR_BUSY, true},       {ERR_CONFLICT, true},  {ERR_TIMEOUT, true},
    {ERR_CANCELED, false}, {ERR_THROTTLED, false}, {ERR_NOT_SENT, false}, {ERR_UNAVAILABLE, false},
    {ERR_DENIED, false},   {ERR_NOT_FOUND, false},
};

static void test_a_repair_that_fails_is_remembered(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(failures); i++) {
        struct setting setting;

        set_up(&setting);
        repair_fails = failures[i].kind;
        CLEANUP(err_freep)
        struct err *err = failed_attach_repair(NULL, &setting.work, CLOUD_FOR_PRIMARY);
        if ((err == NULL) != failures[i].of_disks || plan_knows(&setting) != failures[i].of_disks)
            fail_msg("failure %zu", i);
        tear_down(&setting);
    }
}

static void test_one_that_succeeds_is_not(void **state)
{
    struct setting setting;

    (void)state;
    set_up(&setting);
    repair_fails = (enum err_kind) - 1;
    assert_ok(failed_attach_repair(NULL, &setting.work, CLOUD_FOR_PRIMARY));
    assert_false(plan_knows(&setting));
    tear_down(&setting);
}

static const struct {
    const char *disk;
    enum cloud_instance_state state;
    bool attached; /* by the machine's own word */
    int detaches;
} models[] = {
    {GROUP_DISKS "v", CLOUD_INSTANCE_FAILED, false, 1},
    {GROUP_DISKS "V", CLOUD_INSTANCE_FAILED, false, 1},
    {GROUP_DISKS "v", CLOUD_INSTANCE_FAILED, true, 0},
    {GROUP_DISKS "v", CLOUD_INSTANCE_SETTLED, false, 0}, /* it is attached by now */
    {GROUP_DISKS "v", CLOUD_INSTANCE_CHANGING, false, 0},
    {GROUP_DISKS "w", CLOUD_INSTANCE_FAILED, false, 0},
};

static void test_then_it_is_not_left_in_the_model(void **state)
{
    struct cloud_slot slot = {.lun = 3};
    struct setting setting;

    (void)state;
    set_up(&setting);
    detaches = looks = 0;
    failed_attach_take_back(NULL, &setting.work, CLOUD_FOR_PRIMARY);
    assert_int_equal(looks, 0); /* nothing is known of it */
    repair_fails = ERR_INTERNAL;
    assert_ok(failed_attach_repair(NULL, &setting.work, CLOUD_FOR_PRIMARY));
    for (size_t i = 0; i < COUNT_OF(models); i++) {
        slot.disk_id = (char *)(uintptr_t)models[i].disk;
        slot.attached = models[i].attached;
        vm = (struct cloud_instance){.id = GROUP_VMS "a",
                                     .host = "a",
                                     .state = models[i].state,
                                     .slots = &slot,
                                     .n_slots = 1};
        detaches = 0;
        failed_attach_take_back(NULL, &setting.work, CLOUD_FOR_PRIMARY);
        if (detaches != models[i].detaches)
            fail_msg("model %zu", i);
    }
    failed_attach_forget(&setting.controller, "u");
    assert_false(plan_knows(&setting));
    tear_down(&setting);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_repair_that_fails_is_remembered),
        cmocka_unit_test(test_one_that_succeeds_is_not),
        cmocka_unit_test(test_then_it_is_not_left_in_the_model),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
