#include "azdiskctl/ungate.h"

#include <string.h>

#include "azdiskctl/document.h"
#include "azdiskctl/listed.h"
#include "azdiskctl/text_table.h"
#include "lib/base/alloc.h"
#include "lib/base/text.h"
#include "provisioner-lib/records/placement_gate.h"

#define REMOVED "removed"
#define WOULD_BE "would be removed"
#define NONE "none"
#define FAILED "failed"

/* ---- one pod ---- */

static json_t *outcome(const struct kube_object *pod, const char *gate, const char *note)
{
    return json_pack("{s:s, s:s, s:s?}", "pod", pod->key, "gate", gate, "note", note);
}

/* As it was read before: who may list pods need not be allowed to get one, nor the other way round.
 * NOT_FOUND if it is gone. */
static struct err *read_again(struct task *self, const struct ungate_config *config,
                              const struct kube_object *pod, struct kube_object **ret)
{
    const Api__ObjectMeta *metadata = pod->metadata;

    if (config->pod)
        return kube_get(self, config->kube, &PODS, metadata->namespace_, metadata->name, ret);
    CLEANUP(freep) char *selector = mem_printf("metadata.name=%s", metadata->name);
    const struct kube_query query = {.field_selector = selector};
    CLEANUP(listed_fini) struct listed listed = {0};
    TRY(listed_read(self, config->kube, &PODS, metadata->namespace_, &query, &listed));
    if (listed.list.n == 0)
        return err_new(ERR_NOT_FOUND, "pod %s is gone", pod->key);
    *ret = kube_object_ref(listed.items[0]);
    return NULL;
}

/* What would take the gate away by now. NOT_FOUND if it is gone, or its pod. */
static struct err *removal_now(struct task *self, const struct ungate_config *config,
                               const struct kube_object *pod, json_t **ret)
{
    CLEANUP(kube_object_unrefp) struct kube_object *now = NULL;

    TRY(read_again(self, config, pod, &now));
    if (same_text(now->metadata->uid, pod->metadata->uid))
        *ret = placement_gate_removal(KUBE_AS(Api__Pod, now));
    return *ret ? NULL : err_new(ERR_NOT_FOUND, "pod %s has no gate any more", pod->key);
}

/* NOT_FOUND as above. A policy's answer is that of a patch that does not apply any more: of a gate
 * that is gone, or has another place among the gates. Which it is shows at the pod. */
static struct err *remove_gate(struct task *self, const struct ungate_config *config,
                               const struct kube_object *pod, const json_t *patch)
{
    const Api__ObjectMeta *metadata = pod->metadata;
    CLEANUP(json_decrefp) json_t *now = NULL;
    struct err *err =
        kube_json_patch(self, config->kube, &PODS, metadata->namespace_, metadata->name, patch);

    if (!err || err_kind(err) != ERR_INVALID)
        return err;
    CLEANUP(err_freep) struct err *unread = removal_now(self, config, pod, &now);
    if (unread)
        return err_kind(unread) == ERR_NOT_FOUND ? err_as(err, ERR_NOT_FOUND) : err;
    if (json_equal(now, patch))
        return err;
    err_free(err);
    return kube_json_patch(self, config->kube, &PODS, metadata->namespace_, metadata->name, now);
}

/* A gate that is gone meanwhile, or whose pod is, need not be removed. */
static json_t *ungate(struct task *self, const struct ungate_config *config,
                      const struct kube_object *pod)
{
    CLEANUP(json_decrefp) json_t *patch = placement_gate_removal(KUBE_AS(Api__Pod, pod));

    if (!patch)
        return outcome(pod, NONE, "it has no gate " PLACEMENT_GATE);
    if (config->dry_run)
        return outcome(pod, WOULD_BE, NULL);
    CLEANUP(err_freep) struct err *err = remove_gate(self, config, pod, patch);
    if (!err)
        return outcome(pod, REMOVED, NULL);
    if (err_kind(err) == ERR_NOT_FOUND)
        return outcome(pod, NONE, "its gates have changed meanwhile");
    return outcome(pod, FAILED, err_message(err));
}

static struct err *ungate_one(struct task *self, const struct ungate_config *config, json_t *pods)
{
    const char *slash = strchr(config->pod, '/');
    CLEANUP(freep)
    char *namespace_ = slash ? mem_strndup(config->pod, (size_t)(slash - config->pod))
                             : mem_strdup(config->namespace_);
    const char *name = slash ? slash + 1 : config->pod;
    CLEANUP(kube_object_unrefp) struct kube_object *pod = NULL;

    if (!namespace_[0] || !name[0] || strchr(name, '/'))
        return err_new(ERR_INVALID, "%s is not NAMESPACE/POD", config->pod);
    TRY(kube_get(self, config->kube, &PODS, namespace_, name, &pod));
    json_array_append_new(pods, ungate(self, config, pod));
    return NULL;
}

/* ---- all ---- */

static struct err *ungate_listed(struct task *self, const struct ungate_config *config,
                                 struct listed *listed, json_t *pods)
{
    const struct kube_query query = {.field_selector = "spec.nodeName="};

    TRY(listed_read(self, config->kube, &PODS, config->namespace_, &query, listed));
    for (size_t i = 0; i < listed->list.n; i++)
        if (pod_has_placement_gate(KUBE_AS(Api__Pod, listed->items[i])))
            json_array_append_new(pods, ungate(self, config, listed->items[i]));
    return NULL;
}

static struct err *ungate_all(struct task *self, const struct ungate_config *config, json_t *pods)
{
    struct listed listed;
    struct err *err = ungate_listed(self, config, &listed, pods);

    listed_fini(&listed);
    return err;
}

struct err *ungate_json(struct task *self, const struct ungate_config *config, json_t **ret)
{
    CLEANUP(json_decrefp) json_t *pods = json_array();

    TRY(config->pod ? ungate_one(self, config, pods) : ungate_all(self, config, pods));
    *ret = json_pack("{s:s?, s:O}", "namespace", config->pod ? NULL : config->namespace_, "pods",
                     pods);
    return NULL;
}

/* ---- what is said of it ---- */

bool ungate_is_complete(const json_t *ungated)
{
    const json_t *pods = json_object_get(ungated, "pods"), *pod;
    size_t i;

    json_array_foreach(pods, i, pod)
        if (strcmp(text_of(pod, "gate"), FAILED) == 0)
            return false;
    return true;
}

void ungate_text(const json_t *ungated, struct buffer *out)
{
    const json_t *pods = json_object_get(ungated, "pods"), *pod;
    const char *namespace_ = text_of(ungated, "namespace");
    static const char *const columns[] = {"pod", "gate", "note"};
    static const char *const head[] = {"POD", "GATE", "NOTE"};
    struct text_table table = {.columns = COUNT_OF(head)};
    size_t i;

    if (json_array_size(pods) == 0) {
        buffer_printf(out, "No pod%s%s has the scheduling gate " PLACEMENT_GATE ".\n",
                      namespace_ ? " in namespace " : "", namespace_ ? namespace_ : "");
        return;
    }
    text_table_add_row(&table, head);
    json_array_foreach(pods, i, pod)
        text_table_add_members(&table, pod, columns);
    text_table_write(&table, "", out);
}
