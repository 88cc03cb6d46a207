/* Which VMs are kept in memory. */
#include "provisioner-lib/azure/vm_cache.h"
#include "provisioner-lib/azure/vm_queue.h"

#include "provisioner-lib/azure/vm.h"
#include "test/unit/provisioner-lib/azure/scripted_arm.h"

#define POOL RESOURCES "virtualMachineScaleSets/pool/virtualMachines/"
#define DISK RESOURCES "disks/d"
#define SETTLED "{\"location\": \"l\", \"properties\": {\"provisioningState\": \"Succeeded\"}}"
#define GONE "{\"error\": {\"code\": \"ResourceNotFound\", \"message\": \"m\"}}"

enum { HOUR_MS = 3600 * 1000, GENERATIONS = 100, VMS = 50 };

struct scene {
    struct scripted_arm *scripted;
    struct skus *skus;
    struct vm_cache *cache;
};

enum { LINE_OF_VMS = 3 };

static void open_scene(struct scene *scene)
{
    static const struct line script[] = {
        {"/metadata/endpoints",
         0,
         200,
         {NULL},
         "[{\"authentication\": {\"loginEndpoint\": \"https://login\", \"audiences\": [\"a\"]}}]"},
        {"/skus", 0, 200, {NULL}, "{\"value\": []}"},
        {"/attachDetachDataDisks", 0, 404, {NULL}, GONE},
        [LINE_OF_VMS] = {"/virtualMachines/", 0, 200, {NULL}, SETTLED},
        {0}};

    scene->scripted = scripted_arm_new("", script);
    scene->skus = skus_new(&scene->scripted->group, scene->scripted->arm, NULL);
    scene->cache = vm_cache_new(&scene->scripted->group, scene->scripted->arm, scene->skus);
}

static void close_scene(struct scene *scene)
{
    vm_cache_free(scene->cache);
    skus_free(scene->skus);
    scripted_arm_free(scene->scripted);
}

static size_t kept(const struct scene *scene)
{
    return HASH_COUNT(scene->cache->vms);
}

static void set_gone(struct scene *scene, bool gone)
{
    scene->scripted->script[LINE_OF_VMS].status = gone ? 404 : 200;
    scene->scripted->script[LINE_OF_VMS].body = gone ? GONE : SETTLED;
}

/* Somebody who asks for a VM, or for a change of it. */
struct asker {
    struct scene *scene;
    char id[160];
    bool detaches, ended;
    struct err *err;
};

static void ask(struct task *self, void *arg)
{
    struct asker *asker = arg;
    struct vm_cache *cache = asker->scene->cache;
    CLEANUP(cloud_instance_fini) struct cloud_instance model = {0};

    asker->err = asker->detaches
                     ? vm_change(self, cache, asker->id,
                                 &(struct vm_change){.kind = VM_DETACH, .disk_id = DISK})
                     : vm_get(self, cache, asker->id, 0, CLOUD_AUDIT, &model);
    asker->ended = true;
}

static void begin(struct scene *scene, struct asker *asker, int instance)
{
    asker->scene = scene;
    snprintf(asker->id, sizeof asker->id, POOL "%d", instance);
    loop_spawn(scene->scripted->loop, "asker", ask, asker);
}

static void look(struct scene *scene, int instance, bool gone)
{
    struct asker asker = {0};

    begin(scene, &asker, instance);
    loop_advance(scene->scripted->loop, 1000);
    assert_true(asker.ended);
    if (!gone)
        assert_ok(asker.err);
    else
        assert_int_equal(err_kind(asker.err), ERR_NOT_FOUND);
    err_free(asker.err);
}

static void test_generations_of_instances(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene);
    for (int i = 0; i < GENERATIONS; i++) {
        set_gone(&scene, false);
        look(&scene, i, false);
        assert_int_equal(kept(&scene), 1);
        set_gone(&scene, true);
        look(&scene, i, true);
        assert_int_equal(kept(&scene), 0);
    }
    close_scene(&scene);
}

static void test_what_is_waited_for_is_kept(void **state)
{
    struct scene scene;
    struct asker change = {.detaches = true};

    (void)state;
    open_scene(&scene);
    look(&scene, 1, false);
    vm_announce(scene.cache, POOL "1", true);
    set_gone(&scene, true);
    look(&scene, 1, true);
    assert_int_equal(kept(&scene), 1); /* more is on its way */
    vm_announce(scene.cache, POOL "1", false);
    assert_int_equal(kept(&scene), 0);

    begin(&scene, &change, 1);
    loop_advance(scene.scripted->loop, 50); /* it is under way */
    look(&scene, 1, true);
    assert_true(change.ended);
    assert_int_equal(err_kind(change.err), ERR_NOT_FOUND);
    err_free(change.err);
    assert_int_equal(kept(&scene), 0);
    close_scene(&scene);
}

static void test_what_nobody_asks_for_is_forgotten_in_time(void **state)
{
    struct scene scene;

    (void)state;
    open_scene(&scene);
    for (int i = 0; i < VMS; i++)
        look(&scene, i, false);
    assert_int_equal(kept(&scene), VMS);
    vm_announce(scene.cache, POOL "1", true);
    loop_advance(scene.scripted->loop, HOUR_MS);
    look(&scene, VMS, false);
    assert_int_equal(kept(&scene), 2);
    vm_announce(scene.cache, POOL "1", false);
    loop_advance(scene.scripted->loop, HOUR_MS);
    look(&scene, VMS, false);
    assert_int_equal(kept(&scene), 1);
    close_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generations_of_instances),
        cmocka_unit_test(test_what_is_waited_for_is_kept),
        cmocka_unit_test(test_what_nobody_asks_for_is_forgotten_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
