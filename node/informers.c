#include "node/informers.h"

#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/kube/reflector.h"
#include "lib/program/shared_metrics.h"
#include "node/boot_id.h"
#include "provisioner-lib/records/names.h"

enum { NEW_ATTACHMENT_MS = 5 * 1000 }; /* for which one that was just made may be on its way */

/* ---- the stores ---- */

static void object_changed(void *ctx, struct kube_object *before, struct kube_object *after)
{
    struct node *node = ctx;

    (void)before, (void)after;
    node_changed(node);
    host_reconsider(node->host);
}

/* A list without objects changes none, but is news all the same. */
static void await_first_lists(struct task *self, void *arg)
{
    struct node *node = arg;
    CLEANUP(err_freep) struct err *err = store_wait_synced(self, node->attachments, TIMER_NEVER);

    if (!err)
        err = store_wait_synced(self, node->driver_nodes, TIMER_NEVER);
    node_changed(node);
}

void informers_start(struct node *node, struct task_group *group)
{
    struct reflector_config config = {.kube = node->kube,
                                      .namespace_ = node->settings.namespace_,
                                      .few = true,
                                      .failed = metrics_watch_failed};
    CLEANUP(freep) char *node_label = label_value_of(node->settings.node_id);

    node->attachments_selector = mem_printf(LABEL_NODE "=%s", node_label);
    node->own_selector = mem_printf("metadata.name=%s", node->settings.node_id);
    node->attachments = store_new(&AZ_VOLUME_ATTACHMENTS);
    node->attachments_by_volume = store_add_index(node->attachments, attachment_index_by_disk);
    node->driver_nodes = store_new(&AZ_DRIVER_NODES);
    store_observe(node->attachments, object_changed, node);
    store_observe(node->driver_nodes, object_changed, node);

    config.store = node->attachments;
    config.label_selector = node->attachments_selector;
    reflector_start(group, &config);
    config.store = node->driver_nodes;
    config.label_selector = NULL;
    config.field_selector = node->own_selector;
    reflector_start(group, &config);
    group_spawn(group, "first lists", await_first_lists, node);
}

void informers_free(struct node *node)
{
    store_free(node->attachments);
    store_free(node->driver_nodes);
    free(node->attachments_selector);
    free(node->own_selector);
}

/* ---- attachments ---- */

struct kube_object *informers_find_attachment(const struct node *node, const char *volume_id)
{
    CLEANUP(freep) char *volume = mem_lower(volume_id);
    size_t n;
    struct kube_object *const *found = store_find(node->attachments_by_volume, volume, &n);

    return n > 0 ? found[0] : NULL;
}

struct err *informers_await_first_list(struct task *self, struct node *node, uint64_t deadline)
{
    struct err *err = store_wait_synced(self, node->attachments, deadline);

    if (!err || err_kind(err) != ERR_TIMEOUT)
        return err;
    err_free(err);
    return err_new(ERR_UNAVAILABLE, "the cluster's objects have not been read yet");
}

/* Before the first list is read, absence means nothing. */
static struct err *not_there(const struct node *node, uint64_t *absent_since)
{
    uint64_t now = loop_now(node->loop);

    if (!store_is_synced(node->attachments))
        return err_new(ERR_BUSY, "the cluster's objects have not been read yet");
    if (*absent_since == 0)
        *absent_since = now;
    return err_new(
        now - *absent_since < NEW_ATTACHMENT_MS ? ERR_BUSY : ERR_NOT_FOUND,
        "the volume has not been published to node %s: it has no AzVolumeAttachment for this node",
        node->settings.node_id);
}

static struct err *too_late(const struct err *waiting)
{
    return err_new(ERR_TIMEOUT, "timed out: %s", err_message(waiting));
}

/* At `until` it is time to look, whether anything has changed or not. */
static struct err *await_change(struct task *self, struct node *node, uint64_t until)
{
    return err_unless(wait_for_change(self, &node->changed, until), ERR_TIMEOUT);
}

struct err *informers_await_attachment(struct task *self, struct node *node, const char *volume_id,
                                       uint64_t deadline, struct kube_object **ret_object,
                                       struct attachment_place *ret_place)
{
    uint64_t absent_since = 0;

    for (;;) {
        struct kube_object *object = informers_find_attachment(node, volume_id);
        CLEANUP(err_freep)
        struct err *err = object ? attachment_check(as_attachment(object), ret_place)
                                 : not_there(node, &absent_since);

        if (!err) {
            *ret_object = kube_object_ref(object);
            return NULL;
        }
        if (err_kind(err) != ERR_BUSY)
            return TAKE_PTR(err);
        if (loop_now(node->loop) >= deadline)
            return too_late(err);
        if (object)
            absent_since = 0;

        uint64_t until = absent_since ? absent_since + NEW_ATTACHMENT_MS : deadline;
        TRY(await_change(self, node, until < deadline ? until : deadline));
    }
}

struct err *informers_await_boot(struct task *self, struct node *node, const char *volume_id,
                                 uint64_t deadline)
{
    CLEANUP(freep) char *boot_id = NULL;

    TRY(boot_id_read(&boot_id));
    for (;;) {
        const struct kube_object *object = informers_find_attachment(node, volume_id);
        CLEANUP(err_freep)
        struct err *err = object ? attachment_check_boot(as_attachment(object), boot_id) : NULL;

        if (!err)
            return NULL;
        if (loop_now(node->loop) >= deadline)
            return too_late(err);
        TRY(await_change(self, node, deadline));
    }
}

/* ---- the node ---- */

const Api__AzDriverNode *informers_driver_node(const struct node *node)
{
    const struct kube_object *object = store_next(node->driver_nodes, NULL);

    return object ? KUBE_AS(Api__AzDriverNode, object) : NULL;
}

int informers_slot_limit(const struct node *node)
{
    const Api__AzDriverNode *object = informers_driver_node(node);
    const Api__AzDriverNodeStatus *status = object ? object->status : NULL;

    return status && status->slots && status->slots->has_limit ? status->slots->limit : -1;
}

int informers_slots_taken(const struct node *node)
{
    int taken = 0;

    if (!store_is_synced(node->attachments))
        return -1;
    STORE_FOREACH(node->attachments, object)
        taken += attachment_holds_place(as_attachment(object));
    return taken;
}
