#include "test/sim/running_job.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/host/identity.h"
#include "provisioner-lib/records/names.h"
#include "test/azsim/model/attachment.h"
#include "test/sim/azure_side.h"
#include "test/sim/coverage.h"
#include "test/sim/disk_keys.h"
#include "test/sim/world.h"

enum {
    SECOND_MS = 1000,
    RARELY_LONG = 25, /* jobs in a hundred */
    RARELY_LOST = 4,  /* requests in a hundred, or their answers */
    ANSWER_MS = 200,  /* at most, until the API server has answered */
    HEARD_MS = 500,   /* until the plug-in hears of a change */
    STOP_MS = 25000,  /* until a program that was told to end has ended */
    AGAIN_MS = 5000,  /* between looks at notes that are left */
};

static const char *const programs[] = {[JOB_MKFS] = "mkfs.ext4",
                                       [JOB_FSCK] = "e2fsck",
                                       [JOB_MOUNT] = "mount",
                                       [JOB_SET_UUID] = "set-uuid"};

static struct loop *loop(const struct machine *machine)
{
    return machine->world->sim->loop;
}

static bool plugin_is_there(const struct machine *machine)
{
    return machine_reaches_server(machine) && machine_serves(machine);
}

const struct running_job *running_job_find(const struct machine *machine,
                                           const struct volume *volume)
{
    LIST_FOREACH(&machine->jobs, link) {
        if (RUNNING_JOB_OF(link)->volume == volume)
            return RUNNING_JOB_OF(link);
    }
    return NULL;
}

bool running_job_can_write(const struct running_job *job)
{
    const struct machine *machine = job->machine;
    struct vm *vm = machine_vm(machine);
    const struct attachment *attachment = vm ? attachment_at(vm, job->place.lun) : NULL;

    return machine->up && !machine->frozen && !machine->disks_cut && vm &&
           vm->power == POWER_RUNNING && attachment && attachment->attached &&
           attachment->sequence == job->attachment &&
           disk_keys_accept(&machine->world->disk_keys, attachment);
}

/* ---- the note ---- */

/* `text` NULL takes it away; `version` NULL: whatever was written since. Requests and answers may
 * be lost on the way. */
static struct err *write_note(const struct machine *machine, const char *name, const char *uid,
                              const char *text, const char *version)
{
    struct world *world = machine->world;
    CLEANUP(json_decrefp)
    json_t *patch =
        json_pack("{s:{s:s, s:s*}, s:{s:{s:s?}}}", "metadata", "uid", uid, "resourceVersion",
                  version, "status", "annotation", ANNOTATION_RUNNING_JOB, text);

    if (!plugin_is_there(machine) || world_chance(world, RARELY_LOST / 2))
        return err_new(ERR_UNAVAILABLE, "the API server cannot be reached");
    TRY(kube_server_patch(world->sim->kube, &AZ_VOLUME_ATTACHMENTS, WORLD_NAMESPACE, name, "status",
                          patch));
    return world_chance(world, RARELY_LOST / 2)
               ? err_new(ERR_UNAVAILABLE, "the answer of the API server is lost")
               : NULL;
}

static void leave_note(struct machine *machine)
{
    machine->notes_left = true;
    running_jobs_heard(machine);
}

static void take_note_away(struct machine *machine, const struct volume *volume, const char *uid)
{
    const char *name = node_attachment_name(machine, volume);
    CLEANUP(err_freep) struct err *err = write_note(machine, name, uid, NULL, NULL);

    if (err)
        leave_note(machine);
}

/* ---- what was left behind ---- */

static const char *text_at(const json_t *object, const char *member)
{
    return json_string_value(json_object_get(object, member));
}

static const struct running_job *find_job(const struct machine *machine, const char *attachment)
{
    LIST_FOREACH(&machine->jobs, link) {
        if (strcmp(node_attachment_name(machine, RUNNING_JOB_OF(link)->volume), attachment) == 0)
            return RUNNING_JOB_OF(link);
    }
    return NULL;
}

/* False if it has to be looked at again. */
static bool clear_note(const struct machine *machine, const json_t *attachment)
{
    const json_t *metadata = json_object_get(attachment, "metadata");
    const struct running_job *job = find_job(machine, text_at(metadata, "name"));

    if (job)
        return !job->orphan; /* else it is not left */
    CLEANUP(freep) char *name = mem_strdup(text_at(metadata, "name"));
    CLEANUP(err_freep)
    struct err *err = write_note(machine, name, text_at(metadata, "uid"), NULL,
                                 text_at(metadata, "resourceVersion"));
    if (!err)
        coverage_count("note", "left", "is taken away");
    return !err;
}

static bool has_note(const struct machine *machine, const json_t *attachment)
{
    const json_t *status = json_object_get(attachment, "status");
    const char *node = text_at(json_object_get(attachment, "spec"), "nodeName");

    return node && strcmp(node, machine->name) == 0 &&
           json_object_get(json_object_get(status, "annotation"), ANNOTATION_RUNNING_JOB);
}

static bool clear_notes(struct machine *machine)
{
    struct kube_server *server = machine->world->sim->kube;
    bool cleared = true;

    for (size_t i = 0; i < kube_server_count(server, &AZ_VOLUME_ATTACHMENTS); i++) {
        const json_t *attachment = kube_server_at(server, &AZ_VOLUME_ATTACHMENTS, i);

        if (has_note(machine, attachment))
            cleared &= clear_note(machine, attachment);
    }
    return cleared;
}

/* ---- the role ---- */

static void end(void *ctx);

static void stop(struct running_job *job)
{
    uint64_t at = world_now(job->machine->world) + world_draw(job->machine->world, 0, STOP_MS);

    job->stops = true;
    sim_note(job->machine->world->sim, "%s of volume %s on %s is to end", programs[job->program],
             job->volume->pv, job->machine->name);
    if (at < job->end.due)
        loop_start_timer(loop(job->machine), &job->end, at, end, job);
}

/* A mount that is under way is the kernel's, which nobody can stop. */
static void reconsider(struct running_job *job)
{
    CLEANUP(err_freep)
    struct err *err = node_attachment_check(job->machine, job->volume, &job->place);

    if (!err || job->stops || job->orphan || job->program == JOB_MOUNT)
        return;
    coverage_count("role", "lost", programs[job->program]);
    stop(job);
}

static void look(void *ctx)
{
    struct machine *machine = ctx;

    if (!machine_is_connected(machine))
        return; /* what comes when it is again */
    if (machine_serves(machine)) {
        LIST_FOREACH(&machine->jobs, link)
            reconsider(RUNNING_JOB_OF(link));
        machine->notes_left = machine->notes_left && !clear_notes(machine);
    }
    if (machine->notes_left)
        loop_start_timer(loop(machine), &machine->look, world_now(machine->world) + AGAIN_MS, look,
                         machine);
}

void running_jobs_heard(struct machine *machine)
{
    uint64_t soon = world_now(machine->world) + HEARD_MS;
    bool waits = machine->look.index > 0 && machine->look.due <= soon;

    if (!waits && (machine->notes_left || !list_is_empty(&machine->jobs)))
        loop_start_timer(loop(machine), &machine->look,
                         world_now(machine->world) + world_draw(machine->world, 1, HEARD_MS), look,
                         machine);
}

/* ---- one job ---- */

static void job_free(struct running_job *job, enum job_outcome outcome)
{
    loop_stop_timer(loop(job->machine), &job->end);
    if (job->report)
        *job->report = outcome;
    list_remove(&job->link);
    waiters_wake(&job->machine->changed);
    free(job);
}

/* Only what has come to its end leaves anything: until then a copy has its origin's UUID, and a
 * disk that is formatted has nothing that is mounted. */
static void write_to_disk(const struct running_job *job)
{
    struct contents *contents = &job->machine->world->sim->azure_side->contents;
    struct content *content = content_of(contents, job->disk);

    if (job->program == JOB_MKFS || job->program == JOB_SET_UUID)
        identity_derive(job->volume->handle, content->filesystem);
    if (job->program == JOB_MKFS)
        content->unclean = false;
}

static void end(void *ctx)
{
    struct running_job *job = ctx;
    struct machine *machine = job->machine;
    bool done = !job->stops && running_job_can_write(job);

    if (machine->frozen) {
        loop_start_timer(loop(machine), &job->end, world_now(machine->world) + SECOND_MS, end, job);
        return;
    }
    sim_note(machine->world->sim, "%s of volume %s on %s %s", programs[job->program],
             job->volume->pv, machine->name, done ? "is done" : "is broken off");
    if (done)
        write_to_disk(job);
    if (!job->orphan)
        take_note_away(machine, job->volume, job->place.uid);
    job_free(job, done ? JOB_DONE : JOB_BROKEN_OFF);
}

/* Under way as soon as this returns. */
static struct running_job *start(struct machine *machine, struct volume *volume,
                                 const struct place *place, enum job_program program,
                                 enum job_outcome *report)
{
    struct world *world = machine->world;
    const struct attachment *device = attachment_at(machine_vm(machine), place->lun);
    uint64_t duration_ms = world_chance(world, RARELY_LONG)
                               ? world_draw(world, 2 * SECOND_MS, 90 * SECOND_MS)
                               : world_draw(world, 20, 2 * SECOND_MS);
    struct running_job *job = mem_alloc(sizeof *job);

    *job = (struct running_job){.machine = machine,
                                .volume = volume,
                                .program = program,
                                .place = *place,
                                .report = report};
    job->attachment = device->sequence;
    memcpy(job->disk, device->disk->unique_id, sizeof job->disk);
    list_append(&machine->jobs, &job->link);
    loop_start_timer(loop(machine), &job->end, world_now(world) + duration_ms, end, job);
    sim_note(world->sim, "%s of volume %s runs on %s", programs[program], volume->pv,
             machine->name);
    coverage_count("program", "runs", programs[program]);
    return job;
}

static bool has_device(const struct machine *machine, const struct place *place)
{
    struct vm *vm = machine_vm(machine);
    const struct attachment *device = vm ? attachment_at(vm, place->lun) : NULL;

    return device && device->attached;
}

/* On record first; then what the API server has answered says whether it may start. */
static struct err *begin(struct task *self, struct machine *machine, const struct volume *volume,
                         const struct place *place, const char *program)
{
    struct world *world = machine->world;
    unsigned starts = machine->plugin_starts;

    if (running_job_find(machine, volume))
        return err_new(ERR_BUSY, "another program runs on the disk");
    TRY(task_sleep(self, world_draw(world, 1, ANSWER_MS)));
    if (machine->plugin_starts != starts)
        return err_new(ERR_UNAVAILABLE, "the plug-in has ended");
    const char *name = node_attachment_name(machine, volume);
    CLEANUP(freep) char *text = mem_printf("%s 2026-01-01T00:00:00Z %u", program, machine->boots);
    struct err *err = write_note(machine, name, place->uid, text, NULL);
    if (err) {
        leave_note(machine); /* it may have been written all the same */
        return err;
    }
    err = node_attachment_check(machine, volume, place);
    if (!err && !has_device(machine, place))
        err = err_new(ERR_UNAVAILABLE, "the device at LUN %u has gone", place->lun);
    if (err)
        take_note_away(machine, volume, place->uid);
    return err;
}

struct err *running_job(struct task *self, struct machine *machine, struct volume *volume,
                        const struct place *place, enum job_program program, uint64_t deadline)
{
    enum job_outcome outcome = JOB_UNDER_WAY;

    TRY(begin(self, machine, volume, place, programs[program]));
    struct running_job *job = start(machine, volume, place, program, &outcome);
    while (outcome == JOB_UNDER_WAY) {
        struct err *err = machine_wait(self, machine, deadline);

        if (err && outcome == JOB_UNDER_WAY)
            job->report = NULL;
        TRY(err);
    }
    return outcome == JOB_DONE ? NULL
                               : err_new(ERR_UNAVAILABLE, "%s was broken off", programs[program]);
}

/* ---- all of them ---- */

void running_jobs_power_off(struct machine *machine)
{
    LIST_FOREACH(&machine->jobs, link)
        job_free(RUNNING_JOB_OF(link), JOB_BROKEN_OFF);
    loop_stop_timer(loop(machine), &machine->look);
    machine->notes_left = true;
}

void running_jobs_orphan(struct machine *machine)
{
    LIST_FOREACH(&machine->jobs, link) {
        struct running_job *job = RUNNING_JOB_OF(link);

        coverage_count("plug-in", "gone", programs[job->program]);
        job->orphan = true;
        if (job->report)
            *job->report = JOB_BROKEN_OFF;
        job->report = NULL;
        if (job->program != JOB_MOUNT)
            stop(job);
    }
    waiters_wake(&machine->changed);
    leave_note(machine);
}
