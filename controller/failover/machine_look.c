#include "controller/failover/machine_look.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/base/hash.h"
#include "lib/base/log.h"
#include "lib/base/text.h"
#include "lib/kube/node.h"
#include "provisioner-lib/cloud.h"
#include "provisioner-lib/records/attachment.h"

/* From one question to the next about a machine that may run: longer each time. */
enum { LEAST_PAUSE_MS = 2 * 1000, MOST_PAUSE_MS = 60 * 1000 };

struct look {
    char *node;
    char *boot_id;     /* that it was asked about */
    unsigned question; /* 0: it is answered */
    bool off;
    uint64_t pause_ms, next; /* loop_now() time */
    UT_hash_handle hh;
};

struct machine_looks {
    struct controller *controller;
    struct task_group *group;
    struct look *looks;
    unsigned questions;
};

struct machine_looks *machine_looks_new(struct controller *controller, struct task_group *group)
{
    struct machine_looks *looks = mem_alloc(sizeof *looks);

    looks->controller = controller;
    looks->group = group;
    return looks;
}

static struct look *find(const struct machine_looks *looks, const char *node)
{
    struct look *look;

    HASH_FIND_STR(looks->looks, node, look);
    return look;
}

void machine_look_forget(struct machine_looks *looks, const char *node)
{
    struct look *look = find(looks, node);

    if (!look)
        return;
    HASH_DEL(looks->looks, look);
    free(look->node);
    free(look->boot_id);
    free(look);
}

void machine_looks_free(struct machine_looks *looks)
{
    HASH_FOREACH(looks->looks, look)
        machine_look_forget(looks, look->node);
    free(looks);
}

/* ---- what is known ---- */

enum machine_look machine_look_of(const struct machine_looks *looks, const struct kube_object *node)
{
    const struct look *look = find(looks, node->metadata->name);
    const Api__Node *message = KUBE_AS(Api__Node, node);
    const char *boot_id = node_boot_id(message);

    /* The name alone is a guess, and that there is no machine of it proves nothing. */
    if (!node_provider_id(message) || !boot_id)
        return MACHINE_IS_UNKNOWN;
    if (!look || !same_text(look->boot_id, boot_id))
        return MACHINE_TO_ASK;
    if (look->question)
        return MACHINE_ASKED;
    if (look->off)
        return MACHINE_IS_OFF;
    return loop_now(looks->controller->loop) >= look->next ? MACHINE_TO_ASK : MACHINE_MAY_RUN;
}

static struct err *machine_of(const struct controller *controller, const struct kube_object *node,
                              char **ret_id)
{
    const char *provider_id = node_provider_id(KUBE_AS(Api__Node, node));

    if (!provider_id)
        return err_new(ERR_NOT_FOUND, "node %s does not say which machine it is",
                       node->metadata->name);
    return controller->cloud->ops->instance_id(controller->cloud, node->metadata->name, provider_id,
                                               ret_id);
}

/* ---- asking ---- */

struct asking {
    struct machine_looks *looks;
    struct kube_object *node; /* referenced */
    unsigned question;
};

static bool is_of_a_node(const struct controller *controller, const char *machine)
{
    STORE_FOREACH(controller->nodes, node) {
        CLEANUP(freep) char *id = NULL;
        CLEANUP(err_freep)
        struct err *err = machine_of(controller, node, &id);

        if (!err && strcasecmp(id, machine) == 0)
            return true;
    }
    return false;
}

/* Of one whose own Node was deleted as well, the record of its attachment tells. */
static bool is_on_record(const struct controller *controller,
                         const Api__AzVolumeAttachmentSpec *asked, const char *machine)
{
    size_t n = 0;
    struct kube_object *const *found =
        asked->volume_name ? attachments_of_volume(controller, asked->volume_name, &n) : NULL;

    for (size_t i = 0; i < n; i++) {
        const Api__AzVolumeAttachment *other = as_attachment(found[i]);
        const char *id = attachment_annotation(other, ANNOTATION_VM);

        if (id && strcasecmp(id, machine) == 0 &&
            !same_text(other->spec->node_name, asked->node_name))
            return true;
    }
    return false;
}

static struct err *look_at_disk(struct task *self, const struct controller *controller,
                                const struct kube_object *attachment, const char *machine,
                                bool *ret_elsewhere)
{
    const Api__AzVolumeAttachmentSpec *spec = as_attachment(attachment)->spec;
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};

    if (!spec || !spec->volume__id)
        return NULL;
    TRY(err_unless(
        controller->cloud->ops->disk_get(self, controller->cloud, spec->volume__id, &disk),
        ERR_NOT_FOUND));
    for (size_t i = 0; i < disk.n_instances; i++)
        if (strcasecmp(disk.instances[i], machine) != 0 &&
            !is_of_a_node(controller, disk.instances[i]) &&
            !is_on_record(controller, spec, disk.instances[i]))
            *ret_elsewhere = true;
    return NULL;
}

/* What was moved to another resource group may run, by another id and with its disks. */
static struct err *look_for_moved(struct task *self, const struct controller *controller,
                                  const char *node, const char *machine, bool *ret)
{
    size_t n;
    struct kube_object *const *found = store_find(controller->attachments_by_node, node, &n);
    CLEANUP(freep) struct kube_object **attachments = mem_copy(found, n * sizeof *found);
    struct err *err = NULL;

    *ret = false;
    for (size_t i = 0; i < n; i++)
        kube_object_ref(attachments[i]);
    for (size_t i = 0; i < n; i++) {
        if (!err)
            err = look_at_disk(self, controller, attachments[i], machine, ret);
        kube_object_unref(attachments[i]);
    }
    return err;
}

static struct err *ask_cloud(struct task *self, const struct asking *asking, bool *ret_off)
{
    const struct controller *controller = asking->looks->controller;
    CLEANUP(freep) char *id = NULL;
    enum cloud_power power;
    bool moved = false;

    TRY(machine_of(controller, asking->node, &id));
    TRY(controller->cloud->ops->instance_power(self, controller->cloud, id, &power));
    if (power == CLOUD_IS_GONE)
        TRY(look_for_moved(self, controller, asking->node->metadata->name, id, &moved));
    *ret_off = power != CLOUD_MAY_RUN && !moved;
    return NULL;
}

/* A failure is as good as the answer that it may run. */
static void note(struct look *look, uint64_t now, bool off)
{
    uint64_t longer = 2 * look->pause_ms;

    look->question = 0;
    look->off = off;
    look->pause_ms = longer < LEAST_PAUSE_MS  ? LEAST_PAUSE_MS
                     : longer > MOST_PAUSE_MS ? MOST_PAUSE_MS
                                              : longer;
    look->next = now + look->pause_ms;
}

static void run(struct task *self, void *arg)
{
    struct asking *asking = arg;
    struct controller *controller = asking->looks->controller;
    const char *name = asking->node->metadata->name;
    bool off = false;
    CLEANUP(err_freep) struct err *err = ask_cloud(self, asking, &off);
    struct look *look = find(asking->looks, name);

    if (err && err_kind(err) != ERR_CANCELED)
        log_warning("node %s: whether its machine is off is not known: %s", name, err_message(err));
    /* Else nobody waits for it any more. */
    if (look && look->question == asking->question && !task_is_cancelled(self)) {
        note(look, loop_now(controller->loop), off);
        enqueue(controller, FAILOVER_QUEUE, name);
    }
    kube_object_unref(asking->node);
    free(asking);
}

static struct look *look_of(struct machine_looks *looks, const struct kube_object *node)
{
    struct look *look = find(looks, node->metadata->name);
    const char *boot_id = node_boot_id(KUBE_AS(Api__Node, node));

    if (look && same_text(look->boot_id, boot_id))
        return look;
    machine_look_forget(looks, node->metadata->name);
    look = mem_alloc(sizeof *look);
    look->node = mem_strdup(node->metadata->name);
    look->boot_id = mem_strdup(boot_id);
    HASH_ADD_KEYPTR(hh, looks->looks, look->node, strlen(look->node), look);
    return look;
}

void machine_look_begin(struct machine_looks *looks, struct kube_object *node)
{
    if (machine_look_of(looks, node) != MACHINE_TO_ASK)
        return;
    struct look *look = look_of(looks, node);
    struct asking *asking = mem_alloc(sizeof *asking);

    look->question = ++looks->questions;
    *asking =
        (struct asking){.looks = looks, .node = kube_object_ref(node), .question = look->question};
    if (!group_spawn(looks->group, "machine look", run, asking)) {
        kube_object_unref(asking->node);
        free(asking);
    }
}
