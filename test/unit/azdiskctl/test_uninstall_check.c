/* What keeps the driver from being uninstalled, as a document and as text. */
#include "azdiskctl/uninstall_check.h"

#include "test/unit/azdiskctl/cluster_of.h"

#define OTHERS                                                                                     \
    "{'metadata':{'name':'other'},'spec':{'attacher':'other.example','nodeName':'a','source':{"    \
    "'persistentVolumeName':'pv-1'}}}"
#define OTHERS_PV                                                                                  \
    "{'metadata':{'name':'pv-9'},'spec':{'csi':{'driver':'other.example','volumeHandle':'x'}}}"

static char *text_of_check(const char *cluster_text, bool *ret_found)
{
    CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(cluster_text);
    CLEANUP(json_decrefp) json_t *document = uninstall_check_document(&cluster.view);
    struct buffer out;

    *ret_found = !uninstall_check_is_clean(document);
    buffer_init(&out, 1 << 16);
    uninstall_check_text(document, &out);
    return buffer_take(&out);
}

static void check(const char *cluster_text, bool found, const char *text)
{
    bool is_found;
    CLEANUP(freep) char *said = text_of_check(cluster_text, &is_found);

    assert_string_equal(said, text);
    assert_true(is_found == found);
}

/* With a wrong name, or in a wrong cluster, there is nothing of it. */
static void test_a_driver_without_volumes(void **state)
{
    static const struct {
        const char *cluster, *doubt;
    } rows[] = {
        {"{'volume_attachments':[" OTHERS "],'pvs':[" OTHERS_PV "]}",
         "no volume of driver disk.csi.azure.com in this cluster (see --driver-name and "
         "--context)"},
        {"{'pvs':[" PV("pv-1", "one") "]}", NULL},
        {"{'volume_attachments':[" VOLUME_ATTACHMENT("x", "pv-1", "a", "true") "]}", NULL},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(cluster_of_free) struct cluster cluster = cluster_of(rows[i].cluster);
        CLEANUP(json_decrefp) json_t *document = uninstall_check_document(&cluster.view);
        CLEANUP(freep) char *doubt = uninstall_check_doubt(document);

        assert_string_equal(json_string_value(json_object_get(document, "driverName")),
                            "disk.csi.azure.com");
        if (rows[i].doubt)
            assert_string_equal(doubt, rows[i].doubt);
        else
            assert_null(doubt);
    }
}

/* Also one that is not attached yet, or is being detached: somebody has to end it. */
static void test_what_is_published(void **state)
{
    (void)state;
    check("{'volume_attachments':[" VOLUME_ATTACHMENT(
              "x", "pv-1", "a",
              "true") "," OTHERS
                      "," VOLUME_ATTACHMENT("y", "pv-2", "b", "false") "," INLINE_VOLUME_ATTACHMENT(
                          "z", "d", "c", "true") "],'pvs':[" PV("pv-1", "one") "," OTHERS_PV "]}",
          true,
          "VOLUME                                                                  "
          "CLAIM          NODE\n"
          "pv-1                                                                    "
          "default/claim  a\n"
          "pv-2                                                                    "
          "-              b\n" GROUP_DISKS "d  -              c\n"
          "\n"
          "The driver must not be uninstalled: without it nobody unmounts and detaches these "
          "volumes, and their pods can neither end nor start elsewhere. Delete the pods that use "
          "them, or scale down what makes them, and try again.\n");
}

static void test_what_is_not(void **state)
{
    (void)state;
    check("{'volume_attachments':[" OTHERS "],'pvs':[" OTHERS_PV "]}", false,
          "No volume of driver disk.csi.azure.com is published: it may be uninstalled.\n");
    check("{'pvs':[" PV("pv-1", "one") "]}", false,
          "No volume of driver disk.csi.azure.com is published: it may be uninstalled.\n"
          "1 PersistentVolume of it will be there still, with its disk; pods can use it again "
          "when the driver is installed again.\n");
    check("{'pvs':[" PV("pv-1", "one") "," IN_TREE_PV("pv-2", "two") "]}", false,
          "No volume of driver disk.csi.azure.com is published: it may be uninstalled.\n"
          "2 PersistentVolumes of it will be there still, with their disks; pods can use them "
          "again when the driver is installed again.\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_published),
        cmocka_unit_test(test_what_is_not),
        cmocka_unit_test(test_a_driver_without_volumes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
