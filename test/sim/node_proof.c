#include "test/sim/node_proof.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/records/names.h"
#include "test/sim/coverage.h"
#include "test/sim/record.h"
#include "test/sim/world.h"

#define FILESYSTEM "ext4"

enum { CONFIRMATION_MS = 2000, PAUSE_MS = 50 };

/* What the AzVolume says of the file system. */
struct note {
    bool has_filesystem, has_source;
    struct filesystem_identity filesystem, source;
    char *uuids, *accepted;
};

static void note_fini(struct note *note)
{
    free(note->uuids);
    free(note->accepted);
}

/* ---- what is on record ---- */

static struct err *read_identity(const json_t *notes, const char *name, bool *ret_has,
                                 struct filesystem_identity *ret)
{
    const char *text = json_string_value(json_object_get(notes, name));

    *ret_has = text != NULL;
    return text ? identity_parse(text, ret) : NULL;
}

static struct err *read_note(const struct mount *mount, struct note *ret)
{
    const struct sim *sim = mount->machine->world->sim;
    const struct volume_record *record = record_volume(sim, mount->volume->disk);

    if (!machine_reaches_server(mount->machine))
        return err_new(ERR_UNAVAILABLE, "the API server cannot be reached");
    if (!record || !record->exists)
        return err_new(ERR_BUSY, "there is no AzVolume");
    const json_t *object = kube_server_get(sim->kube, &AZ_VOLUMES, WORLD_NAMESPACE, record->name);
    const json_t *notes = json_object_get(json_object_get(object, "status"), "annotation");
    TRY(read_identity(notes, ANNOTATION_FILESYSTEM, &ret->has_filesystem, &ret->filesystem));
    const json_t *said = json_object_get(json_object_get(object, "metadata"), "annotations");
    note_fini(ret);
    ret->accepted =
        mem_strdup(json_string_value(json_object_get(said, ANNOTATION_ACCEPT_FILESYSTEM)));
    ret->uuids = mem_strdup(json_string_value(json_object_get(notes, ANNOTATION_SOURCE_UUIDS)));
    return read_identity(notes, ANNOTATION_SOURCE_FILESYSTEM, &ret->has_source, &ret->source);
}

static struct err *await_note(struct task *self, const struct mount *mount,
                              const struct place *place, struct note *ret)
{
    uint64_t end = world_now(mount->machine->world) + CONFIRMATION_MS;

    TRY(read_note(mount, ret));
    while (place->recorded && !ret->has_filesystem) {
        if (world_now(mount->machine->world) >= end)
            return err_new(ERR_BUSY, "the file system is not confirmed yet");
        TRY(task_sleep(self, PAUSE_MS));
        TRY(read_note(mount, ret));
    }
    return NULL;
}

/* ---- what is on the disk ---- */

static struct disk_observation look_at(const struct content *content)
{
    struct disk_observation found = {.blank = !content->filesystem[0]};

    if (found.blank)
        return found;
    found.content = DISK_FILESYSTEM;
    memcpy(found.type, FILESYSTEM, sizeof FILESYSTEM);
    memcpy(found.uuid, content->filesystem, sizeof content->filesystem);
    return found;
}

/* ---- the decision ---- */

/* Where the snapshot of a copy is gone, and then the copy's record, nobody but a person knows what
 * is on the disk. The error says what to do. */
static void accept_by_hand(const struct mount *mount, const struct content *content)
{
    const struct volume *volume = mount->volume;
    struct world *world = volume->world;

    if (!world->records_lost || !content->filesystem[0] || !copy_source_is_untold(volume))
        return;
    sim_note(world->sim, "by hand: volume %s is to accept %s", volume->pv, content->filesystem);
    coverage_count("copy", "accepted", "by hand");
    world_patch(world, &PERSISTENT_VOLUMES, NULL, volume->pv, NULL,
                json_pack("{s:{s:{s:s}}}", "metadata", "annotations", ANNOTATION_ACCEPT_FILESYSTEM,
                          content->filesystem));
}

struct err *node_prove(struct task *self, const struct mount *mount, const struct place *place,
                       const struct content *content, struct disk_verdict *ret)
{
    struct disk_observation found = look_at(content);
    CLEANUP(note_fini) struct note note = {0};

    TRY(await_note(self, mount, place, &note));
    struct disk_expectation expected = {
        .raw = mount->volume->wish.block,
        .type = FILESYSTEM,
        .possible = note.uuids,
        .accepted = note.accepted,
        .recorded = note.has_filesystem ? &note.filesystem : NULL,
        .source = note.has_source ? &note.source : NULL,
    };
    identity_derive(mount->volume->handle, expected.uuid);
    struct err *err = proof_decide(&expected, &found, ret);
    if (err && !note.accepted)
        accept_by_hand(mount, content);
    return err;
}
