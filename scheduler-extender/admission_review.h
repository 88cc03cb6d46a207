/* admission_review.h - what the API server asks before it makes a pod, and the answer to it: an
 * AdmissionReview of admission.k8s.io/v1.
 *
 * Of the pod only what placement_patch.h asks for is built; the rest of the request, which may be
 * megabytes, is passed over.
 */
#pragma once

#include <jansson.h>

#include "lib/api/kubernetes.pb-c.h"
#include "lib/base/arena.h"
#include "lib/json/cursor.h"

struct admission_review {
    struct arena *arena;          /* holds the pod */
    struct json_piece uid;        /* of the request, with its quotes; length 0: it is not known */
    bool makes_a_pod;             /* otherwise there is no pod */
    Api__Pod *pod;                /* its name may be missing: of a generateName */
    bool of_daemon_set, is_gated; /* by whomever */
    bool has_affinity, has_node_affinity;
    struct json_piece preferred; /* nodeAffinity's preferredDuringScheduling...; length 0: none */
};

/* INVALID or EXHAUSTED, with the member. As soon as the uid is known, it is in `ret` in spite of an
 * error, so that the request can be answered. `text` must outlive the result. Any thread. */
struct err *admission_review_parse(const char *text, size_t length, struct admission_review *ret)
    __attribute__((warn_unused_result));
void admission_review_fini(struct admission_review *review);

/* Allowed, with the JSON patch; NULL: as it is. free() it. */
char *admission_answer(const struct json_piece *uid, const json_t *patch)
    __attribute__((warn_unused_result));
