#include "controller/failover/work.h"

#include <stdlib.h>
#include <string.h>

#include "controller/attachment/snapshot.h"
#include "controller/cache/colocation.h"
#include "controller/cache/informers.h"
#include "controller/cache/published.h"
#include "controller/failover/deleted_nodes.h"
#include "controller/failover/machine_look.h"
#include "controller/failover/node_leases.h"
#include "controller/failover/pods.h"
#include "controller/failover/proof.h"
#include "controller/failover/stand_in.h"
#include "controller/failover/taint.h"
#include "lib/base/alloc.h"
#include "lib/base/text.h"
#include "lib/kube/node.h"
#include "lib/kube/pod_claim.h"
#include "lib/kube/pv_source.h"
#include "provisioner-lib/records/fence_note.h"

enum {
    PATIENCE_MS = 2000, /* for the first replica that was asked */
    LEAST_SILENT = 2,   /* nodes at once, however few there are */
    PERCENT = 100,
};

/* ---- volumes ---- */

/* As their nodes see it: what is to be unpublished may be mounted still. */
static bool is_primary(const Api__AzVolumeAttachment *attachment)
{
    return attachment_wants(attachment, ROLE_PRIMARY) || attachment_is(attachment, ROLE_PRIMARY);
}

/* An answer is good for this silence only, or for this deletion. */
static const char *occasion_of(const struct failover_work *work)
{
    return work->in.deleted ? work->node->metadata->uid : work->since;
}

/* The plug-in of a deleted Node may live, and say that its fence is lost as soon as it is. */
static uint64_t key_of(const struct failover_work *work, const Api__AzVolumeAttachment *attachment)
{
    return work->in.deleted ? fence_note_last_key(attachment) : fence_note_key(attachment);
}

static char *request_of(const struct failover_work *work, const Api__AzVolumeAttachment *attachment)
{
    const char *occasion = occasion_of(work);
    uint64_t key = key_of(work, attachment);

    return occasion && key ? preempt_request_text(key, fence_note_generation(attachment), occasion)
                           : NULL;
}

static const char *request_on_record(const struct kube_object *object)
{
    return attachment_annotation(as_attachment(object), ANNOTATION_PREEMPT_REQUEST);
}

/* Its node is heard of and has the disk, and pods may come there. */
static bool can_preempt(const struct controller *controller, const struct kube_object *object)
{
    const Api__AzVolumeAttachment *attachment = as_attachment(object);
    const char *name = attachment->spec->node_name;
    const struct kube_object *node = name ? store_get(controller->nodes, name) : NULL;

    return !is_primary(attachment) && attachment_is(attachment, ROLE_REPLICA) &&
           strcmp(attachment_state(attachment), STATE_ATTACHED) == 0 &&
           attachment_lun(attachment) != NO_LUN && !kube_is_deleting(object->metadata) && node &&
           node_is_ready(KUBE_AS(Api__Node, node)) &&
           !node_has_failed_over(KUBE_AS(Api__Node, node)) &&
           !node_silence_of(controller, name).since;
}

/* One that is not ready may not even reach its disk. */
static bool goes_before(const struct kube_object *a, const struct kube_object *b)
{
    bool a_ready = !attachment_unready_reason(as_attachment(a));
    bool b_ready = !attachment_unready_reason(as_attachment(b));

    return a_ready != b_ready ? a_ready : strcmp(a->key, b->key) < 0;
}

static void add_replica(struct failover_work *work, struct failover_disk *disk,
                        struct failover_volume *volume, struct kube_object *object)
{
    const char *asked = request_on_record(object);
    bool answered = preempt_is_answered(object, asked);

    volume->proven = volume->proven || preempt_is_proven(object, disk->request);
    if (asked && !answered) {
        ARRAY_ADD(work->unanswered, work->in.n_unanswered) = (struct failover_request){
            .attachment = kube_object_ref(object), .volume = work->in.n_volumes};
        volume->n_unanswered++;
    }
    if (!can_preempt(work->controller, object))
        return;
    volume->n_replicas++;
    if (disk->request && same_text(asked, disk->request))
        volume->n_asked++;
    else if (!disk->to_ask || goes_before(object, disk->to_ask)) {
        kube_object_unref(disk->to_ask);
        disk->to_ask = kube_object_ref(object);
    }
}

static void add_volume(struct failover_work *work, struct kube_object *object)
{
    const Api__AzVolumeAttachment *attachment = as_attachment(object);
    size_t n_disks = work->in.n_volumes, n;
    struct failover_disk disk = {.attachment = kube_object_ref(object),
                                 .request = request_of(work, attachment)};
    struct failover_volume volume = {.wanted = attachment_wants_automatic_failover(attachment),
                                     .fenced = disk.request != NULL};
    struct kube_object *const *siblings =
        attachments_of_volume(work->controller, attachment->spec->volume_name, &n);

    for (size_t i = 0; i < n; i++)
        if (siblings[i] != object)
            add_replica(work, &disk, &volume, siblings[i]);
    ARRAY_ADD(work->disks, n_disks) = disk;
    ARRAY_ADD(work->volumes, work->in.n_volumes) = volume;
}

static void add_volumes(struct failover_work *work)
{
    size_t n;
    struct kube_object *const *objects =
        store_find(work->controller->attachments_by_node, work->name, &n);

    for (size_t i = 0; i < n; i++) {
        const Api__AzVolumeAttachment *attachment = as_attachment(objects[i]);

        if (attachment->spec && attachment->spec->volume_name && is_primary(attachment))
            add_volume(work, objects[i]);
    }
    work->in.volumes = work->volumes;
}

/* While one of them is the primary on record, it would stay so until it is detached. */
static bool is_demoting(const Api__AzVolumeAttachment *attachment)
{
    return !attachment_wants(attachment, ROLE_PRIMARY) && attachment_is(attachment, ROLE_PRIMARY);
}

static void add_unreleased(struct failover_work *work)
{
    size_t n;
    struct kube_object *const *objects =
        store_find(work->controller->volume_attachments_by_node, work->name, &n);

    for (size_t i = 0; i < n; i++)
        work->in.n_unreleased += volume_attachment_is_ours(work->controller, objects[i]);
    for (size_t i = 0; i < work->in.n_volumes; i++)
        work->in.n_unreleased += is_demoting(as_attachment(work->disks[i].attachment));
}

/* What was unpublished as if the node did not write to it. While it is the primary on record still,
 * it would stay so until it is detached, and hold up the one that follows. */
static void add_left(struct failover_work *work)
{
    size_t n;
    struct kube_object *const *objects =
        store_find(work->controller->attachments_by_node, work->name, &n);

    for (size_t i = 0; i < n; i++) {
        if (!attachment_annotation(as_attachment(objects[i]), ANNOTATION_FENCE))
            continue;
        work->in.n_leaving += kube_is_deleting(objects[i]->metadata);
        if (attachment_phase_of(work->controller, objects[i]) != PHASE_REPLICA_ATTACHED)
            continue;
        if (work->in.n_left++ == 0)
            work->left = kube_object_ref(objects[i]);
    }
}

/* ---- what is not ours to prove ---- */

/* `text` is taken. */
static void add_foreign(struct failover_work *work, char *text)
{
    if (work->in.n_foreign++ == 0)
        work->foreign = text;
    else
        free(text);
}

size_t failover_work_find(const struct failover_work *work, const char *volume)
{
    size_t i = 0;

    while (i < work->in.n_volumes &&
           !same_text(as_attachment(work->disks[i].attachment)->spec->volume_name, volume))
        i++;
    return i;
}

static void add_foreign_attachments(struct failover_work *work)
{
    size_t n;
    struct kube_object *const *objects =
        store_find(work->controller->volume_attachments_by_node, work->name, &n);

    for (size_t i = 0; i < n; i++) {
        bool ours = volume_attachment_is_ours(work->controller, objects[i]);
        CLEANUP(freep)
        char *volume = ours ? volume_of_volume_attachment(work->controller, objects[i]) : NULL;

        if (failover_work_find(work, volume) == work->in.n_volumes)
            add_foreign(work,
                        mem_printf("VolumeAttachment %s is %s", objects[i]->metadata->name,
                                   ours ? "not on record as published there" : "another driver's"));
    }
}

static void add_foreign_mounts(struct failover_work *work)
{
    const Api__Node *node = KUBE_AS(Api__Node, work->node);

    for (size_t i = 0; i < node_count_in_use(node); i++)
        if (!node_volume_in_use(node, work->controller->settings.driver_name, i))
            add_foreign(work, mem_printf("%s, which kubelet reports in use, is another driver's",
                                         node->status->volumes_in_use[i]));
}

static bool is_ours(const struct controller *controller, const char *claim)
{
    size_t n;
    struct kube_object *const *found = volumes_of_claim(controller, claim, &n);

    return n > 0 && pv_is_of_driver(KUBE_AS(Api__PersistentVolume, found[0])->spec,
                                    controller->settings.driver_name);
}

/* What needs no attachment is in no VolumeAttachment. */
static void add_foreign_claims(struct failover_work *work, const Api__Pod *pod)
{
    for (size_t i = 0; i < pod->spec->n_volumes; i++) {
        CLEANUP(freep) char *claim = pod_claim_key(pod, pod->spec->volumes[i]);

        if (claim && !is_ours(work->controller, claim))
            add_foreign(work, mem_printf("claim %s of pod %s is not this driver's", claim,
                                         pod->metadata->name));
    }
}

static void add_all_foreign(struct failover_work *work)
{
    add_foreign_attachments(work);
    add_foreign_mounts(work);
    if (!informers_has_pods(work->controller))
        add_foreign(work, mem_strdup("the pods are not known yet"));
    STORE_FOREACH(work->controller->pods, object) {
        const Api__Pod *pod = KUBE_AS(Api__Pod, object);

        if (pod->spec && same_text(pod->spec->node_name, work->name))
            add_foreign_claims(work, pod);
    }
}

/* ---- all of it ---- */

static void add_node(struct failover_work *work)
{
    const Api__Node *node = KUBE_AS(Api__Node, work->node);
    const char *boot_id = node_boot_id(node), *given_up = failover_taint_boot_id(node);
    const char *moved = failover_taint_moved_boot_id(node);
    const char *former = given_up ? given_up : moved;

    work->in.has_boot_id = boot_id != NULL;
    if (work->in.deleted)
        return;
    work->in.of_other_boot =
        work->in.silent && !node_silence_is_of_boot(work->controller, work->name, boot_id);
    work->in.has_node = true;
    work->in.ready = node_is_ready(node);
    work->in.out_of_service = node_is_out_of_service(node);
    work->in.ours = given_up != NULL;
    work->in.stand_in = failover_taint_is_stand_in(node);
    work->in.registered = stand_in_is_registered(work->node);
    work->in.moved = node_has_failed_over(node);
    work->in.booted = former && boot_id && strcmp(former, boot_id) != 0;
}

unsigned failover_most_silent(const struct controller *controller)
{
    unsigned share = (unsigned)(store_count(controller->nodes) *
                                (uint64_t)controller->settings.failover_max_silent / PERCENT);

    return share > LEAST_SILENT ? share : LEAST_SILENT;
}

static void add_limits(struct failover_work *work)
{
    const struct controller *controller = work->controller;
    uint64_t begun = failover_begun(controller, work->name);

    work->in.begun = begun != 0;
    work->in.impatient = begun && loop_now(controller->loop) >= begun + PATIENCE_MS;
    work->in.n_overdue = node_leases_overdue_with(controller, work->name);
    work->in.n_overdue_most = failover_most_silent(controller);
    work->in.n_recent = failovers_begun_recently(controller);
    work->in.n_recent_most = MOST_FAILOVERS_A_MINUTE;
}

static void add_machine(struct failover_work *work)
{
    const struct machine_looks *looks = failover_machine_looks(work->controller);

    work->in.machine =
        looks && work->node ? machine_look_of(looks, work->node) : MACHINE_IS_UNKNOWN;
}

/* One that has come back meanwhile, or was never known, was not deleted. */
static struct kube_object *find_node(struct failover_work *work)
{
    struct kube_object *node = store_get(work->controller->nodes, work->name);

    if (node || !work->look.is_deleted)
        return node;
    node = deleted_node(work->controller, work->name);
    work->in.deleted = node != NULL;
    return node;
}

void failover_work_gather(struct controller *controller, const char *name,
                          struct failover_look look, struct failover_work *ret)
{
    struct node_silence silence = node_silence_of(controller, name);
    struct kube_object *node;

    *ret = (struct failover_work){
        .controller = controller, .name = name, .look = look, .since = mem_strdup(silence.since)};
    ret->in.silent = silence.since && look.kubelet_is_silent;
    node = find_node(ret);
    if (node) {
        ret->node = kube_object_ref(node);
        add_node(ret);
    }
    add_volumes(ret);
    add_unreleased(ret);
    if ((ret->in.ours || ret->in.moved) && !ret->in.booted)
        add_left(ret);
    if (node && (ret->in.silent || ret->in.deleted)) {
        add_all_foreign(ret);
        failover_pods_gather(ret);
    }
    add_limits(ret);
    add_machine(ret);
}

void failover_work_fini(struct failover_work *work)
{
    for (size_t i = 0; i < work->in.n_volumes; i++) {
        kube_object_unref(work->disks[i].attachment);
        kube_object_unref(work->disks[i].to_ask);
        free(work->disks[i].request);
    }
    for (size_t i = 0; i < work->in.n_unanswered; i++)
        kube_object_unref(work->unanswered[i].attachment);
    failover_pods_fini(work);
    kube_object_unref(work->left);
    kube_object_unref(work->node);
    free(work->disks);
    free(work->volumes);
    free(work->unanswered);
    free(work->foreign);
    free(work->since);
}
