/* Which PersistentVolume an AzVolume is of, and what it says of it. */
#include "controller/volume/persistent_volume.h"

#include "provisioner-lib/records/names.h"
#include "test/unit/controller/controller_of.h"

#define CLAIM(name) "'claimRef':{'namespace':'shop','name':'" name "'},"
#define NOTED_PV(name, uid, notes, claim, disk)                                                    \
    "{'metadata':{'name':'" name "','uid':'" uid "'" notes "},'spec':{" claim                      \
    "'csi':{'driver':'" DRIVER "','volumeHandle':'" GROUP_DISKS disk "'}},"                        \
    "'status':{'phase':'Bound'}}"
#define SOME_PV(name, uid, claim, disk) NOTED_PV(name, uid, "", claim, disk)
#define ACCEPTS(uuid) "'" ANNOTATION_ACCEPT_FILESYSTEM "':" uuid
#define ACCEPTING(uuid) ",'annotations':{" ACCEPTS(uuid) "}"
#define LABELS(pv, claim)                                                                          \
    "'labels':{'" LABEL_PV "':'" pv "','" LABEL_PVC "':'" claim "',"                               \
    "'" LABEL_PVC_NAMESPACE "':'shop'}"
#define ADOPTED(uid, labels, pv)                                                                   \
    "{'metadata':{'name':'v','annotations':{'" ANNOTATION_PRE_PROVISIONED "':'" GROUP_DISKS        \
    "v'" uid "}," labels "},'spec':{'volumeName':'v','persistentVolume':'" pv "'}}"
#define UID ",'" ANNOTATION_PV_UID "':'u'"
#define MADE(labels, pv)                                                                           \
    "{'metadata':{'name':'v'," labels "},'spec':{'volumeName':'v','persistentVolume':'" pv "'}}"

/* clang-format off */
static const struct {
    const char *what, *volume, *pvs, *volume_attachments;
    enum volume_pv expected;
} rows[] = {
    {"all as it is", ADOPTED(UID, LABELS("p", "c"), "p"), SOME_PV("p", "u", CLAIM("c"), "v"), "",
     VOLUME_PV_UNCHANGED},
    {"by an earlier version", ADOPTED("", LABELS("p", "c"), "p"), SOME_PV("p", "u", CLAIM("c"), "v"),
     "", VOLUME_PV_CHANGED},
    {"another claim", ADOPTED(UID, LABELS("p", "c"), "p"), SOME_PV("p", "u", CLAIM("d"), "v"), "",
     VOLUME_PV_CHANGED},
    {"none any more", ADOPTED(UID, LABELS("p", "c"), "p"), SOME_PV("p", "u", "", "v"), "",
     VOLUME_PV_CHANGED},
    {"made again under its name", ADOPTED(UID, LABELS("p", "c"), "p"),
     SOME_PV("p", "u2", CLAIM("c"), "v"), "", VOLUME_PV_REPLACED},
    {"for another disk", ADOPTED(UID, LABELS("p", "c"), "p"), SOME_PV("p", "u2", CLAIM("c"), "w"), "",
     VOLUME_PV_MISSING},
    {"another one has its disk", ADOPTED(UID, LABELS("p", "c"), "p"),
     SOME_PV("q", "u2", CLAIM("c"), "v"), "", VOLUME_PV_REPLACED},
    {"gone", ADOPTED(UID, LABELS("p", "c"), "p"), "", "", VOLUME_PV_MISSING},
    {"gone, and an earlier version's", ADOPTED("", LABELS("p", "c"), "p"), "", "", VOLUME_PV_MISSING},
    {"gone by force, and still published", ADOPTED(UID, LABELS("p", "c"), "p"), "",
     VOLUME_ATTACHMENT("1", "p", "a", "true"), VOLUME_PV_UNCHANGED},
    {"never had one", ADOPTED("", "'labels':{}", ""), "", "", VOLUME_PV_UNCHANGED},
    {"made by the driver", MADE(LABELS("p", "c"), "p"), SOME_PV("p", "u", CLAIM("c"), "v"), "",
     VOLUME_PV_UNCHANGED},
    {"bound again, to another claim", MADE(LABELS("p", "c"), "p"),
     SOME_PV("p", "u", CLAIM("d"), "v"), "", VOLUME_PV_CHANGED},
    {"accepts a file system", MADE(LABELS("p", "c"), "p"),
     NOTED_PV("p", "u", ACCEPTING("'x'"), CLAIM("c"), "v"), "", VOLUME_PV_CHANGED},
    {"accepts one as before", ADOPTED(UID "," ACCEPTS("'x'"), LABELS("p", "c"), "p"),
     NOTED_PV("p", "u", ACCEPTING("'x'"), CLAIM("c"), "v"), "", VOLUME_PV_UNCHANGED},
    {"accepts another", ADOPTED(UID "," ACCEPTS("'x'"), LABELS("p", "c"), "p"),
     NOTED_PV("p", "u", ACCEPTING("'y'"), CLAIM("c"), "v"), "", VOLUME_PV_CHANGED},
    {"accepts none any more", ADOPTED(UID "," ACCEPTS("'x'"), LABELS("p", "c"), "p"),
     SOME_PV("p", "u", CLAIM("c"), "v"), "", VOLUME_PV_CHANGED},
    {"made by the driver: it does not end so", MADE(LABELS("p", "c"), "p"), "", "",
     VOLUME_PV_UNCHANGED},
};
/* clang-format on */

static json_t *cluster_of(const char *volume, const char *pvs, const char *volume_attachments)
{
    CLEANUP(freep)
    char *text = mem_printf("{'volumes':[%s],'pvs':[%s],'volume_attachments':[%s]}", volume, pvs,
                            volume_attachments);

    return json_of(text);
}

static void test_look(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_decrefp)
        json_t *json = cluster_of(rows[i].volume, rows[i].pvs, rows[i].volume_attachments);
        CLEANUP(view_free) struct cluster_view view = view_of(json);
        CLEANUP(controller_fini) struct controller controller = controller_of(&view);
        enum volume_pv is = volume_pv_compare(&controller, view.volumes.items[0]);

        if (is != rows[i].expected)
            fail_msg("%s: %d", rows[i].what, is);
    }
}

static void assert_change(const char *volume, const char *pv, const char *expected)
{
    CLEANUP(json_decrefp) json_t *json = cluster_of(volume, pv, "");
    CLEANUP(view_free) struct cluster_view view = view_of(json);
    CLEANUP(controller_fini) struct controller controller = controller_of(&view);
    CLEANUP(json_decrefp)
    json_t *change = volume_pv_change_json(&controller, view.volumes.items[0]);
    CLEANUP(json_decrefp) json_t *wanted = json_of(expected);

    if (!json_equal(change, wanted)) {
        CLEANUP(freep) char *text = json_dumps(change, JSON_SORT_KEYS);
        fail_msg("%s", text);
    }
}

static void test_change(void **state)
{
    (void)state;
    assert_change(ADOPTED("", "'labels':{}", ""), SOME_PV("p", "u", CLAIM("c"), "v"),
                  "{'metadata':{" LABELS("p", "c") ",'annotations':{'" ANNOTATION_PV_UID "':'u'}},"
                                                   "'spec':{'persistentVolume':'p'}}");
    assert_change(MADE(LABELS("p", "c"), "p"), SOME_PV("p", "u", "", "v"),
                  "{'metadata':{'labels':{'" LABEL_PV "':'p','" LABEL_PVC "':null,"
                  "'" LABEL_PVC_NAMESPACE "':null},'annotations':{}},"
                  "'spec':{'persistentVolume':'p'}}");
    assert_change(
        MADE(LABELS("p", "c"), "p"), NOTED_PV("p", "u", ACCEPTING("'x'"), CLAIM("c"), "v"),
        "{'metadata':{" LABELS("p", "c") ACCEPTING("'x'") "},"
                                                          "'spec':{'persistentVolume':'p'}}");
    assert_change(
        ADOPTED(UID "," ACCEPTS("'x'"), LABELS("p", "c"), "p"), SOME_PV("p", "u", CLAIM("c"), "v"),
        "{'metadata':{" LABELS("p", "c") ",'annotations':{'" ANNOTATION_PV_UID "':'u'," ACCEPTS(
            "null") "}},"
                    "'spec':{'persistentVolume':'p'}}");
}

#define TEN "0123456789"
#define LONG TEN TEN TEN TEN TEN TEN "123"

static void test_labels_that_fit(void **state)
{
    CLEANUP(json_decrefp) json_t *json = volume_pv_labels_json(LONG, LONG "4", NULL);

    (void)state;
    assert_int_equal(json_object_size(json), 1);
    assert_string_equal(json_string_value(json_object_get(json, LABEL_PV)), LONG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_look),
        cmocka_unit_test(test_change),
        cmocka_unit_test(test_labels_that_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
