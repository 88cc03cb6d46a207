#include "provisioner-lib/records/names.h"

#include <ctype.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define DISKS "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/"

static void test_disk_names(void **state)
{
    static const struct {
        const char *csi, *disk; /* NULL: made from a hash */
    } rows[] = {
        {"pvc-0a1b2c3d-0000-4000-8000-123456789abc", "pvc-0a1b2c3d-0000-4000-8000-123456789abc"},
        {"a", "a"},
        {"9", "9"},
        {"-a", NULL},
        {"a-", NULL},
        {"Upper", NULL},
        {"under_score", NULL},
        {"dot.ted", NULL},
        {"sp ace", NULL},
        {"", NULL},
        {"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff123",
         "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff123"},
        {"aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff1234", NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *name = disk_name_of(rows[i].csi);
        CLEANUP(freep) char *again = disk_name_of(rows[i].csi);
        CLEANUP(freep) char *of_its_own = disk_name_of(name);

        assert_string_equal(name, again);
        assert_string_equal(name, of_its_own);
        if (rows[i].disk)
            assert_string_equal(name, rows[i].disk);
        else
            assert_int_equal(strncmp(name, "csi-", 4), 0);
    }
    CLEANUP(freep) char *upper = disk_name_of("Upper");
    CLEANUP(freep) char *lower = disk_name_of("upper");
    assert_string_not_equal(upper, lower);
}

static void test_volume_names(void **state)
{
    static const struct {
        const char *id, *name;
    } rows[] = {
        {DISKS "pvc-1", "pvc-1"},
        {DISKS "PVC-1", "pvc-1"},
        {"/subscriptions/s/resourceGroups/disks/providers/Microsoft.Compute/disks/pvc-2", "pvc-2"},
        {"/SUBSCRIPTIONS/s/RESOURCEGROUPS/g/PROVIDERS/MICROSOFT.COMPUTE/DISKS/Data1", "data1"},
    };
    static const char *const wrong[] = {
        "",
        "pvc-1",
        "/subscriptions/s",
        DISKS,
        DISKS "a/b",
        "/elsewhere/disks/a",
        "/subscriptions/s/resourceGroups/disks/providers/Microsoft.Compute/snapshots/a"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *name = NULL;

        assert_ok(volume_name_of_id(rows[i].id, &name));
        assert_string_equal(name, rows[i].name);
    }
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        CLEANUP(freep) char *name = NULL;
        CLEANUP(freep)
        char *message = mem_printf("volume id \"%s\" is not the id of a managed disk", wrong[i]);

        assert_fails(volume_name_of_id(wrong[i], &name), ERR_INVALID, message);
    }
}

static void test_a_name_that_kubernetes_cannot_have(void **state)
{
    CLEANUP(freep) char *name = NULL;
    CLEANUP(freep) char *same = NULL;

    (void)state;
    assert_ok(volume_name_of_id(DISKS "My_Disk.01", &name));
    assert_ok(volume_name_of_id(DISKS "my_disk.01", &same));
    assert_string_equal(name, same);
    assert_int_equal(strncmp(name, "csi-", 4), 0);
}

static void test_names_with_a_hash(void **state)
{
    CLEANUP(freep) char *name = volume_name_with_hash(DISKS "pvc-1");
    CLEANUP(freep) char *none = volume_name_with_hash("pvc-1");
    CLEANUP(freep) char *upper = volume_name_with_hash(DISKS "PVC-1");
    CLEANUP(freep)
    char *other = volume_name_with_hash(
        "/subscriptions/s/resourceGroups/other/providers/Microsoft.Compute/disks/pvc-1");
    CLEANUP(freep) char *odd = volume_name_with_hash(DISKS "My.Disk");
    CLEANUP(freep) char *without = volume_name_without_hash(other);
    CLEANUP(freep) char *plain = volume_name_without_hash("pvc-1");
    CLEANUP(freep) char *of_odd = volume_name_without_hash(odd);

    (void)state;
    assert_null(none);
    assert_int_equal(strncmp(name, "pvc-1.", 6), 0);
    assert_int_equal(strlen(name), 6 + 16);
    assert_string_equal(name, upper);
    assert_string_not_equal(name, other);
    assert_string_equal(without, "pvc-1");
    assert_string_equal(plain, "pvc-1");
    assert_int_equal(strlen(of_odd), strlen("csi-") + 40);
}

static void test_attachment_names(void **state)
{
    char node[300];

    (void)state;
    memset(node, 'n', sizeof node - 1);
    node[sizeof node - 1] = '\0';
    CLEANUP(freep) char *plain = attachment_name_of("pvc-1", "Node-A");
    CLEANUP(freep) char *longest = attachment_name_of("pvc-1", node);
    node[0] = 'm';
    CLEANUP(freep) char *other = attachment_name_of("pvc-1", node);

    assert_string_equal(plain, "pvc-1-node-a-attachment");
    assert_in_range(strlen(longest), 1, 253);
    assert_string_not_equal(longest, other);
}

#define TEN "abcdefghij"
#define SIXTY TEN TEN TEN TEN TEN TEN

static bool is_label_value(const char *text)
{
    size_t length = strlen(text);

    for (size_t i = 0; i < length; i++) {
        bool inner = i > 0 && i + 1 < length && strchr("-_.", text[i]);

        if (!isalnum((unsigned char)text[i]) && !inner)
            return false;
    }
    return length <= 63;
}

static void test_label_values(void **state)
{
    static const struct {
        const char *name, *beginning; /* NULL: the name itself */
    } rows[] = {
        {"a", NULL},
        {"", NULL},
        {"aks-pool1-1234-vmss000000", NULL},
        {"node.region.example.com", NULL},
        {"V2_Name", NULL},
        {SIXTY "abc", NULL},
        {SIXTY "abcd", TEN TEN "ab-"},
        {SIXTY SIXTY SIXTY SIXTY TEN "abc", TEN TEN "ab-"},
        {TEN TEN "a.b" SIXTY, TEN TEN "a-"}, /* no dot before the dash */
        {TEN TEN "..b" SIXTY, TEN TEN "-"},
        {"no/label", "no-"},
        {"-a", ""},
        {"a-", "a-"},
        {"." SIXTY TEN, ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *value = label_value_of(rows[i].name);
        CLEANUP(freep) char *again = label_value_of(rows[i].name);
        CLEANUP(freep) char *of_its_own = label_value_of(value);

        assert_true(is_label_value(value));
        assert_string_equal(value, again);
        assert_string_equal(value, of_its_own);
        if (!rows[i].beginning) {
            assert_string_equal(value, rows[i].name);
            continue;
        }
        assert_int_equal(strlen(value), strlen(rows[i].beginning) + 40);
        assert_int_equal(strncmp(value, rows[i].beginning, strlen(rows[i].beginning)), 0);
    }
    CLEANUP(freep) char *one = label_value_of(SIXTY TEN "1");
    CLEANUP(freep) char *other = label_value_of(SIXTY TEN "2");
    assert_string_not_equal(one, other);
}

static void test_attachment_of_a_long_volume(void **state)
{
    /* The dot is where the name is cut: a name cannot have one before a dash. */
    static const char volume[] = SIXTY SIXTY SIXTY TEN TEN "." TEN TEN;
    CLEANUP(freep) char *name = attachment_name_of(volume, "node-a");
    CLEANUP(freep) char *other = attachment_name_of(volume, "node-b");

    (void)state;
    assert_in_range(strlen(name), 1, 253);
    assert_null(strstr(name, ".-"));
    assert_int_equal(strncmp(name, volume, 200), 0);
    assert_string_not_equal(name, other);
}

/* What people call their disks and nodes. */
static void test_attachments_of_one_name(void **state)
{
    CLEANUP(freep) char *one = attachment_name_of("data-a", "node");
    CLEANUP(freep) char *other = attachment_name_of("data", "a-node");
    CLEANUP(freep) char *one_hashed = attachment_name_with_hash("data-a", "node");
    CLEANUP(freep) char *other_hashed = attachment_name_with_hash("data", "a-node");

    (void)state;
    assert_string_equal(one, other);
    assert_string_not_equal(one_hashed, other_hashed);
}

/* Azure takes 80 characters; no snapshot that CSI names has a dot. */
static void test_local_snapshots(void **state)
{
    CLEANUP(freep) char *longest = disk_name_of(SIXTY "abc");
    CLEANUP(freep) char *name = snapshot_local_name(longest);
    CLEANUP(freep) char *as_csi_names_it = disk_name_of(name);

    (void)state;
    assert_int_equal(strlen(longest), 63);
    assert_in_range(strlen(name), 64, 80);
    assert_string_not_equal(as_csi_names_it, name);

    CLEANUP(freep) char *back = snapshot_name_of_local(name);
    assert_string_equal(back, longest);
    assert_null(snapshot_name_of_local(longest));
    assert_null(snapshot_name_of_local(".local"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_disk_names),
        cmocka_unit_test(test_volume_names),
        cmocka_unit_test(test_a_name_that_kubernetes_cannot_have),
        cmocka_unit_test(test_names_with_a_hash),
        cmocka_unit_test(test_attachment_names),
        cmocka_unit_test(test_attachments_of_one_name),
        cmocka_unit_test(test_label_values),
        cmocka_unit_test(test_local_snapshots),
        cmocka_unit_test(test_attachment_of_a_long_volume),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
