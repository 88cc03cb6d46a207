/* What the stores keep is what is asked of them. */
#include "controller/cache/informers.h"

#include "controller/attachment/attacher_calls.h"
#include "lib/json/pick.h"
#include "test/unit/controller/controller_of.h"

/* clang-format off */
/* As external-attacher writes it. */
static const char failed[] =
    "{'volumes':[" VOLUME("v", "1") "],'pvs':[" PV("v", "v") "],'volume_attachments':["
    "{'metadata':{'name':'1'},'spec':{'attacher':'" DRIVER "','nodeName':'a',"
    "'source':{'persistentVolumeName':'v'}},'status':{'attached':false,"
    "'attachError':{'time':'2026-01-01T00:00:04Z','message':'m'}}}]}";
/* clang-format on */

/* Its call is not to come any more: no change of the VM waits for it. */
static void test_that_an_attach_has_failed(void **state)
{
    json_t *json = json_of(failed), *list = json_object_get(json, "volume_attachments");

    (void)state;
    json_array_set_new(list, 0, json_pick(json_array_get(list, 0), kept_of_volume_attachments));
    struct cluster_view view = view_of(json);
    struct controller controller = controller_of(&view);
    const Api__VolumeAttachmentStatus *status =
        KUBE_AS(Api__VolumeAttachment, view.volume_attachments.items[0])->status;

    assert_non_null(status->attach_error);
    assert_null(status->attach_error->message);
    assert_int_equal(attacher_calls_to_come(&controller, "a"), 0);
    controller_fini(&controller);
    view_free(&view);
    json_decref(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_that_an_attach_has_failed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
