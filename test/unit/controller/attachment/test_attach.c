/* What becomes of an attach that the cloud refuses because of the disk: what passes by itself is
 * tried again soon. */
#include "controller/attachment/attach.h"

#include "test/unit/controller/controller_of.h"

enum { NONE = ERR_KIND_COUNT };

static struct {
    int refusal; /* of the attach */
    int unread;  /* why the disk cannot be read; NONE: it is as its record says */
} azure;

/* clang-format off */
#define WORLD \
    "{'nodes':[" NODE("a", "True", "") "]," \
    "'volumes':[{'metadata':{'name':'v'},'spec':{'volumeName':'v','parameters':{'skuName':'Premium_LRS'}}," \
    "'status':{'state':'Created','detail':{'volume_id':'" GROUP_DISKS "v','capacity_bytes':4294967296}}}]," \
    "'attachments':[" ATTACHMENT("v", "a", "Primary", "Primary", "Attaching", "3", "") "]}"

static const struct {
    const char *why;
    int refusal, unread;
    enum err_kind kind;
} rows[] = {
    {"a disk that was just created is there", ERR_NOT_FOUND, NONE, ERR_BUSY},
    {"a disk that is not there stays away", ERR_NOT_FOUND, ERR_NOT_FOUND, ERR_NOT_FOUND},
    {"whether it is there may show later", ERR_NOT_FOUND, ERR_UNAVAILABLE, ERR_BUSY},
    {"or never", ERR_NOT_FOUND, ERR_DENIED, ERR_NOT_FOUND},
    {"a disk that cannot be attached as it is", ERR_INVALID, NONE, ERR_INVALID},
    {"the same, whatever it is", ERR_INVALID, ERR_UNAVAILABLE, ERR_INVALID},
    {"a disk that somebody else may let go", ERR_BUSY, NONE, ERR_BUSY},
    {"the same, whoever has it", ERR_BUSY, ERR_DENIED, ERR_BUSY},
    {"the same, if it is nowhere", ERR_BUSY, ERR_NOT_FOUND, ERR_BUSY},
    {"what has nothing to do with the disk", ERR_DENIED, NONE, ERR_DENIED},
};
/* clang-format on */

static struct err *disk_attach(struct task *self, struct cloud *cloud,
                               const struct cloud_attach *attach)
{
    (void)self, (void)cloud, (void)attach;
    return err_new((enum err_kind)azure.refusal, "refused");
}

static struct err *disk_get(struct task *self, struct cloud *cloud, const char *id,
                            struct cloud_disk *ret)
{
    (void)self, (void)cloud;
    assert_string_equal(id, GROUP_DISKS "v");
    if (azure.unread != NONE)
        return err_new((enum err_kind)azure.unread, "unread");
    *ret = (struct cloud_disk){
        .sku = mem_strdup("Premium_LRS"), .max_shares = 1, .size_bytes = 4 * GIB};
    return NULL;
}

struct call {
    struct controller *controller;
    struct err *err;
};

static void attach_once(struct task *self, void *arg)
{
    struct call *call = arg;
    CLEANUP(attachment_work_fini) struct attachment_work work = {0};
    const struct attachment_plan plan = {.step = STEP_ATTACH, .lun = 3};
    struct cloud_instance seen = {0};
    bool attached;

    assert_true(attachment_work_gather(call->controller, "v-a", &work));
    call->err = attach_disk(self, &work, &plan, CLOUD_FOR_PRIMARY, &seen, &attached);
    assert_false(attached);
}

static void test_refusals(void **state)
{
    static const struct cloud_ops ops = {.disk_attach = disk_attach, .disk_get = disk_get};
    CLEANUP(json_decrefp) json_t *json = json_of(WORLD);
    CLEANUP(view_free) struct cluster_view view = view_of(json);
    CLEANUP(controller_fini) struct controller controller = controller_of(&view);
    struct cloud cloud = {&ops};
    struct leading leading = {0};

    (void)state;
    list_init(&leading.reservations);
    controller.leading = &leading;
    controller.cloud = &cloud;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
        struct call call = {.controller = &controller};

        controller.loop = loop;
        azure.refusal = rows[i].refusal;
        azure.unread = rows[i].unread;
        loop_spawn(loop, "attach", attach_once, &call);
        loop_run(loop);
        if (err_kind(call.err) != rows[i].kind)
            fail_msg("%s: %s", rows[i].why, err_kind_reason(err_kind(call.err)));
        assert_string_equal(err_message(call.err), "refused");
        err_free(call.err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
