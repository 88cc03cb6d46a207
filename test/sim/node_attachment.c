#include "test/sim/node_attachment.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/records/names.h"
#include "test/sim/record.h"
#include "test/sim/world.h"

static const char *text_at(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));

    return text ? text : "";
}

const char *node_attachment_name(const struct machine *machine, const struct volume *volume)
{
    const struct record *record = record_find(machine->world->sim, volume->disk, machine->name);

    return record ? record->name : "";
}

/* ---- what the plug-in knows ---- */

static bool is_on(const struct machine *machine, const json_t *object)
{
    return strcmp(text_at(json_object_get(object, "spec"), "nodeName"), machine->name) == 0;
}

static json_t *all_on(const struct machine *machine)
{
    const struct kube_server *server = machine->world->sim->kube;
    json_t *found = json_array();

    for (size_t i = 0; i < kube_server_count(server, &AZ_VOLUME_ATTACHMENTS); i++) {
        const json_t *object = kube_server_at(server, &AZ_VOLUME_ATTACHMENTS, i);

        if (is_on(machine, object))
            json_array_append_new(found, json_deep_copy(object));
    }
    return found;
}

void node_attachments_heard(struct machine *machine)
{
    bool reaches = machine_reaches_server(machine);

    if (!reaches && !machine->known)
        machine->known = all_on(machine);
    if (!reaches)
        return;
    json_decref(machine->known);
    machine->known = NULL;
}

void node_attachments_forget(struct machine *machine)
{
    if (!machine->known)
        return;
    json_decref(machine->known);
    machine->known = json_array();
}

static const json_t *find_known(const json_t *known, const char *volume_id)
{
    for (size_t i = 0; i < json_array_size(known); i++) {
        const json_t *object = json_array_get(known, i);

        if (strcasecmp(text_at(json_object_get(object, "spec"), "volume_id"), volume_id) == 0)
            return object;
    }
    return NULL;
}

static const json_t *find(const struct machine *machine, const struct volume *volume)
{
    return machine->known ? find_known(machine->known, volume->handle)
                          : kube_server_get(machine->world->sim->kube, &AZ_VOLUME_ATTACHMENTS,
                                            WORLD_NAMESPACE, node_attachment_name(machine, volume));
}

/* ---- what that says ---- */

bool node_attachment_asks_for_failover(const struct machine *machine, const struct volume *volume)
{
    const json_t *object = find(machine, volume);
    const json_t *notes = json_object_get(json_object_get(object, "status"), "annotation");

    return object && volume->wish.failover &&
           (!volume->wish.by_label || json_object_get(notes, ANNOTATION_AUTOMATIC_FAILOVER));
}

static bool is_of_boot(const struct machine *machine, const json_t *notes)
{
    CLEANUP(freep) char *boot_id = machine_boot_id(machine);
    const char *seen = json_string_value(json_object_get(notes, ANNOTATION_BOOT));

    return !seen || strcmp(seen, boot_id) == 0;
}

bool node_attachment_is_ready(const struct machine *machine, const struct volume *volume,
                              struct place *ret)
{
    const json_t *object = find(machine, volume);
    const json_t *metadata = json_object_get(object, "metadata");
    const json_t *status = json_object_get(object, "status");
    const json_t *detail = json_object_get(status, "detail");
    const char *lun = text_at(json_object_get(detail, "publish_context"), CONTEXT_LUN);

    if (!object || json_object_get(metadata, "deletionTimestamp") || !lun[0] ||
        strcmp(text_at(json_object_get(object, "spec"), "role"), ROLE_PRIMARY) != 0 ||
        strcmp(text_at(status, "state"), STATE_ATTACHED) != 0 ||
        strcmp(text_at(detail, "role"), ROLE_PRIMARY) != 0)
        return false;
    snprintf(ret->uid, sizeof ret->uid, "%s", text_at(metadata, "uid"));
    ret->lun = (unsigned)strtoul(lun, NULL, 10);
    const json_t *notes = json_object_get(status, "annotation");
    ret->recorded = json_object_get(notes, ANNOTATION_FILESYSTEM);
    ret->of_boot = is_of_boot(machine, notes);
    return true;
}

struct err *node_attachment_check(const struct machine *machine, const struct volume *volume,
                                  const struct place *place)
{
    struct place now;

    if (!node_attachment_is_ready(machine, volume, &now) || strcmp(now.uid, place->uid) != 0 ||
        now.lun != place->lun)
        return err_new(ERR_BUSY, "the volume was unpublished meanwhile");
    return NULL;
}
