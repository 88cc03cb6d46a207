/* What becomes of what kubelet has left mounted: on a real disk, and against an API server that is
 * a few lines here. */
#include "node/left_mount.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>

#include "node/boot_id.h"
#include "node/informers.h"
#include "node/running_job.h"
#include "node/volume_looks.h"
#include "test/unit/object.h"
#include "test/unit/provisioner-lib/host/scene.h"

#define VOLUME "/v"

enum { LUN = 3 };

/* A node with one volume, of which the disk is mounted where kubelet has it staged. */
struct world {
    struct node node;
    struct http_transport transport;
    struct kube_config config;
    struct task_group group;
    struct disk *disk;
    const char *staging;
    const char *role;      /* on record */
    const char *next_role; /* from the next write on; NULL: the same */
    char *job;             /* on record, or NULL */
    unsigned version;
};

/* ---- its API server ---- */

static char *attachment_text(const struct world *world)
{
    const char *job = world->job;

    return mem_printf(
        "{'metadata': {'name': 'a', 'namespace': 'ns', 'uid': 'u', 'resourceVersion': '%u'}, "
        "'spec': {'volume_id': '" VOLUME "', 'role': '%s'}, 'status': {'state': 'Attached', "
        "'detail': {'role': '%s', 'publish_context': {'LUN': '3', 'diskSizeBytes': '1'}}, "
        "'annotation': {%s%s%s}}}",
        world->version, world->role, world->role, job ? "'" ANNOTATION_RUNNING_JOB "': '" : "",
        job ? job : "", job ? "'" : "");
}

static void say(struct world *world)
{
    CLEANUP(kube_object_unrefp)
    struct kube_object *object =
        object_taken(&api__az_volume_attachment__descriptor, attachment_text(world));

    store_put(world->node.attachments, object);
    node_changed(&world->node);
}

/* Only this one note is written here. */
static struct err *exchange(struct http_transport *transport, struct task *self,
                            const struct http_request *request, struct http_response *ret)
{
    struct world *world = CONTAINER_OF(transport, struct world, transport);

    TRY(task_sleep(self, 1));
    json_t *patch = json_loadb(request->body, request->body_length, 0, NULL);
    const json_t *notes = json_object_get(json_object_get(patch, "status"), "annotation");
    free(world->job);
    world->job = mem_strdup(json_string_value(json_object_get(notes, ANNOTATION_RUNNING_JOB)));
    json_decref(patch);
    world->role = world->next_role ? world->next_role : world->role;
    world->version++;
    CLEANUP(freep) char *text = attachment_text(world);
    json_t *answer = json_of(text);
    *ret = (struct http_response){.status = 200, .body = json_dumps(answer, 0)};
    ret->body_length = strlen(ret->body);
    json_decref(answer);
    return NULL;
}

/* ---- the disk ---- */

/* Nothing gets to the disk before it has to. */
static void stage(const struct world *world)
{
    assert_int_equal(mount(world->disk->path, world->staging, "ext4", 0, "commit=600,delalloc"), 0);
}

static bool is_mounted(const struct world *world)
{
    bool mounted;

    assert_ok(mount_table_has(world->disk->number, &mounted));
    return mounted;
}

static bool has_file(const struct world *world)
{
    stage(world);
    bool there = access(below(world->staging, "file"), F_OK) == 0;
    assert_int_equal(umount(world->staging), 0);
    return there;
}

/* ---- the world ---- */

static void world_begin(struct world *world, struct scene *scene)
{
    static unsigned count;
    struct node *node = &world->node;

    *world = (struct world){.role = "Primary", .version = 1};
    world->transport = (struct http_transport){.exchange = exchange};
    world->config.server = mem_strdup("https://api");
    node->loop = scene->loop;
    node->host = scene->host;
    node->settings.namespace_ = "ns";
    node->kube = kube_new(node->loop, &world->transport, &world->config);
    node->looks = volume_looks_new(
        node->loop, &(struct volume_looks_config){.roots = scene->roots, .look = usage_look});
    node->attachments = store_new(&AZ_VOLUME_ATTACHMENTS);
    node->attachments_by_volume = store_add_index(node->attachments, attachment_index_by_disk);
    list_init(&node->replica_disks);
    list_init(&node->left_mounts);
    waiters_init(&node->changed);
    store_begin_list(node->attachments);
    store_end_list(node->attachments, 1);
    say(world);
    world->disk = disk_new(SMALLEST_EXT4);
    world->staging = in_workplace("volume-%u/globalmount", ++count);
    make_folder(world->staging);
    link_lun(scene, LUN, world->disk->path);
    RUN("mkfs.ext4", "-q", world->disk->path);
    stage(world);
    write_below(world->staging, "file", "precious");
    group_init(&world->group, node->loop);
}

static void start(struct world *world)
{
    left_mounts_start(&world->node, &world->group);
    running_job_start(&world->node, &world->group);
}

static void world_end(struct task *self, struct world *world)
{
    struct node *node = &world->node;

    group_close(self, &world->group);
    assert_int_equal(string_set_count(&node->running_jobs.keys), 0);
    if (is_mounted(world))
        assert_int_equal(umount(world->staging), 0);
    disk_free(world->disk);
    volume_looks_free(node->looks);
    store_free(node->attachments);
    kube_free(node->kube);
    kube_config_fini(&world->config);
    free(world->job);
}

#define AWAIT(condition)                                                                           \
    do {                                                                                           \
        while (!(condition))                                                                       \
            assert_ok(task_sleep(self, 1));                                                        \
    } while (0)

/* Time for whoever would do something. */
static void let_look(struct task *self, struct world *world)
{
    for (int i = 0; i < 10; i++) {
        node_changed(&world->node);
        assert_ok(task_sleep(self, 20));
    }
}

static bool is_on_record(const struct world *world)
{
    return world->job && strncmp(world->job, RUNNING_JOB_UNMOUNT, strlen(RUNNING_JOB_UNMOUNT)) == 0;
}

/* ---- what is forgotten ---- */

static void forgotten(struct task *self, struct scene *scene)
{
    struct world world;

    world_begin(&world, scene);
    start(&world);
    let_look(self, &world);
    assert_true(is_mounted(&world));
    left_mounts_kubelet_began(&world.node);
    AWAIT(is_on_record(&world));
    AWAIT(!world.job);
    assert_false(is_mounted(&world));
    assert_true(has_file(&world));
    world_end(self, &world);
}

static void test_what_is_forgotten_is_unmounted(void **state)
{
    play(*state, forgotten);
}

/* A kubelet that could not find out what a pod had only unpublishes it. */
static void unpublished(struct task *self, struct scene *scene)
{
    const char *target = in_workplace("target");
    struct world world;

    world_begin(&world, scene);
    make_folder(target);
    assert_int_equal(mount(world.staging, target, NULL, MS_BIND, NULL), 0);
    start(&world);
    left_mounts_kubelet_began(&world.node);
    let_look(self, &world);
    assert_int_equal(umount(target), 0);
    left_mount_unpublished(&world.node, VOLUME);
    let_look(self, &world);
    assert_true(is_mounted(&world)); /* NodeUnstageVolume may come */
    AWAIT(!is_mounted(&world));
    AWAIT(!world.job);
    world_end(self, &world);
}

static void test_what_was_only_unpublished_is_unmounted(void **state)
{
    play(*state, unpublished);
}

/* ---- calls ---- */

/* One that has not ended when kubelet begins anew, and the mount on record. */
static void call_of_former_kubelet(struct task *self, struct world *world, struct scene *scene)
{
    world_begin(world, scene);
    start(world);
    let_look(self, world);
    assert_ok(in_flight_begin(&world->node.volumes, VOLUME));
    left_mounts_kubelet_began(&world->node);
    AWAIT(is_on_record(world));
}

/* It may write for long, and nobody takes the disk meanwhile. */
static void former_call(struct task *self, struct scene *scene)
{
    struct world world;

    call_of_former_kubelet(self, &world, scene);
    let_look(self, &world);
    assert_true(is_mounted(&world) && is_on_record(&world));
    in_flight_end(&world.node.volumes, VOLUME);
    AWAIT(!world.job);
    assert_false(is_mounted(&world));
    world_end(self, &world);
}

static void test_a_call_of_the_former_kubelet_is_waited_for(void **state)
{
    play(*state, former_call);
}

static void known_meanwhile(struct task *self, struct scene *scene)
{
    struct world world;

    call_of_former_kubelet(self, &world, scene);
    left_mount_called(&world.node, "/V");
    in_flight_end(&world.node.volumes, VOLUME);
    AWAIT(!world.job);
    left_mount_unpublished(&world.node, VOLUME); /* it will have it unstaged, too */
    let_look(self, &world);
    assert_true(is_mounted(&world) && left_mount_is_known(&world.node, VOLUME));
    world_end(self, &world);
}

static void test_what_kubelet_calls_for_stays(void **state)
{
    play(*state, known_meanwhile);
}

static void called_before(struct task *self, struct scene *scene)
{
    struct world world;

    world_begin(&world, scene);
    left_mounts_kubelet_began(&world.node);
    assert_ok(in_flight_begin(&world.node.volumes, VOLUME));
    start(&world);
    let_look(self, &world);
    assert_true(left_mount_is_known(&world.node, VOLUME) && !world.job);
    in_flight_end(&world.node.volumes, VOLUME);
    let_look(self, &world);
    assert_true(is_mounted(&world));
    world_end(self, &world);
}

static void test_what_a_call_waits_for_is_known(void **state)
{
    play(*state, called_before);
}

/* A NodeStageVolume by a kubelet that has begun anew, and has forgotten the volume. */
static void refused_call(struct task *self, struct world *world, struct scene *scene,
                         enum err_kind why)
{
    world_begin(world, scene);
    start(world);
    let_look(self, world);
    assert_ok(in_flight_begin(&world->node.volumes, VOLUME));
    left_mounts_kubelet_began(&world->node);
    left_mount_called(&world->node, VOLUME);
    let_look(self, world);
    left_mount_refused(&world->node, "/V", why);
    in_flight_end(&world->node.volumes, VOLUME);
    let_look(self, world);
    assert_true(is_mounted(world) && !world->job); /* it may be tried again */
}

static void refused_for_good(struct task *self, struct scene *scene)
{
    struct world world;

    refused_call(self, &world, scene, ERR_PRECONDITION);
    assert_false(left_mount_is_known(&world.node, VOLUME));
    AWAIT(!is_mounted(&world));
    AWAIT(!world.job);
    assert_true(has_file(&world));
    world_end(self, &world);
}

static void test_what_kubelet_cannot_stage_is_unmounted(void **state)
{
    play(*state, refused_for_good);
}

static void refused_for_now(struct task *self, struct scene *scene)
{
    struct world world;

    refused_call(self, &world, scene, ERR_TIMEOUT);
    assert_true(left_mount_is_known(&world.node, VOLUME));
    world_end(self, &world);
}

static void test_what_kubelet_is_uncertain_about_stays(void **state)
{
    play(*state, refused_for_now);
}

/* ---- what cannot be taken away ---- */

static void in_use(struct task *self, struct scene *scene)
{
    struct world world;

    world_begin(&world, scene);
    int fd = open(world.staging, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    start(&world);
    left_mounts_kubelet_began(&world.node);
    AWAIT(is_on_record(&world));
    AWAIT(string_set_count(&world.node.running_jobs.keys) == 0);
    let_look(self, &world);
    assert_true(is_mounted(&world) && is_on_record(&world));
    close(fd);
    left_mounts_kubelet_began(&world.node); /* it is tried again at once */
    AWAIT(!world.job);
    assert_false(is_mounted(&world));
    world_end(self, &world);
}

static void test_it_stays_on_record_while_it_cannot_be_unmounted(void **state)
{
    play(*state, in_use);
}

/* A process with mounts of its own, until it is killed. */
static pid_t start_elsewhere(void)
{
    int ends[2];
    char byte;

    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWNS) || write(ends[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    close(ends[1]);
    return child;
}

static void in_use_elsewhere(struct task *self, struct scene *scene)
{
    struct world world;

    world_begin(&world, scene);
    pid_t child = start_elsewhere();
    start(&world);
    left_mounts_kubelet_began(&world.node);
    AWAIT(is_on_record(&world));
    AWAIT(string_set_count(&world.node.running_jobs.keys) == 0);
    let_look(self, &world);
    assert_true(!is_mounted(&world) && is_on_record(&world));
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    AWAIT(!world.job);
    world_end(self, &world);
}

static void test_it_stays_on_record_while_others_have_it_mounted(void **state)
{
    play(*state, in_use_elsewhere);
}

static void put_on_record(struct world *world)
{
    CLEANUP(freep) char *boot_id = NULL;

    assert_ok(boot_id_read(&boot_id));
    world->job = mem_printf(RUNNING_JOB_UNMOUNT " 2026-01-01T00:00:00Z %s", boot_id);
    world->version++;
    say(world);
}

/* By a process that was killed while it did it. */
static void left_on_record(struct task *self, struct scene *scene)
{
    struct world world;

    world_begin(&world, scene);
    put_on_record(&world);
    start(&world);
    let_look(self, &world);
    assert_true(is_on_record(&world));
    left_mount_called(&world.node,
                      VOLUME); /* by a kubelet of which it is not known that it began */
    let_look(self, &world);
    assert_true(is_on_record(&world));
    left_mounts_kubelet_began(&world.node);
    AWAIT(!is_mounted(&world));
    AWAIT(!world.job);
    world_end(self, &world);
}

static void test_what_is_on_record_stays_until_it_is_done(void **state)
{
    play(*state, left_on_record);
}

/* ---- what is another node's by now ---- */

static void given_away(struct task *self, struct scene *scene)
{
    struct world world;

    world_begin(&world, scene);
    world.next_role = "Replica"; /* before the job is on record */
    start(&world);
    left_mounts_kubelet_began(&world.node);
    AWAIT(!is_mounted(&world));
    AWAIT(!world.job);
    assert_false(has_file(&world));
    world_end(self, &world);
}

static void test_what_is_given_away_meanwhile_is_not_written(void **state)
{
    play(*state, given_away);
}

static void given_away_before(struct task *self, struct scene *scene)
{
    struct world world;

    world_begin(&world, scene);
    world.role = "Replica";
    world.version++;
    say(&world);
    start(&world);
    left_mounts_kubelet_began(&world.node);
    AWAIT(!is_mounted(&world));
    AWAIT(string_set_count(&world.node.volumes.keys) == 0); /* the device is let go after that */
    assert_null(world.job);
    assert_false(has_file(&world));
    world_end(self, &world);
}

static void test_what_was_given_away_is_not_written(void **state)
{
    play(*state, given_away_before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SCENE(test_what_is_forgotten_is_unmounted),
        SCENE(test_what_was_only_unpublished_is_unmounted),
        SCENE(test_a_call_of_the_former_kubelet_is_waited_for),
        SCENE(test_what_kubelet_calls_for_stays),
        SCENE(test_what_a_call_waits_for_is_known),
        SCENE(test_what_kubelet_cannot_stage_is_unmounted),
        SCENE(test_what_kubelet_is_uncertain_about_stays),
        SCENE(test_it_stays_on_record_while_it_cannot_be_unmounted),
        SCENE(test_it_stays_on_record_while_others_have_it_mounted),
        SCENE(test_what_is_on_record_stays_until_it_is_done),
        SCENE(test_what_is_given_away_meanwhile_is_not_written),
        SCENE(test_what_was_given_away_is_not_written),
    };

    return cmocka_run_group_tests(tests, workplace_setup, workplace_teardown);
}
