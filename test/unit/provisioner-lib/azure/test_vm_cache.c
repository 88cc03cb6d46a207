/* Which VMs are kept in memory, and when their models count as known. */
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
    const struct vm_change *change; /* NULL: it looks */
    bool ended;
    struct err *err;
};

static void ask(struct task *self, void *arg)
{
    struct asker *asker = arg;
    struct vm_cache *cache = asker->scene->cache;
    CLEANUP(cloud_instance_fini) struct cloud_instance model = {0};

    asker->err = asker->change ? vm_change(self, cache, asker->id, asker->change)
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
    const struct vm_change detach = {.kind = VM_DETACH, .disk_id = DISK};
    struct asker change = {.change = &detach};

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

/* By which model it is decided whether an attach is still wanted. */
struct wish {
    int times;
    bool by_model;
};

static bool is_wanted(void *ctx, const struct cloud_instance *instance)
{
    struct wish *wish = ctx;

    wish->times++;
    wish->by_model = instance;
    return true;
}

static void decide_during_read(struct scene *scene, struct wish *ret)
{
    const struct vm_change attach = {
        .kind = VM_ATTACH, .disk_id = DISK, .precondition = is_wanted, .ctx = ret};
    struct asker change = {.change = &attach}, reader = {0};

    vm_announce(scene->cache, POOL "1", true); /* so that the change waits */
    begin(scene, &change, 1);
    begin(scene, &reader, 1);
    loop_advance(scene->scripted->loop, 50);
    assert_false(reader.ended);
    vm_reconsider(scene->cache, DISK);
    assert_int_equal(ret->times, 1);
    struct wish decided = *ret;
    vm_announce(scene->cache, POOL "1", false);
    loop_advance(scene->scripted->loop, 5000);
    assert_true(reader.ended);
    assert_ok(reader.err);
    assert_true(change.ended);
    err_free(change.err); /* no change succeeds here */
    *ret = decided;
}

/* Until it has been read, nothing is known of the VM, its disks and its places. */
static void test_a_model_is_not_known_while_it_is_read(void **state)
{
    struct scene scene;
    struct wish wish = {0};

    (void)state;
    open_scene(&scene);
    decide_during_read(&scene, &wish);
    assert_false(wish.by_model);
    close_scene(&scene);
}

/* It is no older than it was. */
static void test_a_known_model_is_known_while_it_is_read_anew(void **state)
{
    struct scene scene;
    struct wish wish = {0};

    (void)state;
    open_scene(&scene);
    look(&scene, 1, false);
    decide_during_read(&scene, &wish);
    assert_true(wish.by_model);
    close_scene(&scene);
}

static void test_a_read_that_was_overtaken_is_repeated(void **state)
{
    struct scene scene;
    struct asker reader = {0};

    (void)state;
    open_scene(&scene);
    look(&scene, 1, false);
    size_t before = scene.scripted->n_sent;
    begin(&scene, &reader, 1);
    loop_advance(scene.scripted->loop, 50);
    vm_forget(scene.cache, POOL "1");
    loop_advance(scene.scripted->loop, 1000);
    assert_true(reader.ended);
    assert_ok(reader.err);
    assert_int_equal(scene.scripted->n_sent, before + 2);
    close_scene(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generations_of_instances),
        cmocka_unit_test(test_what_is_waited_for_is_kept),
        cmocka_unit_test(test_what_nobody_asks_for_is_forgotten_in_time),
        cmocka_unit_test(test_a_model_is_not_known_while_it_is_read),
        cmocka_unit_test(test_a_known_model_is_known_while_it_is_read_anew),
        cmocka_unit_test(test_a_read_that_was_overtaken_is_repeated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
