#include "test/unit/provisioner-lib/host/scene.h"

#include "lib/base/alloc.h"
#include "lib/rt/wait.h"
#include "test/unit/expect.h"

static struct err *permit_check(void *ctx)
{
    const struct scene *scene = ctx;

    return scene->lost ? err_new(ERR_BUSY, "%s", scene->lost) : NULL;
}

static struct err *permit_begin(struct task *self, void *ctx, const char *program)
{
    struct scene *scene = ctx;

    assert_true(strcmp(program, "mkfs.ext4") == 0 || strcmp(program, "e2fsck") == 0);
    assert_ok(task_sleep(self, 1)); /* as a write to the API server */
    assert_true(!scene->running || access(scene->running, F_OK));
    TRY(permit_check(scene));
    scene->begun++;
    return NULL;
}

static void permit_end(struct task *self, void *ctx, const struct err *unsure)
{
    struct scene *scene = ctx;

    assert_ok(task_sleep(self, 1));
    assert_null(unsure);
    assert_true(!scene->running || access(scene->running, F_OK));
    scene->ended++;
}

int scene_setup(void **state)
{
    static unsigned count;
    struct scene *scene = mem_alloc(sizeof *scene);

    scene->permit = (struct job_permit){permit_begin, permit_check, permit_end, scene};

    count++;
    scene->roots.sys = in_workplace("host-%u/sys", count);
    scene->roots.dev = in_workplace("host-%u/dev", count);
    make_folder(scene->roots.sys);
    make_folder(scene->roots.dev);
    scene->loop = loop_new();
    struct memory_roots memory = {in_workplace("host-%u/cgroup", count),
                                  in_workplace("host-%u/proc", count)};
    scene->memory_max = below(memory.cgroup, "memory.max");
    write_below(memory.cgroup, "memory.max", "max\n");
    write_below(memory.proc, "self/cgroup", "0::/\n");
    write_below(memory.proc, "meminfo", "MemAvailable: 1024000 kB\n");
    scene->host = host_new(scene->loop,
                           &(struct host_config){scene->roots, .max_formats = 1, .memory = memory});
    *state = scene;
    return 0;
}

int scene_teardown(void **state)
{
    struct scene *scene = *state;

    loop_free(scene->loop);
    free(scene);
    return 0;
}

uint64_t in(struct scene *scene, uint64_t ms)
{
    return loop_now(scene->loop) + ms;
}

static void scene_main(struct task *self, void *arg)
{
    struct scene *scene = arg;

    scene->play(self, scene);
    host_stop(scene->host, in(scene, LONG));
    host_close(self, scene->host);
    scene->played = true;
}

void play(struct scene *scene, void (*fn)(struct task *self, struct scene *scene))
{
    scene->play = fn;
    loop_spawn(scene->loop, "scene", scene_main, scene);
    loop_run(scene->loop);
    assert_true(scene->played);
}

void await(struct task *self, const bool *what)
{
    while (!*what)
        assert_ok(task_sleep(self, 1));
}

void await_file(struct task *self, const char *path)
{
    while (access(path, F_OK))
        assert_ok(task_sleep(self, 1));
}

void link_lun(struct scene *scene, unsigned lun, const char *target)
{
    CLEANUP(freep) char *name = mem_printf("disk/azure/data/by-lun/%u", lun);

    make_folder(below(scene->roots.dev, "disk/azure/data/by-lun"));
    assert_int_equal(symlink(target, below(scene->roots.dev, name)), 0);
}

void find(struct task *self, struct scene *scene, const struct disk *disk, struct device *ret)
{
    link_lun(scene, 3, disk->path);
    assert_ok(host_find(self, scene->host, 3, in(scene, LONG), ret));
}

struct disk_expectation expect(const struct disk *disk)
{
    struct disk_expectation expected = {.size = disk->size, .type = "ext4"};

    identity_derive(SCENE_VOLUME, expected.uuid);
    return expected;
}

void restore_path(char **before)
{
    setenv("PATH", *before, 1);
    free(*before);
}
