/* Which disks without an AzVolume are deleted, and by which name one is written for a disk. */
#include "controller/volume/adoption.h"

#include "controller/cache/indexes.h"
#include "test/unit/controller/controller_of.h"
#include "test/unit/lib/kube/script.h"

static const struct {
    enum adoption_pv pv;
    enum disk_origin origin;
    bool is_deletable;
} rows[] = {
    {ADOPTION_NO_PV, DISK_UNMARKED, false},
    {ADOPTION_NO_PV, DISK_OF_OLDER_DRIVER, false},
    {ADOPTION_NO_PV, DISK_OF_OTHERS, false},
    {ADOPTION_NO_PV, DISK_OWN, true},
    {ADOPTION_PV_PROVISIONED, DISK_UNMARKED, true}, /* in-tree: its tag is another one */
    {ADOPTION_PV_PROVISIONED, DISK_OF_OLDER_DRIVER, true},
    {ADOPTION_PV_PROVISIONED, DISK_OF_OTHERS, true}, /* moved here, with its PersistentVolume */
    {ADOPTION_PV_PROVISIONED, DISK_OWN, true},
    {ADOPTION_PV_BY_HAND, DISK_UNMARKED, false},
    {ADOPTION_PV_BY_HAND, DISK_OF_OLDER_DRIVER, false},
    {ADOPTION_PV_BY_HAND, DISK_OF_OTHERS, false},
    {ADOPTION_PV_BY_HAND, DISK_OWN, false},
};

static void test_deletable(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (adoption_is_deletable(rows[i].pv, rows[i].origin) != rows[i].is_deletable)
            fail_msg("row %zu", i);
}

/* ---- what the PersistentVolume says ---- */

#define ELSEWHERE "/subscriptions/s/resourceGroups/other/providers/Microsoft.Compute/disks/"
#define CSI_OF(driver, handle) "'csi':{'driver':'" driver "','volumeHandle':'" handle "'}"
#define IN_TREE_OF(handle) "'azureDisk':{'diskName':'v','diskURI':'" handle "'}"
#define PV_OF(name, by, source)                                                                    \
    "{'metadata':{'name':'" name "','annotations':{'pv.kubernetes.io/provisioned-by':'" by         \
    "'}},'spec':{" source "}}"

static const struct {
    const char *what, *pvs;
    enum adoption_pv says;
} said[] = {
    {"none", "", ADOPTION_NO_PV},
    {"provisioned", PV_OF("p", DRIVER, CSI_OF(DRIVER, GROUP_DISKS "V")), ADOPTION_PV_PROVISIONED},
    {"by hand", PV_OF("p", "", CSI_OF(DRIVER, GROUP_DISKS "v")), ADOPTION_PV_BY_HAND},
    {"another provisioner's", PV_OF("p", "x", CSI_OF(DRIVER, GROUP_DISKS "v")),
     ADOPTION_PV_BY_HAND},
    {"another driver's", PV_OF("p", DRIVER, CSI_OF("x", GROUP_DISKS "v")), ADOPTION_NO_PV},
    {"in-tree", PV_OF("p", "kubernetes.io/azure-disk", IN_TREE_OF(GROUP_DISKS "v")),
     ADOPTION_PV_PROVISIONED},
    {"in-tree by hand", PV_OF("p", "", IN_TREE_OF(GROUP_DISKS "v")), ADOPTION_PV_BY_HAND},
    {"in-tree's word for a CSI volume",
     PV_OF("p", "kubernetes.io/azure-disk", CSI_OF(DRIVER, GROUP_DISKS "v")), ADOPTION_PV_BY_HAND},
    {"of a disk of that name elsewhere", PV_OF("p", DRIVER, CSI_OF(DRIVER, ELSEWHERE "v")),
     ADOPTION_NO_PV},
    {"of both",
     PV_OF("p", DRIVER, CSI_OF(DRIVER, ELSEWHERE "v")) "," PV_OF("q", "",
                                                                 CSI_OF(DRIVER, GROUP_DISKS "v")),
     ADOPTION_PV_BY_HAND},
};

static void test_pv(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(said); i++) {
        CLEANUP(freep) char *text = mem_printf("{'pvs':[%s]}", said[i].pvs);
        CLEANUP(json_decrefp) json_t *json = json_of(text);
        CLEANUP(view_free) struct cluster_view view = view_of(json);
        struct controller controller = {
            .settings = {.driver_name = DRIVER},
            .volumes = store_new(&AZ_VOLUMES),
            .attachments = store_new(&AZ_VOLUME_ATTACHMENTS),
            .snapshots = store_new(&AZ_SNAPSHOTS),
            .pods = store_new(&PODS),
            .persistent_volumes = store_new(&PERSISTENT_VOLUMES),
            .volume_attachments = store_new(&VOLUME_ATTACHMENTS),
        };

        indexes_add(&controller);
        for (size_t k = 0; k < view.persistent_volumes.n; k++)
            store_put(controller.persistent_volumes, view.persistent_volumes.items[k]);
        enum adoption_pv says = adoption_pv_of(&controller, GROUP_DISKS "v");
        if (says != said[i].says)
            fail_msg("%s: %d", said[i].what, (int)says);
        store_free(controller.volumes);
        store_free(controller.attachments);
        store_free(controller.snapshots);
        store_free(controller.pods);
        store_free(controller.persistent_volumes);
        store_free(controller.volume_attachments);
    }
}

/* ---- by which name ---- */

#define VOLUMES "/apis/disk.csi.azure.com/v1beta2/namespaces/d/azvolumes"
#define HASHED "v.99f301d2dc4c0b56"
#define NONE "{'kind':'Status','reason':'NotFound','message':'none','details':{'name':'v'}}"
#define OF_DISK(name, disk)                                                                        \
    "{'metadata':{'namespace':'d','name':'" name "','uid':'u','resourceVersion':'1','annotations'" \
    ":{'disk.csi.azure.com/pre-provisioned':'" disk "'}}}"
#define WRITTEN(name)                                                                              \
    SCRIPT_ANSWER("POST " VOLUMES " *'name':'" name "'*", 201, OF_DISK(name, GROUP_DISKS "v")),    \
        SCRIPT_ANSWER("PATCH " VOLUMES "/" name "/status *", 200, OF_DISK(name, GROUP_DISKS "v"))

struct writer {
    const char *disk_id;
    struct controller *controller;
    struct kube *kube;
    struct err *err;
    char *name; /* of what was written */
};

static void write_main(struct task *self, void *arg)
{
    struct writer *writer = arg;
    const struct adoption adoption = {
        .volume_id = writer->disk_id, .mounted = true, .access_mode = 1};
    CLEANUP(kube_object_unrefp) struct kube_object *written = NULL;

    writer->err = adoption_write(self, writer->controller, writer->kube, &adoption, &written);
    writer->name = written ? mem_strdup(written->metadata->name) : NULL;
}

/* So many write at a time, each of whom spells the disk's id in a way of his own. The first one
 * writes by that name or, without a name, fails in that way; all others are to look again. */
static void play(const struct script_step *steps, size_t n, size_t n_writers, const char *name,
                 enum err_kind failure)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);
    CLEANUP(json_decrefp) json_t *nothing = json_object();
    CLEANUP(view_free) struct cluster_view view = view_of(nothing);
    struct controller controller = controller_of(&view);
    struct writer writers[2] = {0};
    struct script script;

    controller.settings.namespace_ = "d";
    waiters_init(&controller.adoptions.ended);
    script_init(&script, loop, steps, n);
    struct kube *kube = script_client(&script, NULL);
    for (size_t i = 0; i < n_writers; i++) {
        writers[i] = (struct writer){
            .disk_id = i == 0 ? GROUP_DISKS "v" : GROUP_DISKS "V",
            .controller = &controller,
            .kube = kube,
        };
        loop_spawn(loop, "writer", write_main, &writers[i]);
    }
    loop_run(loop);
    assert_int_equal(script.next, n);
    for (size_t i = 0; i < n_writers; i++) {
        if (i == 0 && name) {
            assert_ok(TAKE_PTR(writers[i].err));
            assert_string_equal(writers[i].name, name);
        } else {
            assert_non_null(writers[i].err);
            assert_int_equal(err_kind(writers[i].err), i == 0 ? failure : ERR_EXISTS);
        }
        err_free(writers[i].err);
        free(writers[i].name);
    }
    kube_free(kube);
    controller_fini(&controller);
}

static void test_name(void **state)
{
    static const struct script_step is_free[] = {
        SCRIPT_ANSWER("GET " VOLUMES "/v", 404, NONE),
        SCRIPT_ANSWER("GET " VOLUMES "/" HASHED, 404, NONE),
        WRITTEN("v"),
    };
    static const struct script_step is_of_another[] = {
        SCRIPT_ANSWER("GET " VOLUMES "/v", 200, OF_DISK("v", ELSEWHERE "v")),
        SCRIPT_ANSWER("GET " VOLUMES "/" HASHED, 404, NONE),
        WRITTEN(HASHED),
    };

    (void)state;
    play(is_free, COUNT_OF(is_free), 1, "v", 0);
    play(is_of_another, COUNT_OF(is_of_another), 1, HASHED, 0);
}

/* Which no watch has told yet. */
static void test_has_one(void **state)
{
    static const struct script_step by_hash[] = {
        SCRIPT_ANSWER("GET " VOLUMES "/v", 404, NONE),
        SCRIPT_ANSWER("GET " VOLUMES "/" HASHED, 200, OF_DISK(HASHED, GROUP_DISKS "v")),
    };
    static const struct script_step plain[] = {
        SCRIPT_ANSWER("GET " VOLUMES "/v", 200, OF_DISK("v", GROUP_DISKS "v")),
        SCRIPT_ANSWER("GET " VOLUMES "/" HASHED, 404, NONE),
    };

    (void)state;
    play(by_hash, COUNT_OF(by_hash), 1, NULL, ERR_EXISTS);
    play(plain, COUNT_OF(plain), 1, NULL, ERR_EXISTS);
}

static void test_two_at_a_time(void **state)
{
    static const struct script_step written[] = {
        SCRIPT_ANSWER("GET " VOLUMES "/v", 404, NONE),
        SCRIPT_ANSWER("GET " VOLUMES "/" HASHED, 404, NONE),
        WRITTEN("v"),
    };
    static const struct script_step refused[] = {
        SCRIPT_ANSWER("GET " VOLUMES "/v", 404, NONE),
        SCRIPT_ANSWER("GET " VOLUMES "/" HASHED, 404, NONE),
        SCRIPT_ANSWER("POST " VOLUMES " *", 403,
                      "{'kind':'Status','reason':'Forbidden','message':'no'}"),
    };

    (void)state;
    play(written, COUNT_OF(written), 2, "v", 0);
    play(refused, COUNT_OF(refused), 2, NULL, ERR_DENIED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deletable),     cmocka_unit_test(test_pv),
        cmocka_unit_test(test_name),          cmocka_unit_test(test_has_one),
        cmocka_unit_test(test_two_at_a_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
