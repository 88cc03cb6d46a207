/* What the node puts on record of programs that write to disks, and when it goes: against an API
 * server that is a few lines here, and with a program that really runs. */
#include "node/running_job.h"

#include <stdlib.h>
#include <sys/prctl.h>

#include "lib/base/file.h"
#include "lib/json/parse.h"
#include "node/informers.h"
#include "test/unit/object.h"

#define PROGRAM "azdk-left" /* that is no other test's */
#define NAME "volume-node-attachment"

static const uint64_t LONG = 60 * 1000; /* milliseconds; nothing here is to take so long */

/* A node, and what its API server has been asked. */
struct world {
    struct node node;
    struct http_transport transport;
    struct kube_config config;
    json_t *patches;
    bool away; /* the API server */
    void (*play)(struct task *self, struct world *world);
    bool played;
};

static char *attachment_text(const char *uid, unsigned version, const char *job)
{
    return mem_printf("{\"metadata\": {\"name\": \"" NAME "\", \"namespace\": \"ns\", \"uid\": "
                      "\"%s\", \"resourceVersion\": \"%u\"}, \"spec\": {\"volume_id\": \"/v\"}, "
                      "\"status\": {\"annotation\": {%s%s%s}}}",
                      uid, version, job ? "\"" ANNOTATION_RUNNING_JOB "\": \"" : "", job ? job : "",
                      job ? "\"" : "");
}

/* Whatever is written is answered with an attachment that has no program on record. */
static struct err *exchange(struct http_transport *transport, struct task *self,
                            const struct http_request *request, struct http_response *ret)
{
    struct world *world = CONTAINER_OF(transport, struct world, transport);

    TRY(task_sleep(self, 1));
    json_array_append_new(world->patches, json_loadb(request->body, request->body_length, 0, NULL));
    if (world->away)
        return err_new(ERR_UNAVAILABLE, "connection reset");
    *ret = (struct http_response){.status = 200, .body = attachment_text("u1", 900, NULL)};
    ret->body_length = strlen(ret->body);
    return NULL;
}

static struct kube_object *put(struct world *world, const char *uid, unsigned version,
                               const char *job)
{
    struct kube_object *object =
        object_taken(&api__az_volume_attachment__descriptor, attachment_text(uid, version, job));

    store_put(world->node.attachments, object);
    return object;
}

static const json_t *member(const json_t *json, const char *first, const char *second)
{
    return json_object_get(json_object_get(json, first), second);
}

/* The last patch is of this object, at any version or at this one, and says this of the program:
 * NULL, nothing any more. */
static void expect_patch(const struct world *world, size_t n, const char *uid, const char *version,
                         const char *program)
{
    const json_t *patch = json_array_get(world->patches, n - 1);
    const char *has_version = json_string_value(member(patch, "metadata", "resourceVersion"));
    const json_t *job =
        json_object_get(member(patch, "status", "annotation"), ANNOTATION_RUNNING_JOB);

    assert_int_equal(json_array_size(world->patches), n);
    assert_string_equal(json_string_value(member(patch, "metadata", "uid")), uid);
    assert_string_equal(has_version ? has_version : "any", version);
    if (program)
        assert_int_equal(strncmp(json_string_value(job), program, strlen(program)), 0);
    else
        assert_true(json_is_null(job));
}

static char *boot_id(void)
{
    char *text;

    assert_ok(file_read("/proc/sys/kernel/random/boot_id", 64, &text, NULL));
    text[strcspn(text, "\n")] = '\0';
    return text;
}

/* ---- the worlds ---- */

static void world_main(struct task *self, void *arg)
{
    struct world *world = arg;

    world->play(self, world);
    host_stop(world->node.host, loop_now(world->node.loop) + LONG);
    host_close(self, world->node.host);
    world->played = true;
}

static void play(void (*fn)(struct task *self, struct world *world))
{
    struct world *world = mem_alloc(sizeof *world);
    struct node *node = &world->node;

    world->play = fn;
    world->transport = (struct http_transport){.exchange = exchange};
    world->config.server = mem_strdup("https://api");
    world->patches = json_array();
    node->loop = loop_new();
    node->settings.namespace_ = "ns";
    node->kube = kube_new(node->loop, &world->transport, &world->config);
    node->host = host_new(node->loop, &(struct host_config){.roots = {"/none", "/none"}});
    node->attachments = store_new(&AZ_VOLUME_ATTACHMENTS);
    node->attachments_by_volume = store_add_index(node->attachments, attachment_index_by_disk);
    list_init(&node->left_mounts);
    waiters_init(&node->changed);
    loop_spawn(node->loop, "world", world_main, world);
    loop_run(node->loop);
    assert_true(world->played);
    assert_int_equal(string_set_count(&node->running_jobs.keys), 0);
    store_free(node->attachments);
    kube_free(node->kube);
    loop_free(node->loop);
    kube_config_fini(&world->config);
    json_decref(world->patches);
    free(world);
}

/* ---- a program of this process ---- */

static void on_record(struct task *self, struct world *world)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = put(world, "u1", 7, NULL);
    struct node *node = &world->node;

    assert_ok(running_job_begin(self, node, object, "mkfs.ext4"));
    expect_patch(world, 1, "u1", "any", "mkfs.ext4 ");
    assert_fails(running_job_begin(self, node, object, "e2fsck"), ERR_BUSY,
                 "an operation for u1 is already in progress");
    running_job_end(self, node, object);
    expect_patch(world, 2, "u1", "any", NULL);
    assert_ok(running_job_begin(self, node, object, "e2fsck"));
    expect_patch(world, 3, "u1", "any", "e2fsck ");
    running_job_leave(node, object); /* without a word */
    assert_int_equal(json_array_size(world->patches), 3);
}

static void test_on_record(void **state)
{
    (void)state;
    play(on_record);
}

/* It may have been noted all the same, so whoever clears away has to be free to look at it. */
static void not_on_record(struct task *self, struct world *world)
{
    CLEANUP(kube_object_unrefp) struct kube_object *object = put(world, "u1", 7, NULL);

    world->away = true;
    struct err *err = running_job_begin(self, &world->node, object, "mkfs.ext4");
    assert_non_null(err);
    assert_non_null(strstr(err_message(err), "recording that mkfs.ext4 is running: "));
    err_free(err);
    world->away = false;
    assert_ok(running_job_begin(self, &world->node, object, "mkfs.ext4"));
    running_job_end(self, &world->node, object);
}

static void test_what_cannot_be_noted_does_not_begin(void **state)
{
    (void)state;
    play(not_on_record);
}

/* ---- what was left behind ---- */

static void await_patches(struct task *self, const struct world *world, size_t n)
{
    uint64_t deadline = loop_now(world->node.loop) + LONG;

    while (json_array_size(world->patches) < n && loop_now(world->node.loop) < deadline)
        assert_ok(task_sleep(self, 1));
}

/* So many looks at what is on record. */
static void let_look(struct task *self, struct world *world, int times)
{
    for (int i = 0; i < times; i++) {
        node_changed(&world->node);
        assert_ok(task_sleep(self, 20));
    }
}

/* A process of that name, until it is killed. */
static pid_t start_program(void)
{
    int ends[2];
    char byte;

    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        prctl(PR_SET_NAME, PROGRAM);
        (void)!write(ends[1], "x", 1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    close(ends[1]);
    return child;
}

static void end_program(pid_t child)
{
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

/* As long as the program of the former process runs, it may write. */
static void left_behind(struct task *self, struct world *world)
{
    CLEANUP(freep) char *boot = boot_id();
    CLEANUP(freep) char *job = mem_printf(PROGRAM " 2026-01-01T00:00:00Z %s", boot);
    CLEANUP(kube_object_unrefp) struct kube_object *object = put(world, "u1", 7, job);
    struct task_group group;
    pid_t child = start_program();

    group_init(&group, world->node.loop);
    running_job_start(&world->node, &group);
    let_look(self, world, 5);
    assert_int_equal(json_array_size(world->patches), 0);

    end_program(child);
    node_changed(&world->node);
    await_patches(self, world, 1);
    expect_patch(world, 1, "u1", "7", NULL); /* what has begun since has changed the object */
    group_close(self, &group);
}

static void test_what_was_left_behind(void **state)
{
    (void)state;
    play(left_behind);
}

/* Nothing of before a restart of the machine runs, whatever has its name now. */
static void another_boot(struct task *self, struct world *world)
{
    CLEANUP(kube_object_unrefp)
    struct kube_object *object =
        put(world, "u1", 7, PROGRAM " 2026-01-01T00:00:00Z 00000000-0000-0000-0000-000000000000");
    struct task_group group;
    pid_t child = start_program();

    group_init(&group, world->node.loop);
    running_job_start(&world->node, &group);
    await_patches(self, world, 1);
    expect_patch(world, 1, "u1", "7", NULL);
    end_program(child);
    group_close(self, &group);
}

static void test_what_was_left_behind_before_a_restart(void **state)
{
    (void)state;
    play(another_boot);
}

static void own(struct task *self, struct world *world)
{
    CLEANUP(freep) char *boot = boot_id();
    CLEANUP(freep) char *job = mem_printf(PROGRAM " 2026-01-01T00:00:00Z %s", boot);
    CLEANUP(kube_object_unrefp) struct kube_object *object = put(world, "u1", 7, NULL);
    struct task_group group;

    group_init(&group, world->node.loop);
    assert_ok(running_job_begin(self, &world->node, object, PROGRAM));
    CLEANUP(kube_object_unrefp) struct kube_object *noted = put(world, "u1", 901, job);
    running_job_start(&world->node, &group);
    let_look(self, world, 5);
    assert_int_equal(json_array_size(world->patches), 1);
    running_job_end(self, &world->node, object);
    expect_patch(world, 2, "u1", "any", NULL);
    group_close(self, &group);
}

static void test_what_this_process_runs_is_not_cleared_away(void **state)
{
    (void)state;
    play(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_on_record),
        cmocka_unit_test(test_what_cannot_be_noted_does_not_begin),
        cmocka_unit_test(test_what_was_left_behind),
        cmocka_unit_test(test_what_was_left_behind_before_a_restart),
        cmocka_unit_test(test_what_this_process_runs_is_not_cleared_away),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
