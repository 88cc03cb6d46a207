#include "azdiskctl/move.h"

#include <string.h>

#include "azdiskctl/document.h"
#include "azdiskctl/listed.h"
#include "azdiskctl/pod_owner.h"
#include "azdiskctl/successor.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/base/text.h"
#include "lib/rt/wait.h"
#include "provisioner-lib/records/names.h"

/* Between two looks at the pods: of one owner, or of the whole namespace. */
enum { LOOK_MS = 250, LOOK_AT_ALL_MS = 1000, MS_IN_S = 1000 };

/* At a pod whose eviction had no answer: one that is carried out late has begun by then. */
enum { MOST_LOOKS = 5 };

static const char *const phase_names[MOVE_PHASES] = {
    [MOVE_ENDED] = "ended",
    [MOVE_SCHEDULED] = "scheduled",
    [MOVE_PRIMARY] = "primary",
    [MOVE_READY] = "ready",
};

static struct err *find_pods(struct task *self, const struct move *move, struct listed *ret)
{
    const struct kube_query query = {.label_selector = move->selector};

    return listed_read(self, move->kube, &PODS, move->pod->metadata->namespace_, &query, ret);
}

/* ---- the beginning ---- */

/* `ret_known` false of a kind that azdiskctl takes at its word; `ret_selector`: free() it. */
static struct err *check_owner(struct task *self, struct kube *kube, const struct kube_object *pod,
                               bool *ret_known, char **ret_selector)
{
    const Api__OwnerReference *reference = pod_controller(KUBE_AS(Api__Pod, pod));
    CLEANUP(json_decrefp) json_t *owner = NULL;

    TRY(pod_owner_read(self, kube, pod->metadata->namespace_, reference, ret_known, &owner));
    if (!*ret_known)
        return NULL;
    CLEANUP(freep) char *refusal = pod_owner_refusal(reference, owner);
    if (refusal)
        return err_new(ERR_PRECONDITION, "pod %s would not be made again: %s", pod->key, refusal);
    *ret_selector = pod_owner_selector(owner);
    return NULL;
}

struct err *move_check(struct task *self, struct kube *kube, const struct dependency_chains *chains)
{
    CLEANUP(freep) char *selector = NULL;
    bool known;

    return check_owner(self, kube, chains->items[0].pod, &known, &selector);
}

struct err *move_begin(struct task *self, struct kube *kube, struct steps *steps,
                       const char *object_namespace, const struct dependency_chains *chains,
                       struct move *ret)
{
    CLEANUP(listed_fini) struct listed pods = {0};
    bool known;

    *ret = (struct move){.kube = kube,
                         .steps = steps,
                         .object_namespace = object_namespace,
                         .pod = chains->items[0].pod,
                         .chains = chains};
    for (int i = 0; i < MOVE_PHASES; i++)
        ret->after[i] = MOVE_UNSEEN;
    TRY(check_owner(self, kube, ret->pod, &known, &ret->selector));
    if (!known)
        steps_say(steps,
                  "the controller of pod %s is of a kind that azdiskctl does not know: it takes it "
                  "that the pod is made again",
                  ret->pod->key);
    TRY(find_pods(self, ret, &pods));
    for (size_t i = 0; i < pods.list.n; i++)
        if (pods.items[i]->metadata->uid)
            string_set_add(&ret->known, pods.items[i]->metadata->uid);
    return NULL;
}

void move_fini(struct move *move)
{
    string_set_clear(&move->known);
    free(move->selector);
    free(move->successor);
    free(move->successor_uid);
    free(move->node);
    *move = (struct move){0};
}

/* ---- the eviction ---- */

static bool is_gone_already(const struct err *err)
{
    return err && (err_kind(err) == ERR_NOT_FOUND || err_kind(err) == ERR_CONFLICT);
}

/* The eviction may have been carried out, but for those who answer that it was not. */
static bool is_in_doubt(const struct err *err)
{
    if (!err || is_gone_already(err) || kube_is_internal_error(err))
        return false;
    return err_kind(err) == ERR_CANCELED ||
           (err_is_transient(err) && err_kind(err) != ERR_THROTTLED &&
            err_kind(err) != ERR_NOT_SENT);
}

static struct err *was_evicted(struct task *self, const struct move *move, bool *ret)
{
    const Api__ObjectMeta *pod = move->pod->metadata;
    CLEANUP(freep) char *selector = mem_printf("metadata.name=%s", pod->name);
    const struct kube_query query = {.field_selector = selector};
    CLEANUP(listed_fini) struct listed pods = {0};

    TRY(listed_read(self, move->kube, &PODS, pod->namespace_, &query, &pods));
    *ret = true;
    for (size_t i = 0; i < pods.list.n; i++)
        if (same_text(pods.items[i]->metadata->uid, pod->uid))
            *ret = kube_is_deleting(pods.items[i]->metadata);
    return NULL;
}

/* While the API server is away, until the deadline. */
static struct err *look_whether_evicted(struct task *self, const struct move *move,
                                        uint64_t deadline, bool *ret)
{
    for (unsigned looks = 0;;) {
        struct err *err = was_evicted(self, move, ret);

        if (!err && (*ret || ++looks == MOST_LOOKS))
            return NULL;
        if (err && (!err_is_transient(err) || loop_now(loop_of(self)) >= deadline))
            return err;
        err_free(err);
        TRY(task_sleep(self, LOOK_AT_ALL_MS));
    }
}

/* `err` is what has become of the answer. */
static struct err *resolve(struct task *self, struct move *move, uint64_t deadline, struct err *err)
{
    bool evicted = false;

    steps_say(move->steps, "looking whether pod %s was evicted: %s", move->pod->key,
              err_message(err));
    struct err *unknown = look_whether_evicted(self, move, deadline, &evicted);

    if (unknown && err_kind(unknown) == ERR_CANCELED) {
        err_free(err);
        return unknown;
    }
    move->in_doubt = unknown != NULL;
    err_free(unknown);
    if (move->in_doubt)
        return err_wrap(err, "whether pod %s was evicted is not known", move->pod->key);
    if (!evicted)
        return err;
    err_free(err);
    return NULL;
}

struct err *move_evict(struct task *self, struct move *move, uint64_t deadline)
{
    const Api__ObjectMeta *pod = move->pod->metadata;
    uint64_t asked = loop_now(loop_of(self));
    struct err *err = kube_evict(self, move->kube, pod->namespace_, pod->name, pod->uid);

    move->in_doubt = is_in_doubt(err);
    if (move->in_doubt && err_kind(err) != ERR_CANCELED)
        err = resolve(self, move, deadline, err);
    if (err && !is_gone_already(err))
        return err;
    move->evicted = asked;
    steps_say(move->steps, err ? "pod %s was gone already" : "evicted pod %s", move->pod->key);
    err_free(err);
    return NULL;
}

/* ---- what follows ---- */

static bool has(const struct move *move, enum move_phase phase)
{
    return move->after[phase] != MOVE_UNSEEN;
}

static void note(struct move *move, enum move_phase phase)
{
    move->after[phase] = loop_now(move->steps->loop) - move->evicted;
}

static bool is_primary_on(const struct object_list *attachments, const char *volume,
                          const char *node)
{
    for (size_t i = 0; i < attachments->n; i++)
        if (same_text(attachment_volume(attachments->items[i]), volume) &&
            same_text(attachment_node(attachments->items[i]), node) &&
            attachment_is(as_attachment(attachments->items[i]), ROLE_PRIMARY))
            return true;
    return false;
}

/* Of all the pod's volumes of ours. */
static struct err *look_at_volumes(struct task *self, struct move *move)
{
    for (size_t i = 0; i < move->chains->n; i++) {
        const struct kube_object *volume = move->chains->items[i].volume;
        CLEANUP(listed_fini) struct listed attachments = {0};

        if (!volume)
            continue;
        CLEANUP(freep) char *value = label_value_of(volume->metadata->name);
        CLEANUP(freep) char *label = mem_printf(LABEL_VOLUME "=%s", value);
        const struct kube_query query = {.label_selector = label};
        TRY(listed_read(self, move->kube, &AZ_VOLUME_ATTACHMENTS, move->object_namespace, &query,
                        &attachments));
        if (!is_primary_on(&attachments.list, volume->metadata->name, move->node))
            return NULL;
    }
    note(move, MOVE_PRIMARY);
    steps_say(move->steps, "its volumes are primary on node %s", move->node);
    return NULL;
}

/* One that has failed there may be followed by another one. */
static void look_at_node(struct move *move, const struct kube_object *successor)
{
    const Api__PodSpec *spec = KUBE_AS(Api__Pod, successor)->spec;
    const char *node = spec ? spec->node_name : NULL;

    if (!node || !*node ||
        (same_text(move->successor_uid, successor->metadata->uid) && same_text(move->node, node)))
        return;
    free(move->successor);
    free(move->successor_uid);
    free(move->node);
    move->successor = mem_strdup(successor->key);
    move->successor_uid = mem_strdup(successor->metadata->uid);
    move->node = mem_strdup(node);
    move->after[MOVE_PRIMARY] = MOVE_UNSEEN;
    note(move, MOVE_SCHEDULED);
    steps_say(move->steps, "pod %s is on node %s", successor->key, node);
}

static struct err *look(struct task *self, struct move *move)
{
    CLEANUP(listed_fini) struct listed pods = {0};

    TRY(find_pods(self, move, &pods));
    struct succession succession =
        succession_of(&pods.list, KUBE_AS(Api__Pod, move->pod), &move->known);
    if (!succession.former_is_there && !has(move, MOVE_ENDED)) {
        note(move, MOVE_ENDED);
        steps_say(move->steps, "pod %s has ended on node %s", move->pod->key,
                  KUBE_AS(Api__Pod, move->pod)->spec->node_name);
    }
    if (!succession.successor)
        return NULL;
    look_at_node(move, succession.successor);
    if (move->node && !has(move, MOVE_PRIMARY))
        TRY(look_at_volumes(self, move));
    if (!pod_is_ready(KUBE_AS(Api__Pod, succession.successor)))
        return NULL;
    note(move, MOVE_READY);
    steps_say(move->steps, "pod %s is ready", move->successor);
    return NULL;
}

static struct err *overdue(const struct move *move)
{
    if (!has(move, MOVE_ENDED) && !move->node)
        return err_new(ERR_TIMEOUT, "pod %s has been evicted, and has not ended yet",
                       move->pod->key);
    if (!move->node)
        return err_new(ERR_TIMEOUT,
                       "pod %s has been evicted, and no pod in its place has come to a node yet: "
                       "see kubectl describe of the pods of its owner",
                       move->pod->key);
    return err_new(ERR_TIMEOUT, "pod %s is on node %s and not ready yet: see azdiskctl why pod/%s",
                   move->successor, move->node, strchr(move->successor, '/') + 1);
}

struct err *move_follow(struct task *self, struct move *move, uint64_t deadline)
{
    uint64_t pause = move->selector ? LOOK_MS : LOOK_AT_ALL_MS;

    while (!has(move, MOVE_READY)) {
        struct err *err = look(self, move);

        if (err && !err_is_transient(err))
            return err;
        err_free(err); /* the API server may be away for a moment */
        if (has(move, MOVE_READY))
            break;
        if (loop_now(loop_of(self)) >= deadline)
            return overdue(move);
        TRY(task_sleep(self, pause));
    }
    return NULL;
}

/* ---- what is told of it ---- */

json_t *move_json(const struct move *move)
{
    json_t *seconds = json_object();

    for (int i = 0; i < MOVE_PHASES; i++)
        if (has(move, (enum move_phase)i))
            json_object_set_new(seconds, phase_names[i],
                                json_real((double)move->after[i] / MS_IN_S));
    return json_pack("{s:s?, s:s?, s:o}", "successor", move->successor, "node", move->node,
                     "seconds", seconds);
}

char *move_gap_text(const json_t *move)
{
    const json_t *seconds = json_object_get(move, "seconds");
    const json_t *ready = json_object_get(seconds, phase_names[MOVE_READY]);
    struct buffer text;

    buffer_init(&text, 1 << 12);
    if (ready)
        buffer_printf(&text, "%.1f s from the eviction until the new pod was ready",
                      json_real_value(ready));
    else
        buffer_printf(&text, "the new pod was not ready yet");
    for (int i = 0, n = 0; i < MOVE_READY; i++) {
        const json_t *after = json_object_get(seconds, phase_names[i]);

        if (after)
            buffer_printf(&text, "%s%s after %.1f s", n++ ? ", " : " (", phase_names[i],
                          json_real_value(after));
        if (i == MOVE_READY - 1 && n)
            buffer_printf(&text, ")");
    }
    return buffer_take(&text);
}
