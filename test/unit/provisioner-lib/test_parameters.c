/* Each row is what a StorageClass says, as "name=value;...", and what comes of it. */
#include "provisioner-lib/parameters.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/base/buffer.h"
#include "test/unit/expect.h"

#define NINETY                                                                                     \
    "012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"

enum { MAX_PARAMETERS = 8 };

static const struct {
    const char *text;
    bool multi_node;
    const char *expected; /* "sku shares/replicas caching fs", or the error */
} rows[] = {
    {"", false, "StandardSSD_LRS 1/0 ReadOnly ext4"},
    {"skuName=Premium_LRS;maxShares=3", false, "Premium_LRS 3/2 None ext4"},
    {"SKUNAME=Premium_LRS;MAXSHARES=3", false, "Premium_LRS 3/2 None ext4"},
    {"storageAccountType=Premium_ZRS;fsType=xfs", false, "Premium_ZRS 1/0 ReadOnly xfs"},
    {"maxShares=3;maxMountReplicaCount=0", false, "StandardSSD_LRS 3/0 None ext4"},
    {"maxShares=3;maxMountReplicaCount=1", false, "StandardSSD_LRS 3/1 None ext4"},
    {"maxShares=3", true, "StandardSSD_LRS 3/0 None ext4"},
    {"maxShares=15;skuName=UltraSSD_LRS", false, "UltraSSD_LRS 15/14 None ext4"},
    {"cachingMode=ReadWrite", false, "StandardSSD_LRS 1/0 ReadWrite ext4"},
    {"cachingMode=None;maxShares=2", false, "StandardSSD_LRS 2/1 None ext4"},
    {"kind=Managed;zoned=true;perfProfile=none", false, "StandardSSD_LRS 1/0 ReadOnly ext4"},
    {"skuName=UltraSSD_LRS;diskIOPSReadWrite=2000;diskMBpsReadWrite=300;logicalSectorSize=512",
     false, "UltraSSD_LRS 1/0 None ext4"},
    {"maxShares=2;replicaNodeSelector=pool in (db,batch),!gpu", false,
     "StandardSSD_LRS 2/1 None ext4"},
    {"tags=a=b,c/d=e", false, "StandardSSD_LRS 1/0 ReadOnly ext4"},
    {"skuName=premium_lrs;cachingMode=READWRITE;fsType=XFS", false,
     "Premium_LRS 1/0 ReadWrite xfs"},
    {"skuName=;maxShares=;cachingMode=;fsType=;tags=;enableBursting=", false,
     "StandardSSD_LRS 1/0 ReadOnly ext4"},

    {"maxShares=0", false, "parameter maxShares: 0 is not in the range from 1 to 15"},
    {"maxShares=16", false, "parameter maxShares: 16 is not in the range from 1 to 15"},
    {"maxShares=two", false, "parameter maxShares: \"two\" is not a whole number"},
    {"maxMountReplicaCount=1", false,
     "parameter maxMountReplicaCount: 1 is not in the range from 0 to 0 (maxShares - 1)"},
    {"maxShares=3;maxMountReplicaCount=3", false,
     "parameter maxMountReplicaCount: 3 is not in the range from 0 to 2 (maxShares - 1)"},
    {"partition=1", false,
     "parameter partition: a new disk has no partitions. It is for volumeAttributes of the "
     "PersistentVolume of an existing disk"},
    {"maxMountReplicaCount=-1", false,
     "parameter maxMountReplicaCount: -1 is not in the range from 0 to 14"},
    {"skuName=premium", false,
     "parameter skuName: \"premium\" is not one of Standard_LRS, StandardSSD_LRS, "
     "StandardSSD_ZRS, Premium_LRS, Premium_ZRS, UltraSSD_LRS, PremiumV2_LRS"},
    {"skuName=Standard_LRS;maxShares=2", false,
     "parameter maxShares: Standard_LRS disks cannot be shared"},
    {"replicaNodeSelector=pool", false,
     "parameter replicaNodeSelector requires maxShares to be 2 or more: otherwise there are no "
     "replicas"},
    {"maxShares=2;replicaNodeSelector=pool in db", false,
     "parameter replicaNodeSelector: \"pool in db\" is not a label selector: \"(\" is missing at "
     "\"db\""},
    {"cachingMode=some", false,
     "parameter cachingMode: \"some\" is not one of None, ReadOnly, ReadWrite"},
    {"cachingMode=ReadOnly;maxShares=2", false,
     "parameter cachingMode: \"ReadOnly\" is not possible with a disk with maxShares above 1; use "
     "None"},
    {"cachingMode=ReadOnly;skuName=PremiumV2_LRS", false,
     "parameter cachingMode: \"ReadOnly\" is not possible with PremiumV2_LRS; use None"},
    {"fsType=btrfs", false, "parameter fsType: \"btrfs\" is not one of ext4, ext3, ext2, xfs"},
    {"diskIOPSReadWrite=100", false,
     "parameter diskIOPSReadWrite is not possible with StandardSSD_LRS disks, only with "
     "UltraSSD_LRS and PremiumV2_LRS"},
    {"logicalSectorSize=1024;skuName=UltraSSD_LRS", false,
     "parameter logicalSectorSize: \"1024\" is not one of 512, 4096"},
    {"enableBursting=maybe", false,
     "parameter enableBursting: \"maybe\" is neither true nor false"},
    {"tags=a", false, "parameter tags: \"a\" is not of the form key=value[,key=value...]"},
    {"tags==b", false, "parameter tags: \"=b\" is not of the form key=value[,key=value...]"},
    {"diskEncryptionType=EncryptionAtRestWithCustomerKey", false,
     "parameter diskEncryptionType requires diskEncryptionSetID"},
    {"diskEncryptionSetID=des", false,
     "parameter diskEncryptionSetID: \"des\" does not begin with /subscriptions/"},
    {"resourceGroup=My_group-1.(a)", false, "StandardSSD_LRS 1/0 ReadOnly ext4"},
    {"resourceGroup=", false, "StandardSSD_LRS 1/0 ReadOnly ext4"},
    {"resourceGroup=x/providers/y?", false,
     "parameter resourceGroup: \"x/providers/y?\" is not the name of a resource group: only "
     "letters, digits, _, -, ., ( and ) are allowed"},
    {"resourceGroup=a%2e", false,
     "parameter resourceGroup: \"a%2e\" is not the name of a resource group: only letters, digits, "
     "_, -, ., ( and ) are allowed"},
    {"resourceGroup=..", false,
     "parameter resourceGroup: \"..\" is not the name of a resource group: it must have at most 90 "
     "characters and must not end with a dot"},
    {"resourceGroup=" NINETY, false, "StandardSSD_LRS 1/0 ReadOnly ext4"},
    {"resourceGroup=" NINETY "a", false,
     "parameter resourceGroup: \"" NINETY "a\" is not the name of a resource group: it must have "
     "at most 90 characters and must not end with a dot"},
    {"subscriptionID=01234567-89ab-cDEF-0123-456789abcdef", false,
     "StandardSSD_LRS 1/0 ReadOnly ext4"},
    {"subscriptionID=mine", false,
     "parameter subscriptionID: \"mine\" is not of the form 00000000-0000-0000-0000-000000000000"},
    {"subscriptionID=01234567-89ab-cDEF-0123-456789abcde/", false,
     "parameter subscriptionID: \"01234567-89ab-cDEF-0123-456789abcde/\" is not of the form "
     "00000000-0000-0000-0000-000000000000"},
    {"networkAccessPolicy=AllowPrivate", false,
     "parameter diskAccessID and networkAccessPolicy AllowPrivate must be set together"},
    {"tags=${pvc.metadata.name}=b", false,
     "parameter tags: \"${pvc.metadata.name}\": templates are possible only in a tag's value"},
    {"tags=a=${pv.metadata.uid}", false,
     "parameter tags: \"${pv.metadata.uid}\" does not begin with a known template: "
     "${pvc.metadata.name}, ${pvc.metadata.namespace} and ${pv.metadata.name} are known"},
    {"tags=a=${pvc.metadata.name}", false,
     "parameter tags: template ${pvc.metadata.name} needs csi.storage.k8s.io/pvc/name, which "
     "csi-provisioner sets if it runs with --extra-create-metadata"},
    {"tags=a=b,A=c", false,
     "parameter tags: tag A is set twice: Azure does not tell names apart by their case"},
    {"tags=a?=b", false,
     "parameter tags: tag a?: Azure does not allow the character ? in a tag's name"},
    {"tags=a\\b=c", false,
     "parameter tags: tag a\\b: Azure does not allow the character \\ in a tag's name"},
    {"tags=Kubernetes.io-created-for-pv-name=x", false,
     "parameter tags: tag Kubernetes.io-created-for-pv-name is reserved: the driver writes it to "
     "identify its disks; omit the tag"},
    {"diskName=mine", false,
     "parameter diskName: csi.storage.k8s.io/pv/name is missing, which csi-provisioner sets if it "
     "runs with --extra-create-metadata"},
    {"tags=k8s-azure-created-by=me", false,
     "parameter tags: tag k8s-azure-created-by is reserved: the driver writes it to identify its "
     "disks; omit the tag"},
    {"tags=a=b,K8s-Azure-Created-By-Cluster=me", false,
     "parameter tags: tag K8s-Azure-Created-By-Cluster is reserved: the driver writes it to "
     "identify its disks; omit the tag"},
    {"tags=k8s-azure-cluster-name=me", false, "StandardSSD_LRS 1/0 ReadOnly ext4"},
    {"tagValueDelimiter=,;incremental=true;userAgent=x;enableAsyncAttach=true", false,
     "StandardSSD_LRS 1/0 ReadOnly ext4"},
    {"kind=dedicated", false,
     "parameter kind: \"dedicated\" is not supported; omit the parameter. All disks are managed "
     "disks."},
    {"perfProfile=basic", false, "StandardSSD_LRS 1/0 ReadOnly ext4"},
    {"perfProfile=Basic;skuName=Premium_ZRS", false, "Premium_ZRS 1/0 ReadOnly ext4"},
    {"perfProfile=basic;skuName=PremiumV2_LRS", false,
     "parameter perfProfile: basic is not possible with PremiumV2_LRS disks, only with "
     "Premium_LRS, Premium_ZRS, StandardSSD_LRS and StandardSSD_ZRS; use advanced"},
    {"perfProfile=basic;device-setting/queue/nr_requests=64", false,
     "parameter perfProfile advanced and parameters device-setting/... must be set together"},
    {"fencing=Required;maxShares=2;skuName=Premium_LRS", false, "Premium_LRS 2/1 None ext4"},
    {"fencing=guest", false, "StandardSSD_LRS 1/0 ReadOnly ext4"},
    {"fencing=required", false,
     "parameter fencing: required is only possible with maxShares above 1: nobody else can write "
     "to "
     "a disk that is not shared"},
    {"fencing=required;maxShares=2;skuName=Premium_LRS", true,
     "parameter fencing: required is not possible with volumes that several nodes write to "
     "(ReadWriteMany)"},
    {"automaticFailover=true;maxShares=2;skuName=Premium_LRS", false, "Premium_LRS 2/1 None ext4"},
    {"automaticFailover=false;fencing=none", false, "StandardSSD_LRS 1/0 ReadOnly ext4"},
    /* Azure's word that the VM is off needs neither replicas nor a fence. */
    {"automaticFailover=true", false, "StandardSSD_LRS 1/0 ReadOnly ext4"},
    {"automaticFailover=true;maxShares=2;fencing=guest;skuName=Premium_LRS", false,
     "Premium_LRS 2/1 None ext4"},
    {"automaticFailover=true;maxShares=2;skuName=Premium_LRS", true,
     "parameter automaticFailover is not possible with volumes that several nodes write to "
     "(ReadWriteMany)"},
    {"fencing=always", false,
     "parameter fencing: \"always\" is not one of preferred, required, none, guest"},
    {"perfProfile=fast", false,
     "parameter perfProfile: \"fast\" is not one of none, basic, advanced"},
    {"perfProfile=Advanced;device-setting/queue/nr_requests=64", false,
     "StandardSSD_LRS 1/0 ReadOnly ext4"},
    {"perfProfile=advanced", false,
     "parameter perfProfile advanced and parameters device-setting/... must be set together"},
    {"perfProfile=advanced;device-setting//sys/x=1", false,
     "parameter device-setting//sys/x is not a path below the device's folder in sysfs"},
    {"perfProfile=advanced;device-setting/queue/../../x=1", false,
     "parameter device-setting/queue/../../x is not a path below the device's folder in sysfs"},
    {"perfProfile=advanced;device-setting/=1", false,
     "parameter device-setting/ is not a path below the device's folder in sysfs"},
    {"perfProfile=advanced;device-setting/queue/=1", false,
     "parameter device-setting/queue/ is not a path below the device's folder in sysfs"},
    {"perfProfile=advanced;device-setting/..=1", false,
     "parameter device-setting/.. is not a path below the device's folder in sysfs"},
    {"writeAcceleratorEnabled=true;skuName=Premium_LRS", false, "Premium_LRS 1/0 ReadOnly ext4"},
    {"WriteAcceleratorEnabled=True;skuName=Premium_LRS;cachingMode=None", false,
     "Premium_LRS 1/0 None ext4"},
    {"writeAcceleratorEnabled=false;maxShares=2;skuName=Premium_LRS", false,
     "Premium_LRS 2/1 None ext4"},
    {"writeAcceleratorEnabled=yes", false,
     "parameter writeAcceleratorEnabled: \"yes\" is neither true nor false"},
    {"writeAcceleratorEnabled=true", false,
     "parameter writeAcceleratorEnabled is not possible with StandardSSD_LRS; it needs "
     "Premium_LRS, "
     "maxShares 1 and cachingMode None or ReadOnly"},
    {"writeAcceleratorEnabled=true;skuName=Premium_ZRS", false,
     "parameter writeAcceleratorEnabled is not possible with Premium_ZRS; it needs Premium_LRS, "
     "maxShares 1 and cachingMode None or ReadOnly"},
    {"writeAcceleratorEnabled=true;skuName=Premium_LRS;maxShares=2", false,
     "parameter writeAcceleratorEnabled is not possible with a disk with maxShares above 1; it "
     "needs Premium_LRS, "
     "maxShares 1 and cachingMode None or ReadOnly"},
    {"writeAcceleratorEnabled=true;skuName=Premium_LRS;cachingMode=ReadWrite", false,
     "parameter writeAcceleratorEnabled is not possible with cachingMode ReadWrite; it needs "
     "Premium_LRS, "
     "maxShares 1 and cachingMode None or ReadOnly"},
    {"device-setting/queue/nr_requests=64", false,
     "parameter perfProfile advanced and parameters device-setting/... must be set together"},
    {"maxShare=3", false, "parameter maxShare is unknown"},
    {"", true, "parameter maxShares: access from several nodes requires 2 or more"},
};

static size_t split(char *text, struct parameter *list)
{
    char *item, *rest = text;
    size_t n = 0;

    while (*text && (item = strsep(&rest, ";"))) {
        char *equals = strchr(item, '=');

        *equals = '\0';
        list[n++] = (struct parameter){item, equals + 1};
    }
    return n;
}

static char *describe(const struct volume_parameters *p, const struct err *err)
{
    if (err)
        return mem_strdup(err_message(err));
    const struct caching_disk disk = {p->sku, p->max_shares, 0};
    return mem_printf("%s %d/%d %s %s", p->sku, p->max_shares, p->max_mount_replica_count,
                      caching_mode_name(caching_of(p->caching, &disk)), p->fs_type);
}

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *text = mem_strdup(rows[i].text);
        CLEANUP(volume_parameters_fini) struct volume_parameters p = {0};
        struct parameter list[MAX_PARAMETERS];
        size_t n = split(text, list);
        CLEANUP(err_freep)
        struct err *err = volume_parameters_parse(list, n, rows[i].multi_node, &p);
        CLEANUP(freep) char *got = describe(&p, err);

        if (strcmp(got, rows[i].expected) != 0)
            fail_msg("%s: expected \"%s\", got \"%s\"", rows[i].text, rows[i].expected, got);
        if (err)
            assert_int_equal(err_kind(err), ERR_INVALID);
    }
}

static void test_tags(void **state)
{
    const struct parameter list[] = {{"tags", "a=b,c/d=e/f"}};
    CLEANUP(volume_parameters_fini) struct volume_parameters p = {0};

    (void)state;
    assert_ok(volume_parameters_parse(list, 1, false, &p));
    assert_int_equal(p.n_tags, 2);
    assert_string_equal(p.tags[0].name, "a");
    assert_string_equal(p.tags[1].name, "c-d");
    assert_string_equal(p.tags[1].value, "e/f");
}

/* What tags and diskName become for a claim, as "tag=value ... disk"; or an error. */
static void test_templates(void **state)
{
    static const struct {
        const char *tags, *delimiter, *disk, *result;
    } cases[] = {
        {"a=${pvc.metadata.name}.${pvc.metadata.namespace}", "", "", "a=db.shop "},
        {"a=x-${pv.metadata.name}-y,b=$ {}", ",", "", "a=x-pv-1-y b=$ {} "},
        {"a=b,c;d=e", ";", "", "a=b,c d=e "},
        {"a=1||b=2", "||", "", "a=1 b=2 "},
        {"a=b;c=d", "", "",
         "parameter tags: \"a=b;c=d\" is not of the form key=value[,key=value...]"},
        {"a=b,", "", "", "parameter tags: \"a=b,\" is not of the form key=value[,key=value...]"},
        {"a=${pvc.metadata.name", "", "",
         "parameter tags: \"${pvc.metadata.name\" does not begin with a known template: "
         "${pvc.metadata.name}, ${pvc.metadata.namespace} and ${pv.metadata.name} are known"},
        {"", "", "${pvc.metadata.namespace}_${pvc.metadata.name}", "shop_db"},
        {"", "", "Disk-${pv.metadata.name}", "Disk-pv-1"},
        {"", "", "fixed", "fixed"},
        {"", "", "a/b",
         "parameter diskName: \"a/b\" is not the name of a disk: only letters, digits, _, . and - "
         "are allowed, first a letter or digit, and last a letter, digit or _"},
        {"", "", "${pvc.metadata.name}-",
         "parameter diskName: \"db-\" is not the name of a disk: only letters, digits, _, . and - "
         "are allowed, first a letter or digit, and last a letter, digit or _"},
        {"", "", "123456789012345678901234567890123456789012345678901234567890123456789012345678db",
         "1234567890123456789012345678901234567890123456789012345678901234567890123456"
         "78db"},
        {"", "",
         "1234567890123456789012345678901234567890123456789012345678901234567890123456789db",
         "parameter diskName: "
         "\"12345678901234567890123456789012345678901234567890123456789012345678"
         "90123456789db\" has 81 characters; a disk's name has at most 80"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct parameter list[] = {
            {"tags", cases[i].tags},
            {"TagValueDelimiter", cases[i].delimiter},
            {"diskName", cases[i].disk},
            {"csi.storage.k8s.io/pv/name", "pv-1"},
            {"csi.storage.k8s.io/pvc/name", "db"},
            {"csi.storage.k8s.io/pvc/namespace", "shop"},
        };
        CLEANUP(volume_parameters_fini) struct volume_parameters p = {0};
        CLEANUP(err_freep)
        struct err *err = volume_parameters_parse(list, COUNT_OF(list), false, &p);
        CLEANUP(buffer_fini) struct buffer text;

        buffer_init(&text, 4096);
        for (size_t t = 0; t < p.n_tags; t++)
            buffer_printf(&text, "%s=%s ", p.tags[t].name, p.tags[t].value);
        buffer_printf(&text, "%s", err ? err_message(err) : p.disk_name ? p.disk_name : "");
        CLEANUP(freep) char *result = buffer_take(&text);
        assert_string_equal(result, cases[i].result);
    }
}

/* `n` letters of two bytes each. */
static void test_length_of_tags(void **state)
{
    static const struct {
        int name, value;
        bool good;
    } cases[] = {{512, 256, true}, {513, 1, false}, {1, 257, false}, {1, 3000, false}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP(buffer_fini) struct buffer text;

        buffer_init(&text, 8192);
        for (int n = 0; n < cases[i].name; n++)
            buffer_printf(&text, "\xc3\xa4");
        buffer_printf(&text, "=");
        for (int n = 0; n < cases[i].value; n++)
            buffer_printf(&text, "\xc3\xa4");
        CLEANUP(freep) char *tags = buffer_take(&text);
        const struct parameter list[] = {{"tags", tags}};
        CLEANUP(volume_parameters_fini) struct volume_parameters p = {0};
        CLEANUP(err_freep) struct err *err = volume_parameters_parse(list, 1, false, &p);
        assert_int_equal(err == NULL, cases[i].good);
    }
}

/* Azure's limit is of all tags of a disk. */
static void test_how_many_tags(void **state)
{
    static const struct {
        int tags;
        bool of_a_claim; /* which the driver notes in three more */
        const char *error;
    } cases[] = {
        {47, false, NULL},
        {48, false,
         "parameter tags: with the 3 that the driver adds, 48 tags are more than the 50 that a "
         "disk "
         "can have"},
        {44, true, NULL},
        {45, true,
         "parameter tags: with the 6 that the driver adds, 45 tags are more than the 50 that a "
         "disk "
         "can have"},
        {51, false, "parameter tags: more than 50 tags"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct buffer text;

        buffer_init(&text, 1 << 16);
        for (int n = 0; n < cases[i].tags; n++)
            buffer_printf(&text, "%st%d=v", n ? "," : "", n);
        CLEANUP(freep) char *tags = buffer_take(&text);
        const struct parameter list[] = {{"tags", tags},
                                         {"csi.storage.k8s.io/pv/name", "pv"},
                                         {"csi.storage.k8s.io/pvc/name", "pvc"},
                                         {"csi.storage.k8s.io/pvc/namespace", "default"}};
        CLEANUP(volume_parameters_fini) struct volume_parameters p = {0};
        CLEANUP(err_freep)
        struct err *err = volume_parameters_parse(list, cases[i].of_a_claim ? 4 : 1, false, &p);

        if (!err != !cases[i].error || (err && strcmp(err_message(err), cases[i].error) != 0))
            fail_msg("%d: %s", cases[i].tags, err ? err_message(err) : "ok");
    }
}

static const struct {
    const char *text;
    int64_t gib;
    const char *error; /* NULL: possible */
} possible[] = {
    {"skuName=Premium_LRS;maxShares=3", 512, NULL},
    {"skuName=Premium_LRS;maxShares=4", 512,
     "parameter maxShares: 4 is more than the 3 that a Premium_LRS disk of 512 GiB allows"},
    {"skuName=Premium_LRS;maxShares=5", 513, NULL},
    {"skuName=Premium_LRS;maxShares=10", 4097, NULL},
    {"skuName=StandardSSD_ZRS;maxShares=6", 4096,
     "parameter maxShares: 6 is more than the 5 that a StandardSSD_ZRS disk of 4096 GiB "
     "allows"},
    {"skuName=UltraSSD_LRS;maxShares=15", 4, NULL},
    {"skuName=UltraSSD_LRS", 3, "a size of 3 GiB: UltraSSD_LRS disks have at least 4"},
    {"skuName=Premium_LRS", 32767, NULL},
    {"skuName=Premium_LRS", 32768, "a size of 32768 GiB: Premium_LRS disks have at most 32767"},
    {"skuName=PremiumV2_LRS;diskIOPSReadWrite=3000", 1, NULL},
    {"skuName=PremiumV2_LRS;diskIOPSReadWrite=3001", 6,
     "parameter diskIOPSReadWrite: 3001 is not in the range from 3000 to 3000 of a PremiumV2_LRS "
     "disk of 6 GiB"},
    {"skuName=PremiumV2_LRS;diskIOPSReadWrite=5000", 10, NULL},
    {"skuName=UltraSSD_LRS;diskIOPSReadWrite=4000", 4, NULL},
    {"skuName=UltraSSD_LRS;diskIOPSReadWrite=99", 4,
     "parameter diskIOPSReadWrite: 99 is not in the range from 100 to 4000 of a UltraSSD_LRS disk "
     "of 4 GiB"},
    {"skuName=Premium_LRS;enableBursting=true", 513, NULL},
    {"skuName=Premium_LRS;enableBursting=true", 512,
     "parameter enableBursting requires more than 512 GiB, not 512"},
    {"skuName=Premium_LRS;enableBursting=true;maxShares=2", 1024,
     "parameter enableBursting is not possible with a disk with maxShares above 1"},
    {"skuName=PremiumV2_LRS;enableBursting=true", 1024,
     "parameter enableBursting is not possible with PremiumV2_LRS disks, only with Premium_LRS and "
     "Premium_ZRS"},
    {"skuName=Premium_LRS", 4096, NULL},
    {"skuName=Premium_LRS;cachingMode=ReadOnly", 4095, NULL},
    {"skuName=Premium_LRS;cachingMode=ReadOnly", 4096,
     "parameter cachingMode: \"ReadOnly\" is not possible with a disk of 4 TiB or more; use None"},
    {"skuName=PremiumV2_LRS;diskMBpsReadWrite=2001", 10,
     "parameter diskMBpsReadWrite: 2001 is not in the range from 125 to 2000 of a PremiumV2_LRS "
     "disk of 10 GiB"},
};

static void test_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(possible); i++) {
        CLEANUP(freep) char *text = mem_strdup(possible[i].text);
        CLEANUP(volume_parameters_fini) struct volume_parameters p = {0};
        struct parameter list[MAX_PARAMETERS];
        struct disk_limits limits;
        size_t n = split(text, list);

        assert_ok(volume_parameters_parse(list, n, false, &p));
        disk_limits_built_in(p.sku, possible[i].gib, &limits);
        struct err *err = volume_parameters_check_size(&p, possible[i].gib, &limits);
        if (possible[i].error)
            assert_fails(
                err, strncmp(possible[i].error, "a size", 6) == 0 ? ERR_OUT_OF_RANGE : ERR_INVALID,
                possible[i].error);
        else
            assert_ok(err);
    }
}

/* Azure's rows overlap at their ends: a disk of 512 GiB is of the smaller step. */
static void test_rows_of_a_kind(void **state)
{
    static const struct disk_limits steps[] = {
        {.least_gib = 512, .most_gib = 1024, .max_shares = 5, .zones = 6},
        {.least_gib = 0, .most_gib = 512, .max_shares = 3, .zones = 2},
    };
    static const struct {
        int64_t gib;
        int shares;
    } sizes[] = {{1, 3}, {512, 3}, {513, 5}, {1024, 5}, {2000, 5}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct disk_limits limits;

        disk_limits_at(steps, COUNT_OF(steps), sizes[i].gib, &limits);
        assert_int_equal(limits.max_shares, sizes[i].shares);
        assert_int_equal(limits.zones, sizes[i].shares == 3 ? 2 : 6);
        assert_int_equal(limits.least_gib, 0);
        assert_int_equal(limits.most_gib, 1024);
    }
}

static void test_zones(void **state)
{
    static const struct {
        unsigned zones;
        const char *zone;
        bool there;
    } rows_of_zones[] = {
        {1 << 1 | 1 << 3, "eastus-1", true},
        {1 << 1 | 1 << 3, "eastus-2", false},
        {1 << 1 | 1 << 3, "eastus-3", true},
        {0, "eastus-2", true}, /* not said */
        {1 << 1, "eastus", true},
        {1 << 1, "east-us", true},
        {1 << 1, "eastus-99", true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows_of_zones); i++) {
        const struct disk_limits limits = {.zones = rows_of_zones[i].zones};

        assert_int_equal(disk_limits_in_zone(&limits, rows_of_zones[i].zone),
                         rows_of_zones[i].there);
    }
}

/* Volumes of version 1 of the driver, with what it took when it made them. */
static void test_of_a_disk_that_exists(void **state)
{
    static const struct {
        const char *text;
        bool multi_node;
        const char *expected; /* the SKU is the disk's own, whatever is said */
    } existing[] = {
        {"", false, "StandardSSD_LRS 1/0 ReadOnly ext4"},
        {"tags=a==b,c;tagValueDelimiter=;tags=${pvc.metadata.name}=x", false,
         "StandardSSD_LRS 1/0 ReadOnly ext4"},
        {"fsType=;csi.storage.k8s.io/fstype=EXT4;cachingMode=readonly", false,
         "StandardSSD_LRS 1/0 ReadOnly ext4"},
        {"skuName=StandardSSD_XRS;diskIOPSReadWrite=many;logicalSectorSize=1", false,
         "StandardSSD_LRS 1/0 ReadOnly ext4"},
        {"diskName=mine;perfProfile=basic;device-setting/x=1;x=y;kind=dedicated", false,
         "StandardSSD_LRS 1/0 ReadOnly ext4"},
        {"maxShares=3;maxMountReplicaCount=7;cachingMode=ReadOnly", false,
         "StandardSSD_LRS 3/2 None ext4"},
        {"maxMountReplicaCount=2", false, "StandardSSD_LRS 1/2 ReadOnly ext4"},
        {"maxShares=;maxMountReplicaCount=2", false, "StandardSSD_LRS 1/2 ReadOnly ext4"},
        {"maxShares=3", true, "StandardSSD_LRS 3/0 None ext4"},
        {"", true, "StandardSSD_LRS 1/0 ReadOnly ext4"},
        {"networkAccessPolicy=AllowPrivate;diskEncryptionSetID=x;maxShares=1", false,
         "StandardSSD_LRS 1/0 ReadOnly ext4"},
        {"maxShares=many", false, "parameter maxShares: \"many\" is not a whole number"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(existing); i++) {
        CLEANUP(freep) char *text = mem_strdup(existing[i].text);
        CLEANUP(volume_parameters_fini) struct volume_parameters p = {0};
        struct parameter list[MAX_PARAMETERS];
        size_t n = split(text, list);
        CLEANUP(err_freep)
        struct err *err = volume_parameters_parse_existing(list, n, existing[i].multi_node, &p);
        CLEANUP(freep) char *got = describe(&p, err);

        if (strcmp(got, existing[i].expected) != 0)
            fail_msg("%s: expected \"%s\", got \"%s\"", existing[i].text, existing[i].expected,
                     got);
    }
}

/* Of a VolumeAttributesClass. */
static void test_of_what_can_be_changed(void **state)
{
    static const struct {
        const char *text, *error; /* NULL: none */
        const char *sku;
        int64_t iops, mbps;
    } changes[] = {
        {"", NULL, NULL, 0, 0},
        {"skuname=premiumv2_lrs", NULL, "PremiumV2_LRS", 0, 0},
        {"storageAccountType=Premium_ZRS", NULL, "Premium_ZRS", 0, 0},
        {"DiskIOPSReadWrite=4000;DISKMBPSREADWRITE=200", NULL, NULL, 4000, 200},
        {"skuName=Gold", "\"Gold\" is not one of", NULL, 0, 0},
        {"diskIOPSReadWrite=fast", "not a whole number", NULL, 0, 0},
        {"skuName=Premium_LRS;maxShares=2", "parameter maxShares cannot be changed", NULL, 0, 0},
        {"cachingMode=None", "parameter cachingMode cannot be changed", NULL, 0, 0},
        {"no-such=1", "parameter no-such cannot be changed", NULL, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(changes); i++) {
        CLEANUP(freep) char *text = mem_strdup(changes[i].text);
        CLEANUP(volume_parameters_fini) struct volume_parameters p = {0};
        struct parameter list[MAX_PARAMETERS];
        CLEANUP(err_freep)
        struct err *err = volume_parameters_parse_mutable(list, split(text, list), &p);

        if (changes[i].error ? !err || !strstr(err_message(err), changes[i].error) : err != NULL)
            fail_msg("%s: %s", changes[i].text, err ? err_message(err) : "no error");
        assert_int_equal(p.iops, changes[i].iops);
        assert_int_equal(p.mbps, changes[i].mbps);
        assert_true(changes[i].sku ? p.sku && strcmp(p.sku, changes[i].sku) == 0 : !p.sku);
    }
}

static void test_caching(void **state)
{
    static const struct {
        enum caching_mode asked;
        struct caching_disk disk;
        enum caching_mode expected;
    } disks[] = {
        {CACHING_DEFAULT, {"Premium_LRS", 1, 4095}, CACHING_READ_ONLY},
        {CACHING_READ_WRITE, {"Premium_LRS", 1, 4095}, CACHING_READ_WRITE},
        {CACHING_NONE, {"Premium_LRS", 1, 10}, CACHING_NONE},
        {CACHING_DEFAULT, {"Premium_LRS", 1, 4096}, CACHING_NONE},
        {CACHING_READ_ONLY, {"Premium_LRS", 1, 4096}, CACHING_NONE},
        {CACHING_DEFAULT, {"Premium_LRS", 2, 10}, CACHING_NONE},
        {CACHING_DEFAULT, {"UltraSSD_LRS", 1, 10}, CACHING_NONE},
        {CACHING_READ_ONLY, {"premiumv2_lrs", 1, 10}, CACHING_NONE},
        {CACHING_DEFAULT, {"PremiumV2_ZRS", 1, 10}, CACHING_NONE},
        {CACHING_DEFAULT, {NULL, 1, 0}, CACHING_READ_ONLY},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(disks); i++)
        assert_int_equal(caching_of(disks[i].asked, &disks[i].disk), disks[i].expected);
}

static void test_unknown_ones_can_be_dropped(void **state)
{
    struct parameter list[] = {{"requestedsizegib", "4"}, {"zoned", "d"},
                               {"perfProfile", "basic"},  {"maxshares", "2"},
                               {"device-setting/x", "1"}, {"x", "y"}};

    (void)state;
    assert_int_equal(parameters_keep_known(list, COUNT_OF(list)), 3);
    assert_string_equal(list[0].name, "perfProfile");
    assert_string_equal(list[1].name, "maxshares");
    assert_string_equal(list[2].name, "device-setting/x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_tags),
        cmocka_unit_test(test_templates),
        cmocka_unit_test(test_length_of_tags),
        cmocka_unit_test(test_how_many_tags),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_rows_of_a_kind),
        cmocka_unit_test(test_zones),
        cmocka_unit_test(test_unknown_ones_can_be_dropped),
        cmocka_unit_test(test_of_a_disk_that_exists),
        cmocka_unit_test(test_of_what_can_be_changed),
        cmocka_unit_test(test_caching),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
