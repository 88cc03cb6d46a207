/* Which disk a PersistentVolume is about, and how it is published. */
#include "lib/kube/pv_source.h"

#include "test/unit/object.h"

#define CSI "'csi':{'driver':'disk.example','volumeHandle':'/disks/d'"
#define IN_TREE "'azureDisk':{'diskURI':'/disks/d'"

static const struct {
    const char *spec, *handle, *driver;
    bool read_only;
} rows[] = {
    {"{" CSI "}}", "/disks/d", "disk.example", false},
    {"{" CSI ",'readOnly':false}}", "/disks/d", "disk.example", false},
    {"{" CSI ",'readOnly':true}}", "/disks/d", "disk.example", true},
    {"{" IN_TREE "}}", "/disks/d", "disk.csi.azure.com", false},
    {"{" IN_TREE ",'readOnly':true}}", "/disks/d", "disk.csi.azure.com", true},
    {"{}", NULL, NULL, false},
};

static void test_sources(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep)
        char *text = mem_printf("{'metadata':{'name':'pv'},'spec':%s}", rows[i].spec);
        CLEANUP(kube_object_unrefp)
        struct kube_object *object = object_of(&api__persistent_volume__descriptor, text);
        const Api__PersistentVolumeSpec *spec = KUBE_AS(Api__PersistentVolume, object)->spec;

        assert_int_equal(pv_is_read_only(spec), rows[i].read_only);
        assert_int_equal(pv_is_of_driver(spec, "disk.example"),
                         rows[i].driver && strcmp(rows[i].driver, "disk.example") == 0);
        assert_int_equal(pv_is_of_driver(spec, "disk.csi.azure.com"),
                         rows[i].driver && strcmp(rows[i].driver, "disk.csi.azure.com") == 0);
        if (rows[i].handle)
            assert_string_equal(pv_handle(spec), rows[i].handle);
        else
            assert_null(pv_handle(spec));
    }
    assert_false(pv_is_read_only(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sources)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
