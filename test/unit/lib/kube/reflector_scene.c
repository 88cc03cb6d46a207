#include "test/unit/lib/kube/reflector_scene.h"

#include <inttypes.h>
#include <stdlib.h>

static void record_failure(void *ctx, const struct api_resource *resource, const struct err *err)
{
    struct scene *scene = ctx;
    size_t length = strlen(scene->failures);

    assert_ptr_equal(resource, &NODES);
    scene->n_failures++;
    snprintf(scene->failures + length, sizeof scene->failures - length, "%s\n", err_message(err));
}

static void count_change(void *ctx, struct kube_object *before, struct kube_object *after)
{
    struct scene *scene = ctx;

    (void)before;
    scene->changes++;
    scene->full +=
        after && after->message && (KUBE_AS(Api__Node, after)->spec || after->metadata->uid);
}

static void close_group(struct task *self, void *arg)
{
    group_close(self, arg);
}

static void write_content(struct scene *scene)
{
    size_t length = 0;

    scene->content[0] = '\0';
    STORE_FOREACH(scene->store, object)
        length += (size_t)snprintf(scene->content + length, sizeof scene->content - length,
                                   "%s=%" PRIu64 " ", object->key, object->version);
}

static void catch_up(struct task *self, void *arg)
{
    struct scene *scene = arg;

    assert_ok(reflector_catch_up(
        self, &(struct reflector_config){.kube = scene->kube, .store = scene->store}));
}

void play_with(struct scene *scene, struct reflector_config config, const struct script_step *steps,
               size_t n, uint64_t catch_up_ms, uint64_t ms)
{
    *scene = (struct scene){.loop = loop_new_virtual(1), .store = store_new(&NODES)};
    script_init(&scene->script, scene->loop, steps, n);
    scene->kube = script_client(&scene->script, NULL);
    store_observe(scene->store, count_change, scene);
    group_init(&scene->group, scene->loop);
    config.kube = scene->kube;
    config.store = scene->store;
    config.failed = record_failure;
    config.ctx = scene;
    reflector_start(&scene->group, &config);
    if (catch_up_ms) {
        loop_advance(scene->loop, catch_up_ms);
        group_spawn(&scene->group, "catch up", catch_up, scene);
    }
    loop_advance(scene->loop, ms - catch_up_ms);
    loop_spawn(scene->loop, "close", close_group, &scene->group);
    loop_run(scene->loop);
    write_content(scene);
    if (scene->script.next != n)
        fail_msg("step %zu of %zu was not asked for; failures: %s", scene->script.next, n,
                 scene->failures);
    kube_free(scene->kube);
    store_free(scene->store);
    loop_free(scene->loop);
}

void play(struct scene *scene, const struct script_step *steps, size_t n, uint64_t ms)
{
    play_with(scene, (struct reflector_config){.page_size = 0}, steps, n, 0, ms);
}
