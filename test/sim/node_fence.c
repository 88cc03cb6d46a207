#include "test/sim/node_fence.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/kube/object.h"
#include "provisioner-lib/host/fence.h"
#include "provisioner-lib/records/fence_note.h"
#include "provisioner-lib/records/names.h"
#include "test/azsim/model/resource.h"
#include "test/sim/coverage.h"
#include "test/sim/disk_keys.h"
#include "test/sim/invariant.h"
#include "test/sim/node_stage.h"
#include "test/sim/world.h"

enum {
    MOST_STEPS = 40,
    COMMAND_MS = 20, /* at most */
    HEARD_MS = 200,
    ANSWER_MS = 200, /* of the API server, at most */
    AGAIN_MS = 1000,
};

static struct all_disk_keys *keys_of(const struct machine *machine)
{
    return &machine->world->disk_keys;
}

bool volume_is_fenced(const struct volume *volume)
{
    return volume->world->sim->landscape.failover && volume->wish.max_shares > 1 &&
           !volume->wish.block && !volume->wish.unfenced;
}

/* ---- the API server ---- */

static bool has_plugin(const struct machine *machine)
{
    return machine_reaches_server(machine) && machine_serves(machine);
}

/* `text` NULL takes it away. */
static struct err *write_annotation(const struct machine *machine, const char *name,
                                    const char *uid, const char *annotation, const char *text)
{
    CLEANUP(json_decrefp)
    json_t *patch = json_pack("{s:{s:s}, s:{s:{s:s?}}}", "metadata", "uid", uid, "status",
                              "annotation", annotation, text);

    if (!has_plugin(machine))
        return err_new(ERR_UNAVAILABLE, "the API server cannot be reached");
    return kube_server_patch(machine->world->sim->kube, &AZ_VOLUME_ATTACHMENTS, WORLD_NAMESPACE,
                             name, "status", patch);
}

/* ---- keys ---- */

static uint64_t key_of(const struct machine *machine, const char *volume_id, const char *uid)
{
    CLEANUP(freep) char *family = resource_key(volume_id);
    CLEANUP(freep) char *member = mem_printf("%s %u %s", machine->name, machine->boots, uid);

    return fence_key(family, member);
}

/* One command to the disk takes a moment, in which nothing moves on a machine that stands still. */
static struct err *command(struct task *self, struct machine *machine, unsigned lun,
                           struct attachment **ret_device)
{
    TRY(task_sleep(self, world_draw(machine->world, 1, COMMAND_MS)));
    while (machine->frozen)
        TRY(machine_wait(self, machine, TIMER_NEVER));
    *ret_device = node_device_at(machine, lun);
    if (!machine->up || machine->disks_cut || !*ret_device)
        return err_new(ERR_UNAVAILABLE, "the disk at LUN %u does not answer", lun);
    return NULL;
}

/* ---- taking it ---- */

static struct err *take_step(const struct machine *machine, struct attachment *device, uint64_t key,
                             struct fence *fence, bool *ret_held)
{
    struct reservation seen;
    uint64_t other;

    disk_keys_read(keys_of(machine), device->disk, &seen);
    switch (fence_plan(&seen, key, &other)) {
    case FENCE_HELD:
        fence->generation = seen.generation;
        *ret_held = true;
        return NULL;
    case FENCE_REGISTER:
        disk_keys_register(keys_of(machine), device, key);
        return NULL;
    case FENCE_RESERVE:
        disk_keys_take(keys_of(machine), device);
        return NULL;
    case FENCE_PREEMPT:
        disk_keys_preempt(keys_of(machine), device, other);
        fence->former = other;
        return NULL;
    default:
        return err_new(ERR_PRECONDITION, "key %#018" PRIx64 " is registered at the disk", other);
    }
}

static struct err *record(struct task *self, const struct mount *mount, const struct place *place,
                          const char *text)
{
    TRY(task_sleep(self, world_draw(mount->machine->world, 1, ANSWER_MS)));
    return write_annotation(mount->machine, node_attachment_name(mount->machine, mount->volume),
                            place->uid, ANNOTATION_FENCE, text);
}

/* A fence that was in place already was taken from whom the record says. */
static uint64_t former_on_record(const struct machine *machine, const char *name)
{
    const json_t *json =
        kube_server_get(machine->world->sim->kube, &AZ_VOLUME_ATTACHMENTS, WORLD_NAMESPACE, name);
    CLEANUP(kube_object_unrefp) struct kube_object *object = NULL;

    if (!json)
        return 0;
    CLEANUP(err_freep)
    struct err *err = kube_object_decode(AZ_VOLUME_ATTACHMENTS.type, json, &object);
    if (err)
        abort(); /* the driver has written it */
    return fence_note_former(KUBE_AS(Api__AzVolumeAttachment, object));
}

struct err *node_fence_take(struct task *self, struct mount *mount, const struct place *place)
{
    struct machine *machine = mount->machine;
    uint64_t key = key_of(machine, mount->volume->handle, place->uid);
    struct fence fence = {0};
    bool held = false;

    if (!has_plugin(machine)) /* or it might take the disk from whom its volume was given to */
        return err_new(ERR_UNAVAILABLE, "the API server cannot be reached");
    TRY(node_attachment_check(machine, mount->volume, place));
    if (!volume_is_fenced(mount->volume))
        return mount->volume->wish.unfenced ? record(self, mount, place, "unsupported") : NULL;
    for (int steps = 0; !held; steps++) {
        struct attachment *device;

        if (steps == MOST_STEPS)
            return err_new(ERR_PRECONDITION, "the disk goes to another VM again and again");
        TRY(command(self, machine, place->lun, &device));
        TRY(take_step(machine, device, key, &fence, &held));
    }
    if (!fence.former)
        fence.former = former_on_record(machine, node_attachment_name(machine, mount->volume));
    CLEANUP(freep) char *text = fence_note_held(key, fence.former, fence.generation);
    TRY(record(self, mount, place, text));
    mount->key = key;
    mount->former = fence.former;
    mount->generation = fence.generation;
    mount->fence_lost = false;
    mount->shut_down = false;
    return NULL;
}

struct err *node_fence_check(const struct mount *mount, const struct place *place)
{
    const struct machine *machine = mount->machine;
    const struct attachment *device = node_device_at(machine, place->lun);
    struct reservation seen;

    if (!device || machine->disks_cut)
        return err_new(ERR_UNAVAILABLE, "the disk at LUN %u does not answer", place->lun);
    if (!volume_is_fenced(mount->volume))
        return NULL;
    disk_keys_read(keys_of(machine), device->disk, &seen);
    return seen.held && seen.holder == mount->key
               ? NULL
               : err_new(ERR_PRECONDITION, "another node has taken the disk over");
}

static bool has_key(const struct reservation *seen, uint64_t key)
{
    for (size_t i = 0; i < seen->n_keys; i++)
        if (seen->keys[i] == key)
            return true;
    return false;
}

void node_fence_release(struct mount *mount)
{
    struct machine *machine = mount->machine;
    const struct attachment *device = mount_attachment(mount);
    const char *name = node_attachment_name(machine, mount->volume);
    struct reservation seen = {0};

    if (!mount->key || mount->former)
        return;
    if (device && !machine->disks_cut)
        disk_keys_read(keys_of(machine), device->disk, &seen);
    if (has_key(&seen, mount->key)) {
        if (seen.held && seen.holder == mount->key)
            disk_keys_release(keys_of(machine), device);
        disk_keys_register(keys_of(machine), device, 0);
    }
    mount->key = 0;
    if (!*name || !has_plugin(machine))
        return;
    world_patch(machine->world, &AZ_VOLUME_ATTACHMENTS, WORLD_NAMESPACE, name, "status",
                json_pack("{s:{s:{s:n}}}", "status", "annotation", ANNOTATION_FENCE));
}

/* ---- that it is lost ---- */

static void look_at(struct mount *mount)
{
    struct machine *machine = mount->machine;
    const struct attachment *device = mount_attachment(mount);
    const char *name = node_attachment_name(machine, mount->volume);
    struct reservation seen;

    if (!mount->key || mount->fence_lost || !device || !*name)
        return;
    disk_keys_read(keys_of(machine), device->disk, &seen);
    if (!fence_is_lost(&seen, mount->key))
        return;
    mount->shut_down = true;
    if (!machine_reaches_server(machine))
        return;
    CLEANUP(freep) char *lost = fence_note_lost(mount->key, mount->generation);
    mount->fence_lost = true;
    world_patch(machine->world, &AZ_VOLUME_ATTACHMENTS, WORLD_NAMESPACE, name, "status",
                json_pack("{s:{s:{s:s}}}", "status", "annotation", ANNOTATION_FENCE, lost));
}

void node_fence_watch(struct machine *machine)
{
    if (!machine->disks_cut && !machine->frozen)
        LIST_FOREACH(&machine->mounts, link)
            look_at(MOUNT_OF(link));
}

/* ---- what others ask ---- */

struct question {
    struct machine *machine;
    char *name, *uid, *volume_id, *text;
    unsigned lun;
};

static void question_free(struct question *question)
{
    free(question->name);
    free(question->uid);
    free(question->volume_id);
    free(question->text);
    free(question);
}

static void take_away(const struct machine *machine, const struct attachment *device,
                      uint64_t other)
{
    invariants_preempted(machine->world->sim, machine->name, other);
    disk_keys_preempt(keys_of(machine), device, other);
}

/* One more step, as the driver plans it. */
static struct err *succeed(const struct machine *machine, struct attachment *device, uint64_t own,
                           uint64_t former, bool *ret_held)
{
    struct all_disk_keys *keys = keys_of(machine);
    struct reservation seen;
    uint64_t other;

    disk_keys_read(keys, device->disk, &seen);
    switch (fence_succession_plan(&seen, own, former, &other)) {
    case FENCE_HELD:
        *ret_held = true;
        return NULL;
    case FENCE_REGISTER:
        disk_keys_register(keys, device, own);
        return NULL;
    case FENCE_RESERVE:
        disk_keys_take(keys, device);
        return NULL;
    case FENCE_PREEMPT:
        take_away(machine, device, other);
        return NULL;
    default:
        return err_new(ERR_PRECONDITION, "key %#018" PRIx64 " has the disk", other);
    }
}

/* The driver proves the disk, by the volume's keys or by its file system, before it touches it. */
static struct err *check_disk(const struct question *question, const struct attachment *device)
{
    CLEANUP(freep) char *key = resource_key(question->volume_id);

    return strcmp(device->disk->key, key) == 0
               ? NULL
               : err_new(ERR_PRECONDITION, "the disk at LUN %u is another one", question->lun);
}

static struct err *preempt(struct task *self, const struct question *question)
{
    struct machine *machine = question->machine;
    uint64_t own = key_of(machine, question->volume_id, question->uid);
    uint64_t former = strtoull(question->text, NULL, 16);
    CLEANUP(freep) char *fence = fence_note_held(own, former, 0);
    bool held = false;

    for (int steps = 0; !held; steps++) {
        struct attachment *device;

        if (steps == MOST_STEPS)
            return err_new(ERR_PRECONDITION, "the disk goes to another VM again and again");
        TRY(command(self, machine, question->lun, &device));
        TRY(check_disk(question, device));
        TRY(succeed(machine, device, own, former, &held));
    }
    sim_note(machine->world->sim, "%s has preempted %s of %s", machine->name, question->text,
             question->name);
    TRY(task_sleep(self, world_draw(machine->world, 1, ANSWER_MS)));
    TRY(write_annotation(machine, question->name, question->uid, ANNOTATION_FENCE, fence));
    return write_annotation(machine, question->name, question->uid, ANNOTATION_PREEMPTED,
                            question->text);
}

static void answer(struct task *self, void *arg)
{
    struct question *question = arg;
    struct machine *machine = question->machine;
    unsigned boots = machine->boots, starts = machine->plugin_starts;
    struct err *err = preempt(self, question);

    if (!err)
        coverage_count("fence", "preempted", "for a silent node");
    else
        err_free(task_sleep(self, AGAIN_MS));
    err_free(err);
    if (boots == machine->boots && starts == machine->plugin_starts)
        machine->answering = false;
    question_free(question);
    node_fence_look(machine);
}

static const char *text_at(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));

    return text ? text : "";
}

/* NULL: nothing is asked that was not answered. */
static const char *asked(const struct machine *machine, const json_t *attachment)
{
    const json_t *notes = json_object_get(json_object_get(attachment, "status"), "annotation");
    const char *request = json_string_value(json_object_get(notes, ANNOTATION_PREEMPT_REQUEST));
    const char *node = text_at(json_object_get(attachment, "spec"), "nodeName");

    if (!request || strcmp(node, machine->name) != 0 ||
        strcmp(request, text_at(notes, ANNOTATION_PREEMPTED)) == 0)
        return NULL;
    return request;
}

static struct question *find_question(struct machine *machine)
{
    const struct kube_server *server = machine->world->sim->kube;

    for (size_t i = 0; i < kube_server_count(server, &AZ_VOLUME_ATTACHMENTS); i++) {
        const json_t *object = kube_server_at(server, &AZ_VOLUME_ATTACHMENTS, i);
        const json_t *metadata = json_object_get(object, "metadata");
        const json_t *detail = json_object_get(json_object_get(object, "status"), "detail");
        const char *lun = text_at(json_object_get(detail, "publish_context"), CONTEXT_LUN);
        struct question *question;

        if (!asked(machine, object) || !*lun)
            continue;
        question = mem_alloc(sizeof *question);
        *question = (struct question){
            .machine = machine,
            .name = mem_strdup(text_at(metadata, "name")),
            .uid = mem_strdup(text_at(metadata, "uid")),
            .volume_id = mem_strdup(text_at(json_object_get(object, "spec"), "volume_id")),
            .text = mem_strdup(asked(machine, object)),
            .lun = (unsigned)strtoul(lun, NULL, 10),
        };
        return question;
    }
    return NULL;
}

/* One after the other. */
static void look(void *ctx)
{
    struct machine *machine = ctx;
    uint64_t again = world_now(machine->world) + AGAIN_MS;
    struct question *question;

    if (machine->answering || !machine_is_connected(machine))
        return; /* what comes when it is again, or has ended */
    question = find_question(machine);
    if (!question)
        return;
    if (has_plugin(machine) && !machine->disks_cut &&
        group_spawn(&machine->world->sim->tasks, "preempts", answer, question)) {
        machine->answering = true;
        return;
    }
    question_free(question);
    loop_start_timer(machine->world->sim->loop, &machine->asked, again, look, machine);
}

void node_fence_look(struct machine *machine)
{
    struct world *world = machine->world;

    if (world->sim->landscape.failover && machine->up)
        loop_start_timer(world->sim->loop, &machine->asked,
                         world_now(world) + world_draw(world, 1, HEARD_MS), look, machine);
}

void node_fence_heard(struct machine *machine, const json_t *attachment)
{
    if (machine->world->sim->landscape.failover && asked(machine, attachment))
        node_fence_look(machine);
}
