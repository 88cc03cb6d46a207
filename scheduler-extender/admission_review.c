#include "scheduler-extender/admission_review.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/base64.h"
#include "lib/json/parse.h"
#include "scheduler-extender/pod_text.h"

enum { LARGEST_PREFERENCES = 64 * 1024 };

/* ---- what is read ---- */

/* Whether the member is this word, which has nothing to escape. */
static bool member_is(const struct json_piece *object, const char *name, const char *word)
{
    struct json_piece value;

    return json_find_member(object, name, &value) && json_piece_is_string(&value) &&
           value.length == strlen(word) + 2 && memcmp(value.text + 1, word, value.length - 2) == 0;
}

/* False, too, if it is null. */
static bool find_object(const struct json_piece *in, const char *name, struct json_piece *ret)
{
    return json_find_member(in, name, ret) && json_piece_is_object(ret);
}

static bool is_of_daemon_set(const struct json_piece *pod)
{
    struct json_piece metadata, list, owner;

    if (!find_object(pod, "metadata", &metadata) ||
        !json_find_member(&metadata, "ownerReferences", &list))
        return false;
    struct json_cursor cursor = json_cursor_into(&list);
    while (json_next_element(&cursor, &owner))
        if (member_is(&owner, "kind", "DaemonSet"))
            return true;
    return false;
}

static bool has_gates(const struct json_piece *spec)
{
    struct json_piece list, gate;

    if (!json_find_member(spec, "schedulingGates", &list))
        return false;
    struct json_cursor cursor = json_cursor_into(&list);
    return json_next_element(&cursor, &gate);
}

/* The terms are looked through for each node that is preferred, on the loop. */
static struct err *find_affinity(const struct json_piece *spec, struct admission_review *review)
{
    struct json_piece affinity, nodes, preferred;

    if (!find_object(spec, "affinity", &affinity))
        return NULL;
    review->has_affinity = true;
    if (!find_object(&affinity, "nodeAffinity", &nodes))
        return NULL;
    review->has_node_affinity = true;
    if (!json_find_member(&nodes, "preferredDuringSchedulingIgnoredDuringExecution", &preferred) ||
        !json_piece_is_array(&preferred))
        return NULL;
    if (preferred.length > LARGEST_PREFERENCES)
        return err_new(ERR_EXHAUSTED, "the pod's preferred nodes take more than %d bytes",
                       LARGEST_PREFERENCES);
    review->preferred = preferred;
    return NULL;
}

static struct err *read_pod(const struct json_piece *request, struct admission_review *review)
{
    struct arena *arena = review->arena;
    struct json_piece object = {0}, spec;

    json_find_member(request, "object", &object);
    TRY(pod_text_read(&object, arena, &review->pod));
    if (!review->pod->metadata)
        return err_new(ERR_INVALID, "Pod.metadata is missing");
    review->pod->metadata->namespace_ = text_name(request, "namespace", arena);
    if (!review->pod->metadata->namespace_)
        return err_new(ERR_INVALID, "request.namespace is missing");
    if (!find_object(&object, "spec", &spec))
        return err_new(ERR_INVALID, "Pod.spec is missing");
    review->pod->spec->node_name = text_name(&spec, "nodeName", arena);
    review->pod->spec->scheduler_name = text_name(&spec, "schedulerName", arena);
    review->of_daemon_set = is_of_daemon_set(&object);
    review->is_gated = has_gates(&spec);
    TRY(find_affinity(&spec, review));
    review->makes_a_pod = true;
    return NULL;
}

struct err *admission_review_parse(const char *text, size_t length, struct admission_review *ret)
{
    struct json_piece whole, request, kind;

    *ret = (struct admission_review){.arena = arena_new()};
    TRY(json_validate(text, length, &whole));
    if (!member_is(&whole, "kind", "AdmissionReview") ||
        !member_is(&whole, "apiVersion", "admission.k8s.io/v1"))
        return err_new(ERR_INVALID, "it is no AdmissionReview of admission.k8s.io/v1");
    if (!find_object(&whole, "request", &request))
        return err_new(ERR_INVALID, "request is missing");
    if (!json_find_member(&request, "uid", &ret->uid) || !json_piece_is_string(&ret->uid)) {
        ret->uid = (struct json_piece){0};
        return err_new(ERR_INVALID, "request.uid is missing");
    }
    if (!member_is(&request, "operation", "CREATE") || !find_object(&request, "kind", &kind) ||
        !member_is(&kind, "group", "") || !member_is(&kind, "kind", "Pod"))
        return NULL;
    return read_pod(&request, ret);
}

void admission_review_fini(struct admission_review *review)
{
    arena_free(review->arena);
}

/* ---- what is answered ---- */

#define ANSWER                                                                                     \
    "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":\"AdmissionReview\",\"response\":{\"uid\":"  \
    "%.*s,\"allowed\":true"

char *admission_answer(const struct json_piece *uid, const json_t *patch)
{
    if (!patch)
        return mem_printf(ANSWER "}}", (int)uid->length, uid->text);
    CLEANUP(freep) char *text = json_to_text(patch);
    CLEANUP(freep) char *packed = base64_encode(text, strlen(text));

    return mem_printf(ANSWER ",\"patchType\":\"JSONPatch\",\"patch\":\"%s\"}}", (int)uid->length,
                      uid->text, packed);
}
