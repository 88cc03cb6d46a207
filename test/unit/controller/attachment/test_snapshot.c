/* What an attachment that looks for a place on a VM is told of its neighbours. */
#include "controller/attachment/snapshot.h"

#include "controller/leading.h"
#include "lib/kube/node.h"
#include "lib/rt/loop.h"
#include "test/unit/controller/controller_of.h"

enum { RESERVED = 5 };

/* On node a: a primary that has no LUN on record, beside a replica that looks for a place. */
#define CLUSTER_TEXT(primary)                                                                      \
    "{'volumes':[" VOLUME("v", "1") "," VOLUME("r", "1") "],"                                      \
                                                         "'attachments':[" primary                 \
                                                         "," ATTACHMENT("r", "a", "Replica", "",   \
                                                                        "", "", "") "]}"
#define WITHOUT_LUN CLUSTER_TEXT(ATTACHMENT("v", "a", "Primary", "", "", "", ""))

/* clang-format off */
static const struct {
    const char *why, *cluster;
    struct reservation reservation; /* of no node: there is none */
    bool waits, taken;
} rows[] = {
    {"nobody is recording anything", WITHOUT_LUN, {.lun = NO_LUN}, true, false},
    {"its LUN is being recorded", WITHOUT_LUN,
     {.node = "a", .volume = "v", .lun = RESERVED}, false, true},
    {"that it is the primary is being recorded", WITHOUT_LUN,
     {.node = "a", .volume = "v", .lun = NO_LUN, .primary = true}, true, false},
    {"the LUN of another one is being recorded", WITHOUT_LUN,
     {.node = "a", .volume = "w", .lun = RESERVED}, true, true},
    {"the LUN of its volume on another node is being recorded", WITHOUT_LUN,
     {.node = "b", .volume = "v", .lun = RESERVED}, true, false},
    {"it has a LUN", CLUSTER_TEXT(ATTACHMENT("v", "a", "Primary", "", "Attaching", "5", "")),
     {.lun = NO_LUN}, false, true},
    {"it is a replica", CLUSTER_TEXT(ATTACHMENT("v", "a", "Replica", "", "", "", "")),
     {.lun = NO_LUN}, false, false},
};
/* clang-format on */

static struct err *instance_id(struct cloud *cloud, const char *node, const char *provider_id,
                               char **ret)
{
    (void)cloud;
    (void)node;
    *ret = mem_strdup(provider_id + strlen("azure://"));
    return NULL;
}

/* In that cluster, while that is reserved. */
static void in_cluster(const char *cluster, struct reservation reservation,
                       void (*look)(size_t i, struct controller *controller), size_t i)
{
    json_t *json = json_of(cluster);
    struct cluster_view view = view_of(json);
    struct controller controller = controller_of(&view);
    struct leading leading = {0};
    struct cloud cloud = {.ops = &(struct cloud_ops){.instance_id = instance_id}};

    list_init(&leading.reservations);
    controller.leading = &leading;
    controller.cloud = &cloud;
    controller.loop = loop_new_virtual(1);
    if (reservation.node)
        list_append(&leading.reservations, &reservation.link);
    look(i, &controller);
    loop_free(controller.loop);
    controller_fini(&controller);
    view_free(&view);
    json_decref(json);
}

static void look_for_place(size_t i, struct controller *controller)
{
    struct attachment_work work = {0};

    assert_true(attachment_work_gather(controller, "r-a", &work));
    attachment_work_gather_neighbours(&work);
    assert_int_equal(work.in.n_neighbours, 1);
    if (work.in.neighbours[0].waits != rows[i].waits ||
        work.in.luns_taken[RESERVED] != rows[i].taken)
        fail_msg("%s: waits %d, LUN taken %d", rows[i].why, work.in.neighbours[0].waits,
                 work.in.luns_taken[RESERVED]);
    attachment_work_fini(&work);
}

/* One whose LUN is being recorded has its place: counted as one that waits, too, it would have two,
 * and a replica would be refused a place that there is. */
static void test_a_place_counts_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        in_cluster(rows[i].cluster, rows[i].reservation, look_for_place, i);
}

/* ---- shares of a disk ---- */

#define WITH_SIBLING(state, lun)                                                                   \
    "{'volumes':[" VOLUME("v", "1") "],'attachments':[" ATTACHMENT(                                \
        "v", "a", "Primary", "", "", "", "") "," ATTACHMENT("v", "b", "Replica", "", state, lun,   \
                                                            "") "]}"

/* clang-format off */
static const struct {
    const char *why, *cluster;
    struct reservation reservation;
    unsigned shares;
} shares[] = {
    {"it has a LUN", WITH_SIBLING("Attaching", "5"), {.lun = NO_LUN}, 1},
    {"it has none", WITH_SIBLING("", ""), {.lun = NO_LUN}, 0},
    {"it is being recorded", WITH_SIBLING("", ""), {.node = "b", .volume = "v", .lun = RESERVED}, 1},
    {"it is on record, and who has written it does not know yet", WITH_SIBLING("Attaching", "5"),
     {.node = "b", .volume = "v", .lun = RESERVED}, 1},
    {"another one is being recorded", WITH_SIBLING("Attaching", "5"),
     {.node = "c", .volume = "v", .lun = RESERVED}, 2},
    {"one of another volume is", WITH_SIBLING("Attaching", "5"),
     {.node = "b", .volume = "w", .lun = RESERVED}, 1},
};
/* clang-format on */

static void look_for_shares(size_t i, struct controller *controller)
{
    struct attachment_work work = {0};

    assert_true(attachment_work_gather(controller, "v-a", &work));
    if (work.in.other_shares != shares[i].shares)
        fail_msg("%s: %u", shares[i].why, work.in.other_shares);
    attachment_work_fini(&work);
}

static void test_a_share_counts_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(shares); i++)
        in_cluster(shares[i].cluster, shares[i].reservation, look_for_shares, i);
}

/* ---- what a neighbour that goes leaves behind ---- */

/* clang-format off */
/* On node a, beside a primary that looks for a place, a replica of volume v, whose fence node b
 * had; `more` is in its metadata, and what Kubernetes has is `published`. */
#define FENCE(word) ",'annotation':{'" ANNOTATION_FENCE "':'" word "'}"
#define WITH_FENCE(taint, more, fence, published) \
    "{'nodes':[" NODE("a", "True", "") ",{'metadata':{'name':'b'},'spec':{'taints':[{'key':'" taint "'}]}}]," \
    "'volumes':[" VOLUME("v", "1") "," VOLUME("r", "1") "],'pvs':[" PV("v", "v") "]," \
    "'volume_attachments':[" published "]," \
    "'attachments':[" ATTACHMENT("r", "a", "Primary", "", "", "", "") "," \
    "{'metadata':{'name':'v-a','uid':'u-v-a'" more "},'spec':{'volumeName':'v','volume_id':'" GROUP_DISKS "v','nodeName':'a'," \
    "'role':'Replica'}," \
    "'status':{'state':'Attached','detail':{'role':'Replica','publish_context':{'LUN':'3'}}" fence "}}," \
    ATTACHMENT("v", "b", "Primary", "Primary", "Attached", "2", FENCE("held 0x1111111100000001")) "]}"
#define GOING ",'deletionTimestamp':'2026-01-01T00:00:09Z'"
#define TAKEN FENCE("held 0x1111111100000002 from 0x1111111100000001")

static const struct {
    const char *why, *cluster;
    bool leaving, keeps_fence; /* as r-a's neighbour */
    bool own;                  /* it keeps its fence, however it leaves */
} neighbours[] = {
    {"it stays", WITH_FENCE("other", "", TAKEN, ""), false, false, false},
    {"it goes", WITH_FENCE("other", GOING, TAKEN, ""), true, false, false},
    {"it goes, and took its fence from who was given up", WITH_FENCE(TAINT_OUT_OF_SERVICE, GOING, TAKEN, ""), false, true, true},
    {"it goes, and took none", WITH_FENCE(TAINT_OUT_OF_SERVICE, GOING, "", ""), true, false, false},
    {"it would keep its fence if it went", WITH_FENCE(TAINT_OUT_OF_SERVICE, "", TAKEN, ""), false, true, true},
    {"Kubernetes has it", WITH_FENCE(TAINT_OUT_OF_SERVICE, GOING, TAKEN, VOLUME_ATTACHMENT("1", "v", "a", "true")), false, false, true},
};
/* clang-format on */

static void look_for_those_that_go(size_t i, struct controller *controller)
{
    struct attachment_work work = {0};

    assert_true(attachment_work_gather(controller, "r-a", &work));
    attachment_work_gather_neighbours(&work);
    assert_int_equal(work.in.n_neighbours, 1);
    if (work.in.neighbours[0].leaving != neighbours[i].leaving ||
        work.in.neighbours[0].keeps_fence != neighbours[i].keeps_fence)
        fail_msg("%s: leaving %d, keeps a fence %d", neighbours[i].why,
                 work.in.neighbours[0].leaving, work.in.neighbours[0].keeps_fence);
    attachment_work_fini(&work);
}

/* Its disk would be detached in exchange for that of the primary, and who was given up could write
 * to it again. */
static void test_who_keeps_a_fence_does_not_leave(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(neighbours); i++)
        in_cluster(neighbours[i].cluster, (struct reservation){.lun = NO_LUN},
                   look_for_those_that_go, i);
}

static void look_at_its_own_fence(size_t i, struct controller *controller)
{
    struct attachment_work work = {0};

    assert_true(attachment_work_gather(controller, "v-a", &work));
    if (work.in.keeps_fence != neighbours[i].own)
        fail_msg("%s: keeps a fence %d", neighbours[i].why, work.in.keeps_fence);
    attachment_work_fini(&work);
}

/* From a VM that is not the node's any more a disk is detached although its attachment stays. */
static void test_who_is_not_deleted_keeps_its_fence(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(neighbours); i++)
        in_cluster(neighbours[i].cluster, (struct reservation){.lun = NO_LUN},
                   look_at_its_own_fence, i);
}

/* ---- whether its VM writes to the disk ---- */

/* clang-format off */
/* A primary on node a, which has these taints, is ready or not, and says which VM it is; and what
 * is in the record's annotation. */
#define ON_NODE(taint, ready, id, annotation) \
    "{'nodes':[{'metadata':{'name':'a'},'spec':{'taints':[{'key':'" taint "','effect':'NoExecute'}]" id "}," \
    "'status':{'conditions':[{'type':'Ready','status':'" ready "'}]}}],'volumes':[" VOLUME("v", "1") "]," \
    "'attachments':[" ATTACHMENT("v", "a", "Primary", "Primary", "Attached", "3", ",'annotation':{" annotation "}") "]}"
#define IS_VM(name) ",'providerID':'azure://" GROUP_VMS name "'"
#define ON_RECORD(name) "'" ANNOTATION_VM "':'" GROUP_VMS name "'"

static const struct {
    const char *why, *cluster;
    bool out_of_service;
} services[] = {
    {"silent, and somebody vouches for it", ON_NODE(TAINT_OUT_OF_SERVICE, "Unknown", IS_VM("a"), ON_RECORD("a")), true},
    {"without a record", ON_NODE(TAINT_OUT_OF_SERVICE, "False", IS_VM("a"), ""), true},
    {"it is heard of", ON_NODE(TAINT_OUT_OF_SERVICE, "True", IS_VM("a"), ON_RECORD("a")), false},
    {"nobody vouches for it", ON_NODE("node.kubernetes.io/unreachable", "Unknown", IS_VM("a"), ON_RECORD("a")), false},
    {"only some pods were moved", ON_NODE(TAINT_FAILED_OVER, "Unknown", IS_VM("a"), ON_RECORD("a")), false},
    {"the Node is another VM than that of the record", ON_NODE(TAINT_OUT_OF_SERVICE, "Unknown", IS_VM("b"), ON_RECORD("a")), false},
    {"nobody has said which VM it is", ON_NODE(TAINT_OUT_OF_SERVICE, "Unknown", "", ""), false},
    {"there is no Node", "{'nodes':[],'volumes':[" VOLUME("v", "1") "],'attachments':[" ATTACHMENT("v", "a", "Primary", "Primary", "Attached", "3", ",'annotation':{" ON_RECORD("a") "}") "]}", false},
};
/* clang-format on */

static void look_at_service(size_t i, struct controller *controller)
{
    struct attachment_work work = {0};

    assert_true(attachment_work_gather(controller, "v-a", &work));
    if (attachment_work_is_out_of_service(&work) != services[i].out_of_service)
        fail_msg("%s", services[i].why);
    attachment_work_fini(&work);
}

static void test_which_machine_is_out_of_service(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(services); i++)
        in_cluster(services[i].cluster, (struct reservation){.lun = NO_LUN}, look_at_service, i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_place_counts_once),
        cmocka_unit_test(test_a_share_counts_once),
        cmocka_unit_test(test_who_keeps_a_fence_does_not_leave),
        cmocka_unit_test(test_who_is_not_deleted_keeps_its_fence),
        cmocka_unit_test(test_which_machine_is_out_of_service),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
