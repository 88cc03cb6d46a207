/* Reviews as the API server sends them, by what is read out of them; and the answers. */
#include "scheduler-extender/admission_review.h"

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "scheduler-extender/pod_text.h"
#include "test/unit/object.h"

#define REVIEW(operation, kind, object)                                                            \
    "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{\"uid\":"   \
    "\"705ab4f5\",\"kind\":{\"group\":\"\",\"version\":\"v1\",\"kind\":\"" kind                    \
    "\"},\"resource\":{\"group\":\"\",\"version\":\"v1\",\"resource\":\"pods\"},\"namespace\":"    \
    "\"shop\",\"operation\":\"" operation "\",\"object\":" object ",\"oldObject\":null,"           \
    "\"dryRun\":false}}"
#define POD(metadata, spec)                                                                        \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{" metadata "},\"spec\":{" spec "}}"
#define BEFORE_SPEC                                                                                \
    "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\",\"request\":{\"uid\":"   \
    "\"705ab4f5\",\"kind\":{\"group\":\"\",\"kind\":\"Pod\"},\"namespace\":\"shop\","              \
    "\"operation\":"                                                                               \
    "\"CREATE\",\"object\":{\"metadata\":{},\"spec\":"
#define CREATE(metadata, spec) REVIEW("CREATE", "Pod", POD(metadata, spec))
#define CLAIM                                                                                      \
    "\"volumes\":[{\"name\":\"data\",\"persistentVolumeClaim\":{\"claimName\":\"data-db-0\"}}]"

/* What was read: "name node scheduler", "daemon", "gated", "affinity", "nodes", the terms. */
static const struct {
    const char *why, *text, *read;
} good[] = {
    {"a pod with all that is asked for",
     CREATE("\"name\":\"db-0\",\"namespace\":\"other\"",
            CLAIM ",\"nodeName\":\"a\",\"schedulerName\":\"default-scheduler\""),
     "shop/db-0 on a by default-scheduler"},
    {"a name to be made", CREATE("\"generateName\":\"db-\"", CLAIM), "shop/- on - by -"},
    {"no claims", CREATE("\"name\":\"db-0\"", "\"containers\":[]"), "shop/db-0 on - by -"},
    {"of a DaemonSet",
     CREATE("\"name\":\"d\",\"ownerReferences\":[{\"kind\":\"Node\"},{\"kind\":\"DaemonSet\"}]",
            ""),
     "shop/d on - by - daemon"},
    {"of something else with nearly that name",
     CREATE("\"name\":\"d\",\"ownerReferences\":[{\"kind\":\"DaemonSets\"},7,null]", ""),
     "shop/d on - by -"},
    {"gated", CREATE("\"name\":\"p\"", "\"schedulingGates\":[{\"name\":\"x\"}]"),
     "shop/p on - by - gated"},
    {"not gated", CREATE("\"name\":\"p\"", "\"schedulingGates\":[]"), "shop/p on - by -"},
    {"affinity of another kind", CREATE("\"name\":\"p\"", "\"affinity\":{\"podAffinity\":{}}"),
     "shop/p on - by - affinity"},
    {"required nodes",
     CREATE("\"name\":\"p\"", "\"affinity\":{\"nodeAffinity\":{"
                              "\"requiredDuringSchedulingIgnoredDuringExecution\":{}}}"),
     "shop/p on - by - affinity nodes"},
    {"preferred nodes",
     CREATE("\"name\":\"p\"", "\"affinity\":{\"nodeAffinity\":{"
                              "\"preferredDuringSchedulingIgnoredDuringExecution\":[{}]}}"),
     "shop/p on - by - affinity nodes [{}]"},
    {"null for nothing",
     CREATE("\"name\":\"p\",\"ownerReferences\":null",
            "\"affinity\":null,\"volumes\":null,\"schedulingGates\":null"),
     "shop/p on - by -"},
    {"an update", REVIEW("UPDATE", "Pod", POD("\"name\":\"p\"", CLAIM)), ""},
    {"an eviction", REVIEW("CREATE", "Eviction", "{}"), ""},
    {"a deletion", REVIEW("DELETE", "Pod", "null"), ""},
};

static const char *or_dash(const char *text)
{
    return text ? text : "-";
}

static char *describe(const struct admission_review *review)
{
    if (!review->makes_a_pod)
        return mem_strdup("");
    const Api__Pod *pod = review->pod;
    bool terms = review->preferred.length > 0;

    return mem_printf("%s/%s on %s by %s%s%s%s%s%s%.*s", or_dash(pod->metadata->namespace_),
                      or_dash(pod->metadata->name), or_dash(pod->spec->node_name),
                      or_dash(pod->spec->scheduler_name), review->of_daemon_set ? " daemon" : "",
                      review->is_gated ? " gated" : "", review->has_affinity ? " affinity" : "",
                      review->has_node_affinity ? " nodes" : "", terms ? " " : "",
                      (int)review->preferred.length, terms ? review->preferred.text : "");
}

static void test_what_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        CLEANUP(admission_review_fini) struct admission_review review;

        assert_ok(admission_review_parse(good[i].text, strlen(good[i].text), &review));
        CLEANUP(freep) char *read = describe(&review);
        if (strcmp(read, good[i].read) != 0)
            fail_msg("%s: %s", good[i].why, read);
        assert_int_equal(review.uid.length, strlen("\"705ab4f5\""));
        assert_memory_equal(review.uid.text, "\"705ab4f5\"", review.uid.length);
    }
}

#define HEAD "{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1\""

static const struct {
    const char *text, *fault;
    bool knows_uid;
} bad[] = {
    {"", "not JSON: invalid, truncated or nested too deeply after byte 0", false},
    {"{", "not JSON: invalid, truncated or nested too deeply after byte 0", false},
    {"[]", "it is no AdmissionReview of admission.k8s.io/v1", false},
    {"{\"kind\":\"AdmissionReview\",\"apiVersion\":\"admission.k8s.io/v1beta1\"}",
     "it is no AdmissionReview of admission.k8s.io/v1", false},
    {HEAD "}", "request is missing", false},
    {HEAD ",\"request\":[]}", "request is missing", false},
    {HEAD ",\"request\":{}}", "request.uid is missing", false},
    {HEAD ",\"request\":{\"uid\":7}}", "request.uid is missing", false},
    {REVIEW("CREATE", "Pod", "null"), "Pod is not an object", true},
    {REVIEW("CREATE", "Pod", "{}"), "Pod.metadata is missing", true},
    {REVIEW("CREATE", "Pod", "{\"metadata\":{}}"), "Pod.spec is missing", true},
    {CREATE("\"name\":\"p\"", "\"volumes\":{}"), "Pod.spec.volumes is not a list", true},
    {HEAD ",\"request\":{\"uid\":\"705ab4f5\",\"operation\":\"CREATE\",\"kind\":{\"group\":\"\","
          "\"kind\":\"Pod\"},\"object\":{\"metadata\":{},\"spec\":{}}}}",
     "request.namespace is missing", true},
};

static void test_faults(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        CLEANUP(admission_review_fini) struct admission_review review;

        assert_fails(admission_review_parse(bad[i].text, strlen(bad[i].text), &review), ERR_INVALID,
                     bad[i].fault);
        assert_int_equal(review.uid.length > 0, bad[i].knows_uid);
        assert_false(review.makes_a_pod);
    }
}

/* ---- pods that have more than anybody needs: they are made as they are ---- */

/* So many of them, in a list in `frame`. */
static void refuse_many(const char *frame, const char *item, int n, const char *fault)
{
    CLEANUP(admission_review_fini) struct admission_review review;
    struct buffer items = {.limit = 1 << 20};

    for (int i = 0; i < n; i++)
        buffer_printf(&items, "%s%s", i ? "," : "", item);
    CLEANUP(freep) char *spec = mem_printf("%s[%s]%s", frame, items.data, strchr(frame, '\0') + 1);
    CLEANUP(freep) char *text = mem_printf("%s%s}}}", BEFORE_SPEC, spec);
    assert_fails(admission_review_parse(text, strlen(text), &review), ERR_EXHAUSTED, fault);
    assert_int_equal(review.uid.length, strlen("\"705ab4f5\""));
    buffer_fini(&items);
}

static void test_pods_with_too_much_of_something(void **state)
{
    (void)state;
    refuse_many("{\"volumes\":\0}", "{\"persistentVolumeClaim\":{}}", POD_MAX_CLAIMS + 1,
                "the pod has more than 1000 volumes with claims");
    refuse_many("{\"affinity\":{\"nodeAffinity\":{"
                "\"preferredDuringSchedulingIgnoredDuringExecution\":\0}}}",
                "{\"weight\":1}", 6000, "the pod's preferred nodes take more than 65536 bytes");
}

static void test_answers(void **state)
{
    const struct json_piece uid = {"\"a\\\"b\"", 6};
    CLEANUP(freep) char *plain = admission_answer(&uid, NULL);
    json_t *patch = json_of("[{'op':'add'}]");
    CLEANUP(freep) char *patched = admission_answer(&uid, patch);

    (void)state;
    assert_string_equal(plain, "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":"
                               "\"AdmissionReview\",\"response\":{\"uid\":\"a\\\"b\","
                               "\"allowed\":true}}");
    assert_string_equal(patched, "{\"apiVersion\":\"admission.k8s.io/v1\",\"kind\":"
                                 "\"AdmissionReview\",\"response\":{\"uid\":\"a\\\"b\","
                                 "\"allowed\":true,\"patchType\":\"JSONPatch\",\"patch\":"
                                 "\"W3sib3AiOiJhZGQifV0=\"}}");
    json_decref(patch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_read),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_pods_with_too_much_of_something),
        cmocka_unit_test(test_answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
