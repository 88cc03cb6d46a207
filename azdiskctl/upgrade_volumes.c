#include "azdiskctl/upgrade_volumes.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/kube/pv_source.h"
#include "provisioner-lib/parameters.h"

enum {
    MOST_NAMES = 10,
    LONGEST_TITLE = 64 * 1024,
};

/* ---- what the driver says of a file system ---- */

static struct err *check_type(const char *type)
{
    const struct parameter parameter = {"fsType", type ? type : ""};
    CLEANUP(volume_parameters_fini) struct volume_parameters parsed = {0};

    return volume_parameters_parse_existing(&parameter, 1, false, &parsed);
}

/* The attribute is asked about whatever the mode: without it the volume is not even attached. */
static struct err *check_attributes(const Api__CSIPersistentVolumeSource *csi)
{
    CLEANUP(freep)
    struct parameter *attributes = PARAMETER_LIST(csi->volume_attributes, csi->n_volume_attributes);

    return check_type(parameter_find(attributes, csi->n_volume_attributes, "fsType"));
}

static struct err *check_volume(const Api__PersistentVolumeSpec *spec)
{
    bool is_device = spec->volume_mode && strcmp(spec->volume_mode, "Block") == 0;

    if (spec->csi)
        TRY(check_attributes(spec->csi));
    if (is_device)
        return NULL;
    return check_type(spec->csi ? spec->csi->fs_type : spec->azure_disk->fs_type);
}

/* ---- the obstacles ---- */

static char *title_of(const json_t *names)
{
    size_t n = json_array_size(names), shown = n > MOST_NAMES ? MOST_NAMES : n;
    struct buffer out;

    buffer_init(&out, LONGEST_TITLE);
    buffer_printf(&out, "PersistentVolume ");
    for (size_t i = 0; i < shown; i++)
        buffer_printf(&out, "%s%s", i ? ", " : "", json_string_value(json_array_get(names, i)));
    if (shown < n)
        buffer_printf(&out, " and %zu more", n - shown);
    return buffer_take(&out);
}

static void add(json_t *obstacles, const char *refusal, const json_t *names)
{
    CLEANUP(freep) char *title = title_of(names);
    CLEANUP(freep)
    char *wrong = mem_printf("no pod that uses %s could start anew: %s",
                             json_array_size(names) == 1 ? "it" : "one of them", refusal);

    json_array_append_new(
        obstacles,
        json_pack("{s:s, s:s, s:s}", "object", title, "wrong", wrong, "todo",
                  "copy the data to volumes with another file system, and delete these; or keep "
                  "the other driver for them, and install this one beside it, with another "
                  "driver.name (docs/install.md); or, if no pod needs them, set "
                  "upgradeCheck.enabled=false"));
}

static void note(json_t *by_refusal, const char *refusal, const char *name)
{
    json_t *names = json_object_get(by_refusal, refusal);

    if (!names) {
        names = json_array();
        json_object_set_new(by_refusal, refusal, names);
    }
    json_array_append_new(names, json_string(name));
}

void upgrade_volumes_judge(const struct object_list *pvs, const char *driver_name,
                           json_t *obstacles)
{
    CLEANUP(json_decrefp) json_t *by_refusal = json_object();
    const char *refusal;
    json_t *names;

    for (size_t i = 0; i < pvs->n; i++) {
        const Api__PersistentVolumeSpec *spec = KUBE_AS(Api__PersistentVolume, pvs->items[i])->spec;
        CLEANUP(err_freep)
        struct err *err = pv_is_of_driver(spec, driver_name) ? check_volume(spec) : NULL;

        if (err)
            note(by_refusal, err_message(err), pvs->items[i]->metadata->name);
    }
    json_object_foreach(by_refusal, refusal, names)
        add(obstacles, refusal, names);
}
