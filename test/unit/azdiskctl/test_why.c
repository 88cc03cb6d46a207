/* Why something waits: each stage of the table is reached, with its cause. */
#include "azdiskctl/why.h"

#include "azdiskctl/diagnosis.h"
#include "test/unit/azdiskctl/cluster_of.h"

#define CLAIM(spec)                                                                                \
    "{'metadata':{'name':'claim','namespace':'default','uid':'7'},'spec':{" spec "}}"
#define BOUND CLAIM("'volumeName':'pv'")
#define POD(volumes)                                                                               \
    "{'metadata':{'name':'pod','namespace':'default'},'spec':{'volumes':[" volumes                 \
    "]},'status':{'phase':'Pending'}}"
#define USES_CLAIM "{'name':'data','persistentVolumeClaim':{'claimName':'claim'}}"
#define WARNING_AT(time, kind, name, note)                                                         \
    "{'metadata':{'name':'e','creationTimestamp':'2026-01-01T00:30:00Z'}," time                    \
    "'type':'Warning','reason':'Why','note':'" note "','regarding':{'kind':'" kind                 \
    "','name':'" name "','namespace':'default'}}"
#define WARNING(kind, name, note) WARNING_AT("", kind, name, note)
#define ERROR(code, message) ",'error':{'code':'" code "','message':'" message "'}"
#define HEALTHY "'driverNodes':[" PLUGIN("a", "true", NOW) "],'nodes':[" NODE("a", "True", "") "]"
#define IN_USE_ON_A                                                                                \
    "'driverNodes':[" PLUGIN("a", "true", NOW) "],'nodes':[" NODE("a", "True", IN_USE("v")) "]"
#define PUBLISHED(attached)                                                                        \
    "'volumes':[" VOLUME("v", "1") "],'pvs':[" PV(                                                 \
        "pv", "v") "],'claims':[" BOUND                                                            \
                   "],'volume_attachments':[" VOLUME_ATTACHMENT("p", "pv", "a", attached) "]"

/* clang-format off */
static const struct {
    const char *subject, *cluster;
    const char *stage, *cause;
} rows[] = {
    {"pod/pod", "{'pods':[" POD("") "]}", "no volume",
     "pod default/pod uses no existing PersistentVolumeClaim"},
    {"pod/pod", "{'pods':[" POD(USES_CLAIM) "],'claims':[" CLAIM("") "]}", "waiting for a volume",
     "no PersistentVolume is bound to the claim; with WaitForFirstConsumer, provisioning starts when "
     "a pod that uses the claim has been scheduled"},
    {"pvc/claim",
     "{'claims':[" CLAIM("") "],"
     "'events':[" WARNING("PersistentVolumeClaim", "claim", "no quota") "]}",
     "waiting for a volume", "Why: no quota"},
    {"pvc/claim", /* as kubelet counts, which was the last one in spite of their order */
     "{'claims':[" CLAIM("") "],'events':["
     WARNING_AT("'deprecatedLastTimestamp':'2026-01-01T00:50:00Z','deprecatedCount':9,",
                "PersistentVolumeClaim", "claim", "no quota") ","
     WARNING("PersistentVolumeClaim", "claim", "no leader") "]}",
     "waiting for a volume", "Why: no quota"},
    {"PVC/claim", "{'claims':[" CLAIM("") "],'volumes':[{'metadata':{'name':'pvc-7'}}]}",
     "being created", "Azure has not created the disk yet"},
    {"pv/pv",
     "{'pvs':[{'metadata':{'name':'pv'},'spec':{'csi':{'driver':'other','volumeHandle':'x'}}}]}",
     "not a volume of this driver", "PersistentVolume pv does not belong to driver " DRIVER},
    {"pv/pv", "{'pvs':[" PV("pv", "v") "]}", "without a record",
     "no AzVolume exists for " GROUP_DISKS "v"},
    {"azvolume/v",
     "{'volumes':[{'metadata':{'name':'v','deletionTimestamp':'" NOW "'}}],"
     "'attachments':[" ATTACHED("v", "a", "Replica", "0") "]}",
     "being deleted", "AzVolumeAttachment v-a must be deleted first"},
    {"azvolume/v",
     "{'volumes':[{'metadata':{'name':'v'},"
     "'status':{'error':{'code':'RESOURCE_EXHAUSTED','message':'quota'}}}]}",
     "being created", "RESOURCE_EXHAUSTED: quota"},
    {"pvc/claim",
     "{'volumes':[" VOLUME("v", "1") "],'pvs':[" PV("pv", "v") "],'claims':[" BOUND "]}",
     "not in use", "no VolumeAttachment requests the volume on a node"},
    {"pod/pod",
     "{'pods':[" POD(USES_CLAIM) "],'volumes':[" VOLUME("v", "1") "],'pvs':[" PV("pv", "v") "],"
     "'claims':[" BOUND "],'events':[" WARNING("Pod", "pod", "0/3 nodes are available") "]}",
     "not in use", "Why: 0/3 nodes are available"},
    {"pvc/claim", "{" PUBLISHED("false") "}", "node is gone", "Node a does not exist"},
    {"pvc/claim",
     "{" PUBLISHED("false") "," HEALTHY ",'attachments':[" ATTACHED("v", "b", "Primary", "0") "]}",
     "waiting for another node", "the volume is primary on node b"},
    {"pvc/claim", "{" PUBLISHED("false") ",'nodes':[" NODE("a", "False", "") "]}",
     "node does not answer", "Node a is not Ready"},
    {"pvc/claim",
     "{" PUBLISHED("false") ",'nodes':[" NODE("a", "True", "") "],"
     "'driverNodes':[" PLUGIN("a", "true", "2026-01-01T00:50:00Z") "]}",
     "node plug-in does not answer",
     "AzDriverNode a: last heartbeat 2026-01-01T00:50:00Z, ready at that time"},
    {"pvc/claim", "{" PUBLISHED("false") "," HEALTHY "}", "waiting to be published",
     "the driver has not been called, or has not answered"},
    {"pvc/claim", "{" PUBLISHED("true") "," HEALTHY "}", "published without a primary",
     "VolumeAttachment p is attached, but node a has no primary attachment"},
    {"pvc/claim",
     "{" PUBLISHED("false") "," HEALTHY ",'attachments':["
     ATTACHMENT("v", "a", "Primary", "Primary", "AttachmentFailed", "0",
                ERROR("RESOURCE_EXHAUSTED", "no place")) "]}",
     "attach or detach failed", "RESOURCE_EXHAUSTED: no place"},
    {"pvc/claim",
     "{" PUBLISHED("false") "," HEALTHY ",'attachments':["
     ATTACHMENT("v", "a", "Primary", "Replica", "Attached", "0", "") "]}",
     "changing its role", "no error so far"},
    {"azvolumeattachment/v-a",
     "{" PUBLISHED("false") "," HEALTHY ",'attachments':["
     ATTACHMENT("v", "a", "Primary", "Primary", "Attaching", "0", "") "]}",
     "being attached", "no error so far; use --cloud-config to see Azure's view"},
    {"azvolumeattachment/v-a",
     "{" HEALTHY ",'volumes':[" VOLUME("v", "1") "],'attachments':["
     ATTACHMENT("v", "a", "Primary", "Primary", "Detaching", "0", "") "]}",
     "detaching", "no error so far"},
    {"pvc/claim",
     "{" PUBLISHED("true") "," HEALTHY ",'attachments':[" ATTACHED("v", "a", "Primary", "4") "]}",
     "being mounted", "kubelet on node a does not report the volume as in use"},
    {"pvc/claim",
     "{" PUBLISHED("true") "," IN_USE_ON_A ",'attachments':["
     ATTACHED("v", "a", "Primary", "4") "]}",
     "in order", "attached to node a as Primary at LUN 4"},
    {"azvolumeattachment/v-a",
     "{" IN_USE_ON_A ",'attachments':[" ATTACHED("v", "a", "Primary", "4") "]}",
     "without a record", "AzVolume v does not exist"},
    {"node/a", "{" HEALTHY "}", "in order", "node a accepts volumes"},
};
/* clang-format on */

static void test_stages(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(rows[i].cluster);
        CLEANUP(dependency_chains_fini) struct dependency_chains chains = {0};

        assert_ok(dependency_chains_find(&cluster, rows[i].subject, "default", &chains));
        assert_int_equal(chains.n, 1);
        struct diagnosis diagnosis = diagnose(&chains.items[0]);
        CLEANUP(freep) char *cause = diagnosis.cause;
        if (strcmp(diagnosis.stage, rows[i].stage) != 0 || strcmp(cause, rows[i].cause) != 0)
            fail_msg("row %zu, %s:\nexpected %s: %s\nfound    %s: %s", i, rows[i].subject,
                     rows[i].stage, rows[i].cause, diagnosis.stage, cause);
    }
}

/* ---- with Azure's side ---- */

static char disk[] = GROUP_DISKS "v";
static struct cloud_slot slot = {.disk_id = disk, .lun = 5};
static const struct cloud_instance empty = {.state = CLOUD_INSTANCE_SETTLED};
static const struct cloud_instance full = {
    .state = CLOUD_INSTANCE_CHANGING, .slots = &slot, .n_slots = 1};

static const struct {
    const char *state;
    const struct cloud_instance *machine;
    const char *stage, *cause;
} looks[] = {
    {"Attaching", NULL, "being attached", "node a has no VM in Azure"},
    {"Attaching", &empty, "being attached", "the VM's model does not contain the disk yet"},
    {"Attaching", &full, "being attached",
     "the VM's model contains the disk at LUN 5, but the VM is still being updated"},
    {"Attached", &empty, "detached behind the driver's back",
     "the disk is recorded as attached, but the VM of node a does not have it"},
    {"Attached", &full, "in order", "attached to node a as Primary at LUN 0"},
};

static void test_looks_at_the_machine(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(looks); i++) {
        CLEANUP(freep)
        char *text = mem_printf("{" PUBLISHED("true") "," IN_USE_ON_A ",'attachments':[" ATTACHMENT(
                                    "v", "a", "Primary", "Primary", "%s", "0", "") "]}",
                                looks[i].state);
        CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(text);
        CLEANUP(dependency_chains_fini) struct dependency_chains chains = {0};

        assert_ok(dependency_chains_find(&cluster, "pv/pv", "default", &chains));
        chains.items[0].machine_known = true;
        chains.items[0].machine = looks[i].machine;
        struct diagnosis diagnosis = diagnose(&chains.items[0]);
        CLEANUP(freep) char *cause = diagnosis.cause;
        assert_string_equal(diagnosis.stage, looks[i].stage);
        assert_string_equal(cause, looks[i].cause);
    }
}

/* ---- the rest ---- */

static void test_text(void **state)
{
    CLEANUP(cluster_of_free)
    struct cluster cluster = cluster_of("{'pods':[" POD(USES_CLAIM) "]," PUBLISHED(
        "true") "," IN_USE_ON_A ",'attachments':[" ATTACHED("v", "a", "Primary", "4") "]}");
    CLEANUP(dependency_chains_fini) struct dependency_chains chains = {0};
    struct buffer out;

    (void)state;
    assert_ok(dependency_chains_find(&cluster, "pod/pod", "default", &chains));
    CLEANUP(json_decrefp) json_t *why = why_json("pod/pod", &chains);
    buffer_init(&out, 1 << 16);
    why_text(why, &out);
    CLEANUP(freep) char *text = buffer_take(&out);
    assert_string_equal(text, "Pod                    pod    Pending, not on a node\n"
                              "PersistentVolumeClaim  claim  bound to pv\n"
                              "PersistentVolume       pv     " GROUP_DISKS "v\n"
                              "AzVolume               v      Created, zone eastus-1, maxShares 2\n"
                              "VolumeAttachment       p      to node a: attached\n"
                              "AzVolumeAttachment     v-a    Primary, attached, LUN 4\n"
                              "Node                   a      Ready\n"
                              "AzDriverNode           a      ready, heartbeat " NOW
                              ", 7 of 8 disk slots free\n"
                              "\nStage:  in order\nCause:  attached to node a as Primary at LUN 4\n"
                              "Next:   nothing\n");
}

static void test_subjects_that_are_none(void **state)
{
    CLEANUP(cluster_of_free) struct cluster cluster = cluster_of("{}");
    CLEANUP(dependency_chains_fini) struct dependency_chains chains = {0};

    (void)state;
    assert_fails(dependency_chains_find(&cluster, "pvc/x", "default", &chains), ERR_NOT_FOUND,
                 "pvc default/x does not exist");
    assert_fails(dependency_chains_find(&cluster, "pv/x", "default", &chains), ERR_NOT_FOUND,
                 "pv x does not exist");
    static const char *const wrong[] = {"pvc", "pvc/", "service/x"};
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct err *err = dependency_chains_find(&cluster, wrong[i], "default", &chains);

        assert_non_null(err);
        assert_int_equal(err_kind(err), ERR_INVALID);
        err_free(err);
    }
}

static void test_a_replica_that_is_not_ready(void **state)
{
    CLEANUP(cluster_of_free)
    struct cluster cluster =
        cluster_of("{" HEALTHY ",'volumes':[" VOLUME("v", "1") "],'attachments':[" ATTACHMENT(
            "v", "a", "Replica", "Replica", "Attached", "4",
            ",'annotation':{'disk.csi.azure.com/replica-ready':'false " NOW
            " no disk at LUN 4'}") "]}");
    CLEANUP(dependency_chains_fini) struct dependency_chains chains = {0};
    struct buffer out;

    (void)state;
    assert_ok(dependency_chains_find(&cluster, "azvolumeattachment/v-a", "default", &chains));
    CLEANUP(json_decrefp) json_t *why = why_json("azvolumeattachment/v-a", &chains);
    buffer_init(&out, 1 << 16);
    why_text(why, &out);
    CLEANUP(freep) char *text = buffer_take(&out);
    assert_non_null(strstr(text, " Replica, attached, LUN 4, not ready: no disk at LUN 4\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_looks_at_the_machine),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_a_replica_that_is_not_ready),
        cmocka_unit_test(test_subjects_that_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
