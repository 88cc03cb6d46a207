/* What the API server posts to the webhook, or somebody else does, and that what is answered is
 * JSON, with the uid as it came. */
#include "scheduler-extender/placement_patch.h"
#include "test/fuzz/input.h"

static void check_answer(const struct admission_review *review, const json_t *patch)
{
    CLEANUP(freep) char *text = admission_answer(&review->uid, patch);
    struct json_piece whole, response, uid;

    MUST(input_taken(json_validate(text, strlen(text), &whole)));
    MUST(json_find_member(&whole, "response", &response));
    MUST(json_find_member(&response, "uid", &uid) && uid.length == review->uid.length &&
         memcmp(uid.text, review->uid.text, uid.length) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct placement_rules rules = {PLACEMENT_WEBHOOK, "default-scheduler", "kube-"};
    static const struct preferred_node nodes[] = {{"a", 100}, {"b", 50}};
    CLEANUP(admission_review_fini) struct admission_review review;
    bool good = input_taken(admission_review_parse((const char *)data, size, &review));

    MUST(good || !review.makes_a_pod);
    if (review.uid.length)
        check_answer(&review, NULL);
    if (!good || !placement_concerns(&rules, &review))
        return 0;
    MUST(review.pod->metadata->namespace_ && !review.is_gated && !review.of_daemon_set);

    CLEANUP(json_decrefp) json_t *patch = placement_preference_patch(&review, nodes, 2);
    check_answer(&review, patch);
    return 0;
}
