/* Whose a disk is, by its tags. */
#include "provisioner-lib/disk_mark.h"

#include "test/unit/expect.h"

#define DRIVER "disk.csi.azure.com"
#define CLUSTER "3f0a8c1e-6d5b-4f7a-9e21-7c4d2b1a0f55"
#define OTHER "5c1a0d52-6f6e-4f0b-9a43-0e5b6d1f7c11"
#define BY                                                                                         \
    {                                                                                              \
        "k8s-azure-created-by", "kubernetes-azure-dd"                                              \
    }
#define OF_DRIVER(name)                                                                            \
    {                                                                                              \
        "k8s-azure-created-by-driver", name                                                        \
    }
#define OF_CLUSTER(uid)                                                                            \
    {                                                                                              \
        "k8s-azure-created-by-cluster", uid                                                        \
    }

static const struct disk_creator us = {DRIVER, CLUSTER};

/* clang-format off */
static const struct {
    const char *what;
    struct parameter tags[4];
    enum disk_origin origin;
    const char *text;
} rows[] = {
    {"no tags", {{NULL, NULL}}, DISK_UNMARKED, "this driver did not create it"},
    {"somebody's tags", {{"a", "b"}, {"created-by", "me"}}, DISK_UNMARKED,
     "this driver did not create it"},
    {"another value", {{"k8s-azure-created-by", "azure"}}, DISK_UNMARKED,
     "this driver did not create it"},
    {"the rest of a mark alone", {OF_DRIVER(DRIVER), OF_CLUSTER(CLUSTER)}, DISK_UNMARKED,
     "this driver did not create it"},
    {"an older driver", {BY, {"a", "b"}}, DISK_OF_OLDER_DRIVER,
     "an earlier version of the driver created it, in this cluster or in another one"},
    {"this driver here", {BY, OF_DRIVER(DRIVER), OF_CLUSTER(CLUSTER)}, DISK_OWN,
     "this driver created it"},
    {"in another order", {OF_CLUSTER(CLUSTER), OF_DRIVER(DRIVER), BY}, DISK_OWN,
     "this driver created it"},
    {"names in another case", {{"K8S-Azure-Created-By", "kubernetes-azure-dd"},
                               {"K8s-azure-created-by-Driver", DRIVER},
                               {"K8s-azure-created-by-CLUSTER", CLUSTER}}, DISK_OWN,
     "this driver created it"},
    {"a value in another case", {BY, OF_DRIVER("Disk.CSI.azure.com"), OF_CLUSTER(CLUSTER)},
     DISK_OF_OTHERS, "driver Disk.CSI.azure.com of this cluster created it"},
    {"another driver here", {BY, OF_DRIVER("disk2.csi.azure.com"), OF_CLUSTER(CLUSTER)},
     DISK_OF_OTHERS, "driver disk2.csi.azure.com of this cluster created it"},
    {"this driver in another cluster", {BY, OF_DRIVER(DRIVER), OF_CLUSTER(OTHER)}, DISK_OF_OTHERS,
     "driver " DRIVER " of another cluster created it (the UID of that cluster's namespace "
     "kube-system is " OTHER ")"},
    {"no cluster", {BY, OF_DRIVER(DRIVER)}, DISK_OF_OTHERS,
     "driver " DRIVER " of another cluster created it (the UID of that cluster's namespace "
     "kube-system is not in its tags)"},
    {"an empty cluster", {BY, OF_CLUSTER("")}, DISK_OF_OTHERS,
     "driver (unnamed) of another cluster created it (the UID of that cluster's namespace "
     "kube-system is )"},
    {"no driver", {BY, OF_CLUSTER(CLUSTER)}, DISK_OF_OTHERS,
     "driver (unnamed) of this cluster created it"},
};
/* clang-format on */

static struct disk_mark mark_of(const struct parameter *tags, size_t n)
{
    struct disk_mark mark = {0};

    for (size_t i = 0; i < n && tags[i].name; i++)
        disk_mark_read(&mark, tags[i].name, tags[i].value);
    return mark;
}

static void test_whose_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const struct disk_mark mark = mark_of(rows[i].tags, COUNT_OF(rows[i].tags));
        CLEANUP(freep) char *text = disk_origin_text(&mark, &us);

        if (disk_origin_of(&mark, &us) != rows[i].origin || strcmp(text, rows[i].text) != 0)
            fail_msg("%s: %d, \"%s\"", rows[i].what, (int)disk_origin_of(&mark, &us), text);
    }
}

static void test_what_is_written_is_read(void **state)
{
    struct parameter tags[DISK_MARK_TAGS];

    (void)state;
    disk_mark_write(&us, tags);
    for (size_t i = 0; i < COUNT_OF(tags); i++)
        assert_true(disk_mark_has_tag(tags[i].name));
    assert_string_equal(tags[0].name, "k8s-azure-created-by"); /* where scripts look for it */
    assert_string_equal(tags[0].value, "kubernetes-azure-dd");
    const struct disk_mark mark = mark_of(tags, COUNT_OF(tags));
    assert_int_equal(disk_origin_of(&mark, &us), DISK_OWN);
    assert_true(disk_mark_has_tag("K8S-AZURE-created-by"));
    assert_false(disk_mark_has_tag("k8s-azure-cluster-name"));
}

/* Before the cluster is known, no disk with the mark of a cluster is this one's. */
static void test_a_cluster_that_is_not_known(void **state)
{
    static const struct disk_creator nowhere = {DRIVER, NULL};
    static const struct parameter tags[] = {BY, OF_DRIVER(DRIVER), OF_CLUSTER(CLUSTER)};
    const struct disk_mark mark = mark_of(tags, COUNT_OF(tags));

    (void)state;
    assert_int_equal(disk_origin_of(&mark, &nowhere), DISK_OF_OTHERS);
}

static const struct {
    const char *name;
    bool is_unique; /* the mark of an older driver is enough */
} names[] = {
    {"data", false},
    {"", false},
    {"pvc-1", false},
    {"pvc-96c8f65f-2d4d-4156-b0a2-0d2aa9847e8e", true},
    {"96C8F65F-2D4D-4156-B0A2-0D2AA9847E8E", true},
    {"pvc-96c8f65f-2d4d-4156-b0a2-0d2aa9847e8", false},
    {"pvc-96c8f65f-2d4d-4156-b0a2-0d2aa9847e8g", false},
    {"pvc-96c8f65f02d4d-4156-b0a2-0d2aa9847e8e", false},
    {"pvc-96c8f65f-2d4d-4156-b0a2-0d2aa9847e8e-a", false},
};

static void test_made_for_a_volume(void **state)
{
    static const struct parameter older[] = {BY};
    static const struct parameter own[] = {BY, OF_DRIVER(DRIVER), OF_CLUSTER(CLUSTER)};
    static const struct parameter others[] = {BY, OF_DRIVER(DRIVER), OF_CLUSTER(OTHER)};
    const struct disk_mark of_older = mark_of(older, 1), of_us = mark_of(own, 3);
    const struct disk_mark of_others = mark_of(others, 3), none = {0};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        assert_true(disk_is_for_volume(&of_us, &us, names[i].name, NULL));
        assert_false(disk_is_for_volume(&of_others, &us, names[i].name, NULL));
        assert_false(disk_is_for_volume(&none, &us, names[i].name, NULL));
        if (disk_is_for_volume(&of_older, &us, names[i].name, NULL) != names[i].is_unique)
            fail_msg("\"%s\"", names[i].name);
    }
}

static void test_made_for_a_persistent_volume(void **state)
{
    static const struct parameter of_pv[] = {
        BY, OF_DRIVER(DRIVER), OF_CLUSTER(CLUSTER), {"Kubernetes.io-created-for-PV-name", "pv-1"}};
    static const struct parameter older[] = {BY, {TAG_PV_NAME, "pv-1"}};
    static const char unique[] = "pvc-96c8f65f-2d4d-4156-b0a2-0d2aa9847e8e";
    const struct disk_mark named = mark_of(of_pv, 4), unnamed = mark_of(of_pv, 3);
    const struct disk_mark of_older = mark_of(older, 2);

    (void)state;
    assert_true(disk_is_for_volume(&named, &us, "fixed", "pv-1"));
    assert_false(disk_is_for_volume(&named, &us, "fixed", "pv-2"));
    assert_false(disk_is_for_volume(&named, &us, unique, "pv-2"));
    assert_false(disk_is_for_volume(&unnamed, &us, "fixed", "pv-1"));
    assert_true(disk_is_for_volume(&named, &us, "fixed", NULL));
    assert_false(disk_is_for_volume(&of_older, &us, "fixed", "pv-1"));
    assert_false(disk_is_for_volume(&of_older, &us, unique, "pv-2"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whose_it_is),
        cmocka_unit_test(test_what_is_written_is_read),
        cmocka_unit_test(test_a_cluster_that_is_not_known),
        cmocka_unit_test(test_made_for_a_volume),
        cmocka_unit_test(test_made_for_a_persistent_volume),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
