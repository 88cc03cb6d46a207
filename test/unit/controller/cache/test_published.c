/* Which PersistentVolume counts for a volume, and which VolumeAttachments. */
#include "controller/cache/published.h"

#include "provisioner-lib/records/names.h"
#include "test/unit/controller/controller_of.h"

#define HANDLE_ELSEWHERE "/subscriptions/s/resourceGroups/other/providers/Microsoft.Compute/disks/v"

#define HASHED_ELSEWHERE "v.c41f35b7b90310c7"
#define INLINE_ELSEWHERE(name, node)                                                               \
    "{'metadata':{'name':'" name "'},'spec':{'attacher':'" DRIVER "','nodeName':'" node "',"       \
    "'source':{'inlineVolumeSpec':{'csi':{'driver':'" DRIVER "','volumeHandle':'" HANDLE_ELSEWHERE \
    "'}}}},'status':{'attached':true}}"

#define BOUND_PV(name, source)                                                                     \
    "{'metadata':{'name':'" name "','uid':'u-" name "'},'spec':{" source "},"                      \
    "'status':{'phase':'Bound'}}"
#define RELEASED_PV(name, source)                                                                  \
    "{'metadata':{'name':'" name "','uid':'u-" name "'},'spec':{" source "},"                      \
    "'status':{'phase':'Released'}}"
#define PROVISIONED_PV(name, source)                                                               \
    "{'metadata':{'name':'" name "','uid':'u-" name "',"                                           \
    "'annotations':{'pv.kubernetes.io/provisioned-by':'" DRIVER "'}},'spec':{" source "},"         \
    "'status':{'phase':'Bound'}}"
#define UNRECORDED(more) "{'metadata':{'name':'v'},'spec':{'volumeName':'v'" more "}}"
#define CSI(driver, handle) "'csi':{'driver':'" driver "','volumeHandle':'" handle "'}"
#define IN_TREE(handle) "'azureDisk':{'diskName':'v','diskURI':'" handle "'}"
#define V CSI(DRIVER, GROUP_DISKS "v")
#define ADOPTED                                                                                    \
    "{'metadata':{'name':'v','annotations':{'" ANNOTATION_PRE_PROVISIONED "':'" GROUP_DISKS "v',"  \
    "'" ANNOTATION_PV_UID "':'u-p'}},'spec':{'volumeName':'v'}}"

/* clang-format off */
static const struct {
    const char *what, *cluster;
    const char *pv;        /* that counts; NULL: none does */
    const char *published; /* nodes where the volume is */
    const char *held;      /* nodes from which it is to be unpublished */
    const char *asked;     /* nodes that it has been asked for; NULL: where it is */
} rows[] = {
    {"nothing", "{}", NULL, "", "", NULL},
    {"one", "{'pvs':[" BOUND_PV("p", V) "],'volume_attachments':[" VOLUME_ATTACHMENT("1", "p", "a", "true") "]}",
     "p", "a", "a", NULL},
    {"not attached yet",
     "{'pvs':[" BOUND_PV("p", V) "],'volume_attachments':[" VOLUME_ATTACHMENT("1", "p", "a", "false") "]}",
     "p", "", "a", "a"},
    {"a Released one is left beside it, and comes first",
     "{'pvs':[" RELEASED_PV("a", V) "," BOUND_PV("p", V) "],"
     "'volume_attachments':[" VOLUME_ATTACHMENT("1", "p", "a", "true") "]}",
     "p", "a", "a", NULL},
    {"it comes last",
     "{'pvs':[" BOUND_PV("p", V) "," RELEASED_PV("z", V) "],"
     "'volume_attachments':[" VOLUME_ATTACHMENT("1", "p", "a", "true") "]}",
     "p", "a", "a", NULL},
    {"the VolumeAttachment names the Released one",
     "{'pvs':[" BOUND_PV("p", V) "," RELEASED_PV("z", V) "],"
     "'volume_attachments':[" VOLUME_ATTACHMENT("1", "z", "a", "true") "," VOLUME_ATTACHMENT("2", "p", "b", "true") "]}",
     "p", "a b", "a b", NULL},
    {"of two that are bound, the one that the AzVolume was written for",
     "{'volumes':[" ADOPTED "],'pvs':[" BOUND_PV("a", V) "," BOUND_PV("p", V) "," BOUND_PV("z", V) "]}",
     "p", "", "", NULL},
    {"of two that are not, the same",
     "{'volumes':[" ADOPTED "],'pvs':[" RELEASED_PV("a", V) "," RELEASED_PV("p", V) "," RELEASED_PV("z", V) "]}",
     "p", "", "", NULL},
    {"a bound one rather than that",
     "{'volumes':[" ADOPTED "],'pvs':[" BOUND_PV("a", V) "," RELEASED_PV("p", V) "]}",
     "a", "", "", NULL},
    {"in-tree", "{'pvs':[" BOUND_PV("p", IN_TREE(GROUP_DISKS "V")) "],"
     "'volume_attachments':[" VOLUME_ATTACHMENT("1", "p", "a", "true") "]}",
     "p", "a", "a", NULL},
    {"a pod names the disk", "{'volume_attachments':[" INLINE_VOLUME_ATTACHMENT("1", "v", "a", "true") "]}",
     NULL, "a", "a", NULL},
    {"another driver's", "{'pvs':[" BOUND_PV("p", CSI("else", GROUP_DISKS "v")) "],"
     "'volume_attachments':[" VOLUME_ATTACHMENT("1", "p", "b", "true") "]}", NULL, "", "b", NULL},
    {"another disk of the same name, in another group",
     "{'volumes':[" VOLUME("v", "1") "],'pvs':[" BOUND_PV("o", CSI(DRIVER, HANDLE_ELSEWHERE)) ","
     RELEASED_PV("p", V) "],'volume_attachments':[" VOLUME_ATTACHMENT("1", "o", "a", "true") ","
     VOLUME_ATTACHMENT("2", "p", "b", "true") "]}",
     "p", "b", "b", NULL},
    {"the same before either is on record",
     "{'pvs':[" BOUND_PV("o", CSI(DRIVER, HANDLE_ELSEWHERE)) "," RELEASED_PV("p", V) "],"
     "'volume_attachments':[" VOLUME_ATTACHMENT("1", "o", "a", "true") "," VOLUME_ATTACHMENT("2", "p", "b", "true") "]}",
     "o", "a", "a b", NULL},
    {"one made by hand, of an AzVolume whose disk is not on record",
     "{'volumes':[" UNRECORDED("") "],'pvs':[" BOUND_PV("p", V) "],"
     "'volume_attachments':[" VOLUME_ATTACHMENT("1", "p", "a", "true") "]}",
     NULL, "", "a", NULL},
    {"the same of another group",
     "{'volumes':[" UNRECORDED("") "],'pvs':[" BOUND_PV("o", CSI(DRIVER, HANDLE_ELSEWHERE)) "]}", NULL, "", "", NULL},
    {"the AzVolume names it", "{'volumes':[" UNRECORDED(",'persistentVolume':'p'") "],'pvs':[" BOUND_PV("p", V) "]}",
     "p", "", "", NULL},
    {"the AzVolume names another",
     "{'volumes':[" UNRECORDED(",'persistentVolume':'q'") "],'pvs':[" BOUND_PV("p", V) "]}", NULL, "", "", NULL},
    {"one that was made for a claim",
     "{'volumes':[" UNRECORDED("") "],'pvs':[" BOUND_PV("o", CSI(DRIVER, HANDLE_ELSEWHERE)) ","
     PROVISIONED_PV("p", V) "]}",
     "p", "", "", NULL},
    {"another one that was made for a claim",
     "{'volumes':[" UNRECORDED(",'persistentVolume':'q'") "],'pvs':[" PROVISIONED_PV("p", V) "]}", NULL, "", "", NULL},
    {"one that was made for a claim, and whose disk has an AzVolume of its own",
     "{'volumes':[" UNRECORDED("") ",{'metadata':{'name':'" HASHED_ELSEWHERE "'},'spec':{'volumeName':'v'}}],"
     "'pvs':[" PROVISIONED_PV("o", CSI(DRIVER, HANDLE_ELSEWHERE)) "]}",
     NULL, "", "", NULL},
    {"pods name this disk, and another one of the same name",
     "{'volumes':[" VOLUME("v", "1") "],'volume_attachments':[" INLINE_VOLUME_ATTACHMENT("1", "v", "a", "true") ","
     INLINE_ELSEWHERE("2", "b") "]}",
     NULL, "a", "a", NULL},
    {"of what a VolumeAttachment is cannot be told",
     "{'volume_attachments':[" VOLUME_ATTACHMENT("1", "gone", "a", "true") "]}", NULL, "", "a", NULL},
};
/* clang-format on */

static void assert_nodes(const struct controller *controller,
                         bool (*is)(const struct controller *, const char *, const char *),
                         const char *expected, const char *what)
{
    static const char *const nodes[] = {"a", "b", "c"};

    for (size_t i = 0; i < COUNT_OF(nodes); i++)
        if (is(controller, "v", nodes[i]) != (strstr(expected, nodes[i]) != NULL))
            fail_msg("%s: node %s", what, nodes[i]);
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_decrefp) json_t *json = json_of(rows[i].cluster);
        CLEANUP(view_free) struct cluster_view view = view_of(json);
        CLEANUP(controller_fini) struct controller controller = controller_of(&view);
        const struct kube_object *pv = kubernetes_pv(&controller, "v");

        if (strcmp(pv ? pv->metadata->name : "", rows[i].pv ? rows[i].pv : "") != 0)
            fail_msg("%s: %s counts", rows[i].what, pv ? pv->metadata->name : "none");
        assert_nodes(&controller, kubernetes_has_on_node, rows[i].published, rows[i].what);
        assert_nodes(&controller, kubernetes_is_to_unpublish, rows[i].held, rows[i].what);
        assert_nodes(&controller, kubernetes_has_asked_for,
                     rows[i].asked ? rows[i].asked : rows[i].published, rows[i].what);
        assert_int_equal(kubernetes_has_in_use(&controller, "v"),
                         (rows[i].pv && strcmp(rows[i].held, "") != 0) || *rows[i].published);
    }
}

/* In-tree volumes are handed to the driver of that name only. */
static void test_driver_of_another_name(void **state)
{
    CLEANUP(json_decrefp)
    json_t *json = json_of("{'pvs':[" BOUND_PV("p", IN_TREE(GROUP_DISKS "v")) "]}");
    CLEANUP(view_free) struct cluster_view view = view_of(json);
    CLEANUP(controller_fini) struct controller controller = controller_of(&view);

    (void)state;
    assert_non_null(kubernetes_pv(&controller, "v"));
    controller.settings.driver_name = "disk2.csi.azure.com";
    assert_null(kubernetes_pv(&controller, "v"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_driver_of_another_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
