/* Which volumes of another driver could not be mounted any more. */
#include "azdiskctl/upgrade_volumes.h"

#include "test/unit/azdiskctl/cluster_of.h"

#define CSI_PV(name, driver, more)                                                                 \
    "{'metadata':{'name':'" name "'},'spec':{'csi':{'driver':'" driver                             \
    "','volumeHandle':'" GROUP_DISKS name "'" more "}}}"
#define OURS(more) CSI_PV("pv-1", DRIVER, more)
#define ATTRIBUTE(name, value) ",'volumeAttributes':{'" name "':'" value "'}"
#define DEVICE(more)                                                                               \
    "{'metadata':{'name':'pv-1'},'spec':{'volumeMode':'Block','csi':{'driver':'" DRIVER            \
    "','volumeHandle':'" GROUP_DISKS "one'" more "}}}"
#define IN_TREE(type)                                                                              \
    "{'metadata':{'name':'pv-1'},'spec':{'azureDisk':{'diskName':'x','diskURI':'" GROUP_DISKS      \
    "one','fsType':'" type "'}}}"

static json_t *obstacles_of(const char *volumes)
{
    CLEANUP(freep) char *text = mem_printf("{'pvs':[%s]}", volumes);
    CLEANUP(json_decrefp) json_t *cluster = json_of(text);
    CLEANUP(object_list_free)
    struct object_list pvs = object_list_of(cluster, "pvs", &api__persistent_volume__descriptor);
    json_t *obstacles = json_array();

    upgrade_volumes_judge(&pvs, DRIVER, obstacles);
    return obstacles;
}

static const char *member(const json_t *obstacles, size_t i, const char *name)
{
    return json_string_value(json_object_get(json_array_get(obstacles, i), name));
}

static void test_which_file_systems_are_in_the_way(void **state)
{
    static const struct {
        const char *volume;
        bool is_in_the_way;
    } rows[] = {
        {OURS(""), false},
        {OURS(",'fsType':''"), false},
        {OURS(",'fsType':'ext4'"), false},
        {OURS(",'fsType':'XFS'"), false},
        {OURS(",'fsType':'ext3'" ATTRIBUTE("fsType", "ext3")), false},
        {OURS(ATTRIBUTE("skuName", "btrfs")), false},
        {OURS(",'fsType':'btrfs'"), true},
        {OURS(",'fsType':'Btrfs'"), true},
        {OURS(",'fsType':'ntfs'"), true},
        /* Version 1 goes by the attribute. */
        {OURS(ATTRIBUTE("fsType", "btrfs")), true},
        {OURS(",'fsType':'ext4'" ATTRIBUTE("fstype", "btrfs")), true},
        {IN_TREE("ext4"), false},
        {IN_TREE("btrfs"), true},
        {IN_TREE_PV("pv-1", "one"), false},
        {DEVICE(",'fsType':'btrfs'"), false},
        {DEVICE(ATTRIBUTE("fsType", "btrfs")), true},
        {CSI_PV("pv-1", "other.example", ",'fsType':'btrfs'"), false},
        {"{'metadata':{'name':'pv-1'},'spec':{'nfs':{}}}", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_decrefp) json_t *obstacles = obstacles_of(rows[i].volume);

        if (json_array_size(obstacles) != rows[i].is_in_the_way)
            fail_msg("%s", rows[i].volume);
        if (rows[i].is_in_the_way)
            assert_string_equal(member(obstacles, 0, "object"), "PersistentVolume pv-1");
    }
}

#define BTRFS(name) CSI_PV(name, DRIVER, ",'fsType':'btrfs'")
#define TEN                                                                                        \
    BTRFS("a")                                                                                     \
    "," BTRFS("b") "," BTRFS("c") "," BTRFS("d") "," BTRFS("e") "," BTRFS("f") "," BTRFS(          \
        "g") "," BTRFS("h") "," BTRFS("i") "," BTRFS("j")

static void test_the_first_of_many_are_named(void **state)
{
    CLEANUP(json_decrefp) json_t *ten = obstacles_of(TEN);
    CLEANUP(json_decrefp) json_t *twelve = obstacles_of(TEN "," BTRFS("k") "," BTRFS("l"));

    (void)state;
    assert_string_equal(member(ten, 0, "object"), "PersistentVolume a, b, c, d, e, f, g, h, i, j");
    assert_string_equal(member(twelve, 0, "object"),
                        "PersistentVolume a, b, c, d, e, f, g, h, i, j and 2 more");
    assert_int_equal(json_array_size(twelve), 1);
}

static void test_each_file_system_is_an_obstacle_of_its_own(void **state)
{
    CLEANUP(json_decrefp)
    json_t *found =
        obstacles_of(BTRFS("a") "," CSI_PV("b", DRIVER, ",'fsType':'ntfs'") "," BTRFS("c"));

    (void)state;
    assert_int_equal(json_array_size(found), 2);
    assert_string_equal(member(found, 0, "object"), "PersistentVolume a, c");
    assert_string_equal(member(found, 0, "wrong"),
                        "no pod that uses one of them could start anew: parameter fsType: "
                        "\"btrfs\" is not one of ext4, ext3, ext2, xfs");
    assert_string_equal(member(found, 1, "object"), "PersistentVolume b");
    assert_string_equal(member(found, 1, "wrong"),
                        "no pod that uses it could start anew: parameter fsType: \"ntfs\" is not "
                        "one of ext4, ext3, ext2, xfs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_file_systems_are_in_the_way),
        cmocka_unit_test(test_the_first_of_many_are_named),
        cmocka_unit_test(test_each_file_system_is_an_obstacle_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
