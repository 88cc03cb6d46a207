#include "node/node_lease.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/kube/lease_spec.h"
#include "node/boot_id.h"
#include "node/metrics.h"
#include "provisioner-lib/records/attachment.h"
#include "provisioner-lib/records/fence_note.h"

enum { LONGEST_CALL_MS = KUBE_CALL_TIMEOUT_MS / 2 };

uint64_t node_lease_period_ms(const struct settings *settings)
{
    return settings->node_lease_duration_ms / NODE_LEASE_RENEWALS;
}

/* ---- when ---- */

bool node_lease_is_for(const Api__AzVolumeAttachment *attachment)
{
    return attachment_is(attachment, ROLE_PRIMARY) && !fence_note_is_lost(attachment) &&
           attachment_wants_automatic_failover(attachment);
}

/* A failure is tried again after a period, never before, never later. What has not failed does not
 * wait, unless it is a renewal. */
enum node_lease_step node_lease_plan(const struct node_lease_view *view)
{
    bool again = view->due || !view->failed;

    if (view->stopping && view->state == NODE_LEASE_FREE)
        return NODE_LEASE_END;
    if (!view->stopping && !view->known)
        return NODE_LEASE_WAIT;
    if (!view->stopping && view->wanted)
        return view->due || (again && view->state != NODE_LEASE_HELD) ? NODE_LEASE_RENEW
                                                                      : NODE_LEASE_WAIT;
    return again && view->state != NODE_LEASE_FREE ? NODE_LEASE_GIVE_UP : NODE_LEASE_WAIT;
}

/* ---- writing it ---- */

struct holder {
    struct node *node;
    struct kube *kube; /* whose calls take no longer than a period */
    enum node_lease_state state;
    bool failed;
    uint64_t due; /* loop_now() time */
};

static json_t *lease_of(const struct node *node, json_t *spec)
{
    return json_pack("{s:{s:s, s:{s:s}}, s:o}", "metadata", "name", node->settings.node_id,
                     "labels", LABEL_NODE_LEASE, "true", "spec", spec);
}

static struct err *patch(struct task *self, const struct holder *holder, const json_t *lease)
{
    const struct settings *settings = &holder->node->settings;

    return kube_patch(self, holder->kube, &LEASES, settings->namespace_, settings->node_id, NULL,
                      lease, NULL);
}

/* Nobody else writes to it, and one that is there, of a former life, is ours. */
static struct err *renew(struct task *self, const struct holder *holder)
{
    struct node *node = holder->node;
    CLEANUP(freep) char *boot_id = NULL;

    TRY(boot_id_read(&boot_id));
    CLEANUP(json_decrefp)
    json_t *lease =
        lease_of(node, lease_spec_held(boot_id, node->settings.node_lease_duration_ms,
                                       loop_wall_us(node->loop), holder->state != NODE_LEASE_HELD));
    struct err *err = patch(self, holder, lease);
    if (!err || err_kind(err) != ERR_NOT_FOUND)
        return err;
    err_free(err);
    return kube_create(self, holder->kube, &LEASES, node->settings.namespace_, lease, NULL);
}

static struct err *give_up(struct task *self, const struct holder *holder)
{
    struct node *node = holder->node;
    CLEANUP(json_decrefp)
    json_t *lease = lease_of(node, lease_spec_free(loop_wall_us(node->loop)));

    return err_unless(patch(self, holder, lease), ERR_NOT_FOUND);
}

static void note(struct holder *holder, const struct err *err)
{
    if (err && err_kind(err) == ERR_CANCELED)
        return;
    metric_add(&METRIC_NODE_LEASE, 1, err ? "failed" : "ok");
    if (err && !holder->failed)
        log_error("the node's Lease cannot be written, and is tried again each renewal period: %s",
                  err_message(err));
    else if (!err && holder->failed)
        log_info("the node's Lease is written again");
    holder->failed = err != NULL;
}

static void write(struct task *self, struct holder *holder, enum node_lease_step step)
{
    struct loop *loop = holder->node->loop;
    bool renews = step == NODE_LEASE_RENEW;

    holder->due = loop_deadline(loop, node_lease_period_ms(&holder->node->settings));
    CLEANUP(err_freep) struct err *err = renews ? renew(self, holder) : give_up(self, holder);

    note(holder, err);
    if (!err)
        holder->state = renews ? NODE_LEASE_HELD : NODE_LEASE_FREE;
}

/* ---- its life ---- */

static struct node_lease_view view_of(const struct holder *holder)
{
    const struct node *node = holder->node;
    struct node_lease_view view = {
        .state = holder->state,
        .known = store_is_synced(node->attachments),
        .stopping = node->stopping,
        .failed = holder->failed,
        .due = loop_now(node->loop) >= holder->due,
    };

    STORE_FOREACH(node->attachments, object)
        view.wanted |= node_lease_is_for(as_attachment(object));
    return view;
}

static void run(struct task *self, void *arg)
{
    struct node *node = arg;
    uint64_t period = node_lease_period_ms(&node->settings);
    struct holder holder = {
        .node = node,
        .kube = kube_urgent(node->kube, period < LONGEST_CALL_MS ? period : LONGEST_CALL_MS),
    };

    while (!task_is_cancelled(self)) {
        struct node_lease_view view = view_of(&holder);
        enum node_lease_step step = node_lease_plan(&view);

        if (step == NODE_LEASE_END)
            break;
        if (step == NODE_LEASE_WAIT)
            err_free(wait_for_change(self, &node->changed, view.due ? TIMER_NEVER : holder.due));
        else
            write(self, &holder, step);
    }
    kube_free(holder.kube);
}

void node_lease_start(struct node *node, struct task_group *group)
{
    if (node_lease_period_ms(&node->settings))
        group_spawn(group, "node's Lease", run, node);
}
