/* What `describe` says of fixed records, as text and as a document. */
#include "azdiskctl/describe.h"

#include "azdiskctl/describe_text.h"
#include "azdiskctl/output.h"
#include "test/unit/azdiskctl/records.h"

static const struct output_writers writers = {{[OUTPUT_TEXT] = describe_text}};

static const struct {
    const char *subject;
    const char *text;
} rows[] = {
    {"volume/data",
     "Name:         data\n"
     "Namespace:    azure-disk-csi\n"
     "Labels:       disk.csi.azure.com/pvc=claim\n"
     "Annotations:  <none>\n"
     "API Version:  disk.csi.azure.com/v1beta2\n"
     "Kind:         AzVolume\n"
     "Metadata:\n"
     "  Uid:                 u-data\n"
     "  Creation Timestamp:  2026-01-01T00:00:00Z\n"
     "Summary:\n"
     "  Claim:     default/claim\n"
     "  Size:      10Gi\n"
     "  Primary:   a\n"
     "  Replicas:  1/1\n"
     "  State:     Created\n"
     "  Age:       60m\n"
     "  Zone:      eastus-1\n"
     "  SKU:       Premium_LRS\n"
     "  Shares:    2\n"
     "  PV:        pv\n"
     "  Disk:      /subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/disks/data\n"
     "Spec:\n"
     "  Volume Name:              data\n"
     "  Max Mount Replica Count:  1\n"
     "  Volume Capability:\n"
     "    Access Mode:  1\n"
     "  Capacity Range:\n"
     "    Required Bytes:  10737418240\n"
     "  Parameters:\n"
     "    maxShares:  2\n"
     "    skuName:    Premium_LRS\n"
     "Status:\n"
     "  Detail:\n"
     "    Volume Id:                "
     "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/disks/data\n"
     "    Capacity Bytes:           10737418240\n"
     "    Accessible Topology:\n"
     "      Segments:\n"
     "        topology.disk.csi.azure.com/zone:  eastus-1\n"
     "    Node Expansion Required:  false\n"
     "  State:           Created\n"
     "  Primary Node:    a\n"
     "  Ready Replicas:  1\n"
     "Attachments:\n"
     "  VOLUME  NODE  ROLE     STATE     LUN  READY  FENCE  AGE  NAME    NOT READY BECAUSE\n"
     "  data    a     Primary  attached  0    yes    held   59m  data-a  -\n"
     "  data    b     Replica  attached  1    yes    -      59m  data-b  -\n"
     "  data    d     Replica  waiting   -    no     -      -    data-d  -\n"
     "Nodes:\n"
     "  NAME  DISKS  PRIMARIES  REPLICAS  HEARTBEAT  STATE\n"
     "  a     2/8    1          1         5s         Ready\n"
     "  b     1/8    1          1         0s         PluginNotReady\n"
     "  d     1/8    0          1         0s         Ready,SchedulingDisabled\n"
     "Events:\n"
     "  Type     Reason       Age               From               Message\n"
     "  ----     ------       ---               ----               -------\n"
     "  Normal   Provisioned  40m               azdisk-controller  Disk data exists\n"
     "  Warning  Slow         2m (x3 over 50m)  azdisk-controller  Azure has\\nnot answered\n"},
    {"volume/copy", "Name:         copy\n"
                    "Namespace:    <none>\n"
                    "Labels:       <none>\n"
                    "Annotations:  <none>\n"
                    "API Version:  disk.csi.azure.com/v1beta2\n"
                    "Kind:         AzVolume\n"
                    "Metadata:\n"
                    "  Creation Timestamp:  2025-12-30T22:00:00Z\n"
                    "Summary:\n"
                    "  Size:      1536Mi\n"
                    "  Replicas:  0/0\n"
                    "  State:     Created,40%\n"
                    "  Age:       27h\n"
                    "  Zone:      -\n"
                    "  Shares:    1\n"
                    "Spec:\n"
                    "  Volume Name:  copy\n"
                    "  Capacity Range:\n"
                    "    Required Bytes:  1610612736\n"
                    "Status:\n"
                    "  State:               Created\n"
                    "  Error:\n"
                    "    Code:     INTERNAL\n"
                    "    Message:  line\\n\\x1b[31mred\n"
                    "  Completion Percent:  40\n"
                    "Events:  <none>\n"},
    {"azva/moving-a",
     "Name:         moving-a\n"
     "Namespace:    <none>\n"
     "Labels:       <none>\n"
     "Annotations:  <none>\n"
     "API Version:  disk.csi.azure.com/v1beta2\n"
     "Kind:         AzVolumeAttachment\n"
     "Metadata:\n"
     "  Uid:                 u-moving-a\n"
     "  Creation Timestamp:  2026-01-01T00:00:02Z\n"
     "Summary:\n"
     "  Volume:             moving\n"
     "  Node:               a\n"
     "  Role:               Replica\n"
     "  State:              attached\n"
     "  LUN:                1\n"
     "  Ready:              no\n"
     "  Age:                59m\n"
     "  Not Ready Because:  no disk at LUN 1\n"
     "Spec:\n"
     "  Volume Name:  moving\n"
     "  Volume Id:    /subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/disks/moving\n"
     "  Node Name:    a\n"
     "  Role:         Replica\n"
     "Status:\n"
     "  Detail:\n"
     "    Role:  Replica\n"
     "    Publish Context:\n"
     "      LUN:  1\n"
     "  State:  Attached\n"
     "  Annotation:\n"
     "    disk.csi.azure.com/replica-ready:  false 2026-01-01T01:00:00Z no disk at LUN 1\n"
     "Volume:\n"
     "  NAME    CLAIM  SIZE  PRIMARY  REPLICAS  STATE    AGE\n"
     "  moving  -      4Gi   b        0/2       Created  2m30s\n"
     "Nodes:\n"
     "  NAME  DISKS  PRIMARIES  REPLICAS  HEARTBEAT  STATE\n"
     "  a     2/8    1          1         5s         Ready\n"
     "Events:  <none>\n"},
    {"node/a",
     "Name:         a\n"
     "Namespace:    <none>\n"
     "Labels:       <none>\n"
     "Annotations:  <none>\n"
     "API Version:  disk.csi.azure.com/v1beta2\n"
     "Kind:         AzDriverNode\n"
     "Metadata:\n"
     "  Creation Timestamp:  2026-01-01T00:00:00Z\n"
     "Summary:\n"
     "  Disks:      2/8\n"
     "  Primaries:  1\n"
     "  Replicas:   1\n"
     "  Heartbeat:  5s\n"
     "  State:      Ready\n"
     "  Age:        60m\n"
     "  Zone:       eastus-1\n"
     "  Message:    Driver node healthy.\n"
     "Spec:\n"
     "  Node Name:  a\n"
     "Status:\n"
     "  Last Heartbeat Time:          2026-01-01T00:59:55Z\n"
     "  Ready For Volume Allocation:  true\n"
     "  Status Message:               Driver node healthy.\n"
     "  Slots:\n"
     "    Limit:  8\n"
     "    Free:   6\n"
     "Conditions:\n"
     "  Type               Status  LastTransitionTime    Reason        Message\n"
     "  ----               ------  ------------------    ------        -------\n"
     "  IsNodePluginReady  True    2026-01-01T00:00:10Z  Ready         Ready for volumes.\n"
     "  IsLimitFromAzure   False   2026-01-01T00:00:11Z  BuiltInTable  -\n"
     "Attachments:\n"
     "  VOLUME  NODE  ROLE     STATE     LUN  READY  FENCE  AGE  NAME      NOT READY BECAUSE\n"
     "  data    a     Primary  attached  0    yes    held   59m  data-a    -\n"
     "  moving  a     Replica  attached  1    no     -      59m  moving-a  no disk at LUN 1\n"
     "Events:  <none>\n"},
    {"node/g", "Name:         g\n"
               "Namespace:    <none>\n"
               "Labels:       <none>\n"
               "Annotations:  <none>\n"
               "API Version:  disk.csi.azure.com/v1beta2\n"
               "Kind:         AzDriverNode\n"
               "Summary:\n"
               "  Primaries:  0\n"
               "  Replicas:   0\n"
               "  State:      NodeGone\n"
               "Events:  <none>\n"},
};

static json_t *described(const struct cluster *cluster, const char *subject)
{
    CLEANUP(selection_fini) struct selection selection = {0};

    assert_ok(selection_parse(subject, NULL, 0, NULL, &selection));
    return describe_json(cluster, &selection);
}

static void test_texts(void **state)
{
    CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(records);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_decrefp) json_t *document = described(&cluster, rows[i].subject);
        CLEANUP(freep) char *text = output_text(&writers, OUTPUT_TEXT, document);

        assert_string_equal(text, rows[i].text);
    }
}

/* Several objects with a gap between them, and a complaint for names of none. */
static void test_several(void **state)
{
    static const char *const names[] = {"g", "x", "f"};
    CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(records);
    CLEANUP(selection_fini) struct selection selection = {0};

    (void)state;
    assert_ok(selection_parse("nodes", names, COUNT_OF(names), NULL, &selection));
    CLEANUP(json_decrefp) json_t *document = describe_json(&cluster, &selection);
    CLEANUP(freep) char *text = output_text(&writers, OUTPUT_TEXT, document);
    assert_ptr_equal(strstr(text, "Name:         g\n"), text);
    assert_non_null(strstr(text, "Events:  <none>\n\n\nName:         f\n"));
    CLEANUP(json_decrefp) json_t *missing = json_of("['x']");
    assert_true(json_equal(json_object_get(document, "missing"), missing));
}

/* The object as it is, conditions and all, and what was found beside it. */
static void test_document(void **state)
{
    CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(records);
    CLEANUP(json_decrefp) json_t *document = described(&cluster, "node/a");
    const json_t *item = json_array_get(json_object_get(document, "items"), 0);
    const json_t *status = json_object_get(item, "status");

    (void)state;
    assert_int_equal(json_array_size(json_object_get(status, "conditions")), 1);
    assert_int_equal(json_array_size(json_object_get(item, "conditions")), 2);
    assert_int_equal(json_array_size(json_object_get(item, "attachments")), 2);
    CLEANUP(json_decrefp)
    json_t *slots = json_of("{'limit':8,'free':6,'conditions':[{'type':'IsLimitFromAzure','status':"
                            "'False','lastTransitionTime':'2026-01-01T00:00:11Z','reason':"
                            "'BuiltInTable'}]}");
    assert_true(json_equal(json_object_get(status, "slots"), slots));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_document),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
