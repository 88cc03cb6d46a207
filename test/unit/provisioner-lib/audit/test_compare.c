/* What each comparison finds, and what it takes for being in order. */
#include "provisioner-lib/audit/compare.h"

#include "lib/base/buffer.h"
#include "provisioner-lib/audit/view_source.h"
#include "test/unit/cluster_text.h"

/* The keys of what was found, "; " between them. */
static void assert_found(const struct findings *found, const char *expected, const char *what)
{
    struct buffer text;

    buffer_init(&text, 1 << 16);
    for (size_t i = 0; i < found->n; i++)
        buffer_printf(&text, "%s%s", i ? "; " : "", found->items[i].key);
    CLEANUP(freep) char *keys = buffer_take(&text);
    if (strcmp(keys, expected) != 0)
        fail_msg("%s:\nexpected %s\nfound    %s", what, expected, keys);
}

/* ---- records ---- */

/* clang-format off */
#define IN_USE_BY_A                                                                                \
    "'volumes':[" VOLUME("v", "1") "],'pvs':[" PV("pv", "v") "],"                                  \
    "'volume_attachments':[" VOLUME_ATTACHMENT("p", "pv", "a", "true") "]"

#define MADE_FOR(pv, metadata, detail)                                                             \
    "{'metadata':{'name':'v','labels':{'" LABEL_PV "':'" pv "'}" metadata "},"                       \
    "'spec':{'volumeName':'v'},'status':{'state':'Created','detail':{" detail "}}}"

static const struct {
    const char *what, *cluster, *found;
} records[] = {
    {"nothing", "{}", ""},
    {"a volume in use, with a replica",
     "{" IN_USE_BY_A ",'attachments':["
     ATTACHED("v", "a", "Primary", "0") "," ATTACHED("v", "b", "Replica", "0") "],"
     "'nodes':[" NODE("a", "True", IN_USE("v")) "," NODE("b", "True", "") "]}",
     ""},
    {"a volume that nobody of Kubernetes knows",
     "{'volumes':[" VOLUME("v", "1") "],'attachments':[" ATTACHED("v", "a", "Primary", "0") "]}",
     ""},
    {"a volume whose PersistentVolume is gone",
     "{'volumes':[" MADE_FOR("v", "", "'volume_id':'" GROUP_DISKS "v'") "]}",
     "VolumeWithoutPersistentVolume AzVolume/v "},
    {"one that another PersistentVolume has",
     "{'volumes':[" MADE_FOR("v", "", "'volume_id':'" GROUP_DISKS "v'") "],'pvs':[" PV("other", "V") "]}", ""},
    {"one that is deleted",
     "{'volumes':[" MADE_FOR("v", ",'deletionTimestamp':'2026-01-01T00:00:00Z'",
                             "'volume_id':'" GROUP_DISKS "v'") "]}", ""},
    {"one that is being made", "{'volumes':[" MADE_FOR("v", "", "") "]}", ""},
    {"two primaries",
     "{'volumes':[" VOLUME("v", "1") "],'attachments':["
     ATTACHED("v", "a", "Primary", "0") "," ATTACHED("v", "b", "Primary", "0") "]}",
     "TwoPrimaries AzVolume/v "},
    {"two primaries of a volume for many writers",
     "{'volumes':[" VOLUME("v", "5") "],'attachments':["
     ATTACHED("v", "a", "Primary", "0") "," ATTACHED("v", "b", "Primary", "0") "]}",
     ""},
    {"the next primary waits for its role",
     "{'volumes':[" VOLUME("v", "1") "],'attachments':[" ATTACHED("v", "a", "Primary", "0") ","
     ATTACHMENT("v", "b", "Primary", "Replica", "Attached", "0", "") "]}",
     ""},
    {"three attachments of a disk with two shares",
     "{'volumes':[" VOLUME("v", "1") "],'attachments':[" ATTACHED("v", "a", "Primary", "0") ","
     ATTACHED("v", "b", "Replica", "0") "," ATTACHED("v", "c", "Replica", "0") "]}",
     "SharesExceeded AzVolume/v "},
    {"published, and no primary there",
     "{" IN_USE_BY_A ",'attachments':[" ATTACHED("v", "a", "Replica", "0") "]}",
     "PublishedWithoutPrimary VolumeAttachment/p "},
    {"published through the other of two PersistentVolumes",
     "{'volumes':[" VOLUME("v", "1") "],'pvs':[" PV("pv", "v") "," PV("old", "V") "],"
     "'volume_attachments':[" VOLUME_ATTACHMENT("p", "old", "a", "true") "],"
     "'attachments':[" ATTACHED("v", "a", "Primary", "0") "]}",
     ""},
    {"the same, and no primary there",
     "{'volumes':[" VOLUME("v", "1") "],'pvs':[" PV("pv", "v") "," PV("old", "V") "],"
     "'volume_attachments':[" VOLUME_ATTACHMENT("p", "old", "a", "true") "],"
     "'attachments':[" ATTACHED("v", "a", "Replica", "0") "]}",
     "PublishedWithoutPrimary VolumeAttachment/p "},
    {"an in-tree volume, published and no primary there",
     "{'volumes':[" VOLUME("v", "1") "],'pvs':[" IN_TREE_PV("pv", "v") "],"
     "'volume_attachments':[" VOLUME_ATTACHMENT("p", "pv", "a", "true") "],"
     "'attachments':[" ATTACHED("v", "a", "Replica", "0") "]}",
     "PublishedWithoutPrimary VolumeAttachment/p "},
    {"published for a pod that names the disk, and no primary there",
     "{'volumes':[" VOLUME("v", "1") "],"
     "'volume_attachments':[" INLINE_VOLUME_ATTACHMENT("p", "v", "a", "true") "],"
     "'attachments':[" ATTACHED("v", "a", "Replica", "0") "]}",
     "PublishedWithoutPrimary VolumeAttachment/p "},
    {"about to be published",
     "{'volumes':[" VOLUME("v", "1") "],'pvs':[" PV("pv", "v") "],"
     "'volume_attachments':[" VOLUME_ATTACHMENT("p", "pv", "a", "false") "]}",
     ""},
    {"a primary that is not published",
     "{" IN_USE_BY_A ",'attachments':["
     ATTACHED("v", "a", "Primary", "0") "," ATTACHED("v", "b", "Replica", "0") ","
     ATTACHMENT("v", "c", "Primary", "Replica", "Attaching", "0", "") "]}",
     "SharesExceeded AzVolume/v ; PrimaryNotPublished AzVolumeAttachment/v-c "},
    {"a replica that kubelet uses",
     "{'volumes':[" VOLUME("v", "1") "],'pvs':[" PV("pv", "v") "],"
     "'attachments':[" ATTACHED("v", "a", "Replica", "0") "],"
     "'nodes':[" NODE("a", "True", IN_USE("V")) "]}",
     "ReplicaInUse AzVolumeAttachment/v-a "},
    {"a replica on a node that is off, says an operator",
     "{'volumes':[" VOLUME("v", "1") "],'pvs':[" PV("pv", "v") "],"
     "'attachments':[" ATTACHED("v", "a", "Replica", "0") "],"
     "'nodes':[" NODE_OFF("a", IN_USE("v")) "]}",
     ""},
    {"a replica that is about to be promoted",
     "{'volumes':[" VOLUME("v", "1") "],'pvs':[" PV("pv", "v") "],"
     "'attachments':[" ATTACHED("v", "a", "Replica", "0") "],"
     "'volume_attachments':[" VOLUME_ATTACHMENT("p", "pv", "a", "false") "],"
     "'nodes':[" NODE("a", "True", IN_USE("v")) "]}",
     ""},
    {"an attachment of nothing", "{'attachments':[" ATTACHED("v", "a", "Replica", "0") "]}",
     "AttachmentWithoutVolume AzVolumeAttachment/v-a "},
};
/* clang-format on */

static void test_records(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(records); i++) {
        CLEANUP(json_decrefp) json_t *json = json_of(records[i].cluster);
        CLEANUP(view_free) struct cluster_view view = view_of(json);
        CLEANUP(findings_fini) struct findings found = {0};

        CLEANUP(view_source_fini) struct view_source of;

        view_source_init(&of, &view);
        assert_ok(compare_records(NULL, &of.source, &found));
        assert_found(&found, records[i].found, records[i].what);
    }
}

/* ---- a machine ---- */

#define DISK(name) ((char *)(uintptr_t)GROUP_DISKS name)

/* clang-format off */
#define OTHERS_PV(name, disk)                                                                      \
    "{'metadata':{'name':'" name "'},'spec':{'csi':{'driver':'other.disk.example',"                \
    "'volumeHandle':'" GROUP_DISKS disk "'}}}"
#define OTHERS_INLINE_VOLUME_ATTACHMENT(name, disk, node)                                          \
    "{'metadata':{'name':'" name "'},'spec':{'attacher':'other.disk.example','nodeName':'" node    \
    "','source':{'inlineVolumeSpec':{'csi':{'driver':'other.disk.example','volumeHandle':'"        \
    GROUP_DISKS disk "'}}}}}"

static const char one_volume[] =
    "{'nodes':[" NODE("a", "True", "") "],'volumes':[" VOLUME("v", "1") "],'attachments':["
    ATTACHED("v", "a", "Primary", "3") "," ATTACHED("v", "b", "Replica", "3") "]}";
static const char no_attachment[] =
    "{'nodes':[" NODE("a", "True", "") "],'volumes':[" VOLUME("v", "1") "]}";
static const char of_another_driver[] =
    "{'nodes':[" NODE("a", "True", "") "],'pvs':[" OTHERS_PV("pv", "X") "]}";
static const char of_another_driver_inline[] =
    "{'nodes':[" NODE("a", "True", "") "],'volume_attachments':["
    OTHERS_INLINE_VOLUME_ATTACHMENT("p", "X", "a") "]}";
static const char unrecorded[] =
    "{'nodes':[" NODE("a", "True", "") "],'pvs':[" PV("pv", "x") "],'volume_attachments':["
    INLINE_VOLUME_ATTACHMENT("p", "x", "a", "true") "]}";
static const char under_way[] =
    "{'nodes':[" NODE("a", "True", "") "],'volumes':[" VOLUME("v", "1") "],'attachments':["
    ATTACHMENT("v", "a", "Primary", "Primary", "Attaching", "3", "") "]}";
/* clang-format on */

static const struct {
    const char *what, *cluster;
    bool exists;
    enum cloud_instance_state state;
    struct cloud_slot slot; /* without a disk: none */
    const char *found;
} machines[] = {
    {"as it is on record",
     one_volume,
     true,
     CLOUD_INSTANCE_SETTLED,
     {DISK("V"), 3, false, false},
     ""},
    {"no disk",
     one_volume,
     true,
     CLOUD_INSTANCE_SETTLED,
     {NULL, 0, false, false},
     "DiskNotAttached AzVolumeAttachment/v-a "},
    {"a disk that goes",
     one_volume,
     true,
     CLOUD_INSTANCE_SETTLED,
     {DISK("v"), 3, true, false},
     "DiskNotAttached AzVolumeAttachment/v-a "},
    {"no machine",
     one_volume,
     false,
     CLOUD_INSTANCE_SETTLED,
     {NULL, 0, false, false},
     "DiskNotAttached AzVolumeAttachment/v-a "},
    {"another LUN",
     one_volume,
     true,
     CLOUD_INSTANCE_SETTLED,
     {DISK("v"), 4, false, false},
     "LunDiffers AzVolumeAttachment/v-a "},
    {"another disk",
     no_attachment,
     true,
     CLOUD_INSTANCE_SETTLED,
     {DISK("x"), 0, false, false},
     "ForeignDisk Node/a " GROUP_DISKS "x"},
    {"a disk of another driver of the cluster",
     of_another_driver,
     true,
     CLOUD_INSTANCE_SETTLED,
     {DISK("x"), 0, false, false},
     ""},
    {"one that a pod names without a claim",
     of_another_driver_inline,
     true,
     CLOUD_INSTANCE_SETTLED,
     {DISK("x"), 0, false, false},
     ""},
    {"another disk beside one of another driver",
     of_another_driver,
     true,
     CLOUD_INSTANCE_SETTLED,
     {DISK("y"), 0, false, false},
     "ForeignDisk Node/a " GROUP_DISKS "y"},
    {"a disk that Kubernetes alone knows as one of ours",
     unrecorded,
     true,
     CLOUD_INSTANCE_SETTLED,
     {DISK("x"), 0, false, false},
     "ForeignDisk Node/a " GROUP_DISKS "x"},
    {"a disk of ours without a record",
     no_attachment,
     true,
     CLOUD_INSTANCE_SETTLED,
     {DISK("v"), 0, false, false},
     "AttachedWithoutRecord AzVolume/v a"},
    {"being attached", under_way, true, CLOUD_INSTANCE_SETTLED, {NULL, 0, false, false}, ""},
    {"a machine that is being changed",
     one_volume,
     true,
     CLOUD_INSTANCE_CHANGING,
     {NULL, 0, false, false},
     ""},
    {"a machine whose change failed",
     one_volume,
     true,
     CLOUD_INSTANCE_FAILED,
     {DISK("v"), 4, false, false},
     "LunDiffers AzVolumeAttachment/v-a "},
};

static void test_machines(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        CLEANUP(json_decrefp) json_t *json = json_of(machines[i].cluster);
        CLEANUP(view_free) struct cluster_view view = view_of(json);
        CLEANUP(findings_fini) struct findings found = {0};
        struct cloud_slot slot = machines[i].slot;
        const struct cloud_instance machine = {
            .state = machines[i].state, .slots = &slot, .n_slots = slot.disk_id != NULL};

        CLEANUP(view_source_fini) struct view_source of;

        view_source_init(&of, &view);
        compare_machine(&of.source, view.nodes.items[0], machines[i].exists ? &machine : NULL,
                        &found);
        assert_found(&found, machines[i].found, machines[i].what);
    }
}

/* ---- disks ---- */

static char owner[] = GROUP_VMS "x";
static char *owners[] = {owner};

static char denied_reason[] = "no right to list";
static struct unlisted denied = {DISK("any"), denied_reason};

static const struct {
    const char *what, *cluster;
    const char *disk; /* NULL: none */
    enum disk_origin origin;
    bool denied;
    size_t n_owners;
    size_t n_foreign_vms;
    bool foreign_vm_exists;
    const char *found;
} disks[] = {
    {"nothing", "{}", NULL, DISK_UNMARKED, false, 0, 0, false, ""},
    {"a volume and its disk", no_attachment, DISK("V"), DISK_OWN, false, 1, 0, false, ""},
    {"a volume without its disk", no_attachment, NULL, DISK_UNMARKED, false, 0, 0, false,
     "VolumeWithoutDisk AzVolume/v "},
    {"a volume whose disk may not be listed", no_attachment, NULL, DISK_UNMARKED, true, 0, 0, false,
     "DisksNotListed /subscriptions/s/resourceGroups/rg"},
    {"a disk of nobody beside a place that may not be listed", no_attachment,
     "/subscriptions/s/resourceGroups/other/providers/Microsoft.Compute/disks/d", DISK_OWN, true, 0,
     0, false,
     "DiskWithoutVolume /subscriptions/s/resourceGroups/other/providers/Microsoft.Compute/disks/d; "
     "DisksNotListed /subscriptions/s/resourceGroups/rg"},
    {"a disk of nobody", "{}", DISK("d"), DISK_OWN, false, 0, 0, false,
     "DiskWithoutVolume " GROUP_DISKS "d"},
    {"one of an older driver, which may be this one's", "{}", DISK("d"), DISK_OF_OLDER_DRIVER,
     false, 0, 0, false, "DiskWithoutVolume " GROUP_DISKS "d"},
    {"another cluster's disk", "{}", DISK("d"), DISK_OF_OTHERS, false, 0, 0, false, ""},
    {"somebody's disk", "{}", DISK("d"), DISK_UNMARKED, false, 0, 0, false, ""},
    {"a disk that is being made", "{'volumes':[{'metadata':{'name':'d'}}]}", DISK("d"), DISK_OWN,
     false, 0, 0, false, ""},
    {"a disk that only a PersistentVolume names", "{'pvs':[" PV("pv", "d") "]}", DISK("D"),
     DISK_OWN, false, 0, 0, false, ""},
    {"attached to a VM that is no node", no_attachment, DISK("v"), DISK_OWN, false, 1, 1, true,
     "AttachedOutside AzVolume/v " GROUP_VMS "x"},
    {"an owner that is gone", no_attachment, DISK("v"), DISK_OWN, false, 1, 1, false,
     "OwnerGone AzVolume/v " GROUP_VMS "x"},
};

static const struct disk_mark marks[] = {
    [DISK_UNMARKED] = {0},
    [DISK_OF_OLDER_DRIVER] = {.is_there = true},
    [DISK_OF_OTHERS] = {.is_there = true, .driver = DRIVER, .cluster = "another"},
    [DISK_OWN] = {.is_there = true, .driver = DRIVER, .cluster = CLUSTER},
};

static void test_disks(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(disks); i++) {
        CLEANUP(json_decrefp) json_t *json = json_of(disks[i].cluster);
        CLEANUP(view_free) struct cluster_view view = view_of(json);
        CLEANUP(findings_fini) struct findings found = {0};
        char sku[] = "Premium_LRS";
        struct cloud_disk disk = {.id = (char *)(uintptr_t)disks[i].disk,
                                  .sku = sku,
                                  .max_shares = 2,
                                  .instances = owners,
                                  .n_instances = disks[i].n_owners,
                                  .mark = marks[disks[i].origin]};
        struct foreign_vm foreign_vm = {owner, disks[i].foreign_vm_exists};
        struct disk_scan scan = {.disks = {&disk, disk.id != NULL},
                                 .unlisted = &denied,
                                 .n_unlisted = disks[i].denied,
                                 .foreign_vms = &foreign_vm,
                                 .n_foreign_vms = disks[i].n_foreign_vms};
        CLEANUP(view_source_fini) struct view_source of;

        view_source_init(&of, &view);
        disk_scan_index(&scan);
        assert_ok(compare_disks(NULL, &of.source, &scan, &found));
        free(scan.by_id);
        assert_found(&found, disks[i].found, disks[i].what);
    }
}

static void test_what_the_disk_is(void **state)
{
    static const struct {
        const char *volume_state;
        int64_t gib; /* of the disk; 2 are on record, with 3 shares and the id "1" */
        int shares;
        const char *unique_id;
        const char *found;
    } rows[] = {
        {"Created", 2, 3, "1", ""},
        {"Updated", 3, 3, "1", "SizeDiffers AzVolume/v "},
        {"Updating", 3, 1, "2", ""}, /* by the driver, which has not recorded it yet */
        {"Created", 1, 3, "1", ""},  /* no disk becomes smaller */
        {"Created", 2, 1, "1", "SharesDiffer AzVolume/v "},
        {"Created", 2, 4, "1", "SharesDiffer AzVolume/v "},
        {"Created", 2, 3, "2", "AnotherDisk AzVolume/v "},
        {"Created", 2, 3, "", ""}, /* not told */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep)
        char *text = mem_printf("{'volumes':[{'metadata':{'name':'v'},'spec':{'volumeName':'v',"
                                "'parameters':{'maxShares':'3'}},'status':{'state':'%s',"
                                "'annotation':{'" ANNOTATION_DISK_UNIQUE_ID "':'1'},"
                                "'detail':{'volume_id':'" GROUP_DISKS "v',"
                                "'capacity_bytes':2147483648}}}]}",
                                rows[i].volume_state);
        CLEANUP(json_decrefp) json_t *json = json_of(text);
        CLEANUP(view_free) struct cluster_view view = view_of(json);
        CLEANUP(findings_fini) struct findings found = {0};
        CLEANUP(view_source_fini) struct view_source of;
        CLEANUP(freep) char *unique_id = mem_strdup(rows[i].unique_id);
        char sku[] = "Premium_LRS", id[] = GROUP_DISKS "v";
        struct cloud_disk disk = {.id = id,
                                  .unique_id = unique_id,
                                  .sku = sku,
                                  .max_shares = rows[i].shares,
                                  .size_bytes = rows[i].gib << 30};
        struct disk_scan scan = {.disks = {&disk, 1}};

        view_source_init(&of, &view);
        disk_scan_index(&scan);
        assert_ok(compare_disks(NULL, &of.source, &scan, &found));
        free(scan.by_id);
        assert_found(&found, rows[i].found, rows[i].volume_state);
    }
}

/* Who reads of a disk by an older driver must not delete it without a look elsewhere. */
static void test_a_disk_that_may_be_another_clusters(void **state)
{
    CLEANUP(json_decrefp) json_t *json = json_of("{}");
    CLEANUP(view_free) struct cluster_view view = view_of(json);

    (void)state;
    for (int origin = DISK_OF_OLDER_DRIVER; origin <= DISK_OWN; origin++) {
        CLEANUP(findings_fini) struct findings found = {0};
        CLEANUP(view_source_fini) struct view_source of;
        char sku[] = "Premium_LRS", id[] = GROUP_DISKS "d";
        struct cloud_disk disk = {.id = id, .sku = sku, .mark = marks[origin]};
        struct disk_scan scan = {.disks = {&disk, 1}};

        view_source_init(&of, &view);
        disk_scan_index(&scan);
        assert_ok(compare_disks(NULL, &of.source, &scan, &found));
        free(scan.by_id);
        assert_int_equal(found.n, origin != DISK_OF_OTHERS);
        if (found.n)
            assert_int_equal(strstr(found.items[0].text, "it may belong to another cluster") !=
                                 NULL,
                             origin == DISK_OF_OLDER_DRIVER);
    }
}

/* ---- the table ---- */

static void test_every_kind_is_explained(void **state)
{
    (void)state;
    for (int kind = 0; kind < FINDING_KINDS; kind++) {
        const struct finding_kind_row *row = &FINDING_TABLE[kind];

        assert_non_null(row->name);
        assert_non_null(strchr(row->meaning, '.'));
        assert_non_null(strchr(row->loss, '.'));
        assert_non_null(strchr(row->advice, '.'));
        for (int other = 0; other < kind; other++)
            assert_string_not_equal(row->name, FINDING_TABLE[other].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_machines),
        cmocka_unit_test(test_disks),
        cmocka_unit_test(test_what_the_disk_is),
        cmocka_unit_test(test_a_disk_that_may_be_another_clusters),
        cmocka_unit_test(test_every_kind_is_explained),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
