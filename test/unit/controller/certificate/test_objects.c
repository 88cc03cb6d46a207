/* What the Secret and the configuration say, and what is written to them. */
#include "controller/certificate/objects.h"

#include <stdlib.h>

#include "lib/api/resources.h"
#include "lib/base/alloc.h"
#include "lib/json/parse.h"
#include "test/unit/expect.h"

static struct kube_object *object_of(const struct api_resource *resource, const char *text)
{
    CLEANUP(json_decrefp) json_t *json = NULL;
    struct kube_object *object;

    assert_ok(json_parse_here(text, strlen(text), &json));
    assert_ok(kube_object_decode(resource->type, json, &object));
    return object;
}

/* "QUJD" is ABC. */
static struct kube_object *configuration(const char *webhooks)
{
    CLEANUP(freep)
    char *text = mem_printf(
        "{\"metadata\":{\"name\":\"w\",\"uid\":\"u\",\"resourceVersion\":\"7\"},\"webhooks\":[%s]}",
        webhooks);

    return object_of(&MUTATING_WEBHOOK_CONFIGURATIONS, text);
}

#define BY_URL "{\"name\":\"a\",\"clientConfig\":{\"url\":\"https://x\",\"caBundle\":\"eA==\"}}"
#define BY_SERVICE(more)                                                                           \
    "{\"name\":\"b\",\"clientConfig\":{\"service\":{\"name\":\"s\",\"namespace\":\"n\"}" more "}}"

static void expect_json(json_t *json, const char *expected)
{
    CLEANUP(json_decrefp) json_t *owned = json;
    CLEANUP(freep) char *text = json_to_text(owned);

    assert_string_equal(text, expected);
}

/* ---- the configuration ---- */

static void test_the_webhook_that_calls_a_service_is_read(void **state)
{
    CLEANUP(kube_object_unrefp)
    struct kube_object *object = configuration(BY_URL "," BY_SERVICE(",\"caBundle\":\"QUJD\""));
    CLEANUP(webhook_fini) struct webhook webhook = {0};

    (void)state;
    assert_ok(webhook_read(object, &webhook));
    assert_string_equal(webhook.host, "s.n.svc");
    assert_string_equal(webhook.namespace_, "n");
    assert_string_equal(webhook.bundle, "ABC");
    expect_json(webhook_trust(&webhook, "x"),
                "[{\"op\":\"replace\",\"path\":\"/metadata/resourceVersion\",\"value\":\"7\"},"
                "{\"op\":\"add\",\"path\":\"/webhooks/1/clientConfig/caBundle\",\"value\":\"eA==\"}"
                "]");
}

static void test_a_bundle_may_be_missing_or_broken(void **state)
{
    static const char *const webhooks[] = {BY_SERVICE(""), BY_SERVICE(",\"caBundle\":\"!\"")};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(webhooks); i++) {
        CLEANUP(kube_object_unrefp) struct kube_object *object = configuration(webhooks[i]);
        CLEANUP(webhook_fini) struct webhook webhook = {0};

        assert_ok(webhook_read(object, &webhook));
        assert_string_equal(webhook.bundle, "");
    }
}

static void test_without_a_service_there_is_no_name(void **state)
{
    static const char *const webhooks[] = {
        "", BY_URL, "{\"name\":\"c\"}", "{\"clientConfig\":{\"service\":{\"namespace\":\"n\"}}}"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(webhooks); i++) {
        CLEANUP(kube_object_unrefp) struct kube_object *object = configuration(webhooks[i]);
        struct webhook webhook;

        assert_fails(webhook_read(object, &webhook), ERR_INVALID,
                     "none of its webhooks calls a Service");
    }
}

/* ---- the Secret ---- */

static void test_pairs_are_read(void **state)
{
    CLEANUP(kube_object_unrefp)
    struct kube_object *object = object_of(
        &SECRETS,
        "{\"metadata\":{\"name\":\"s\",\"namespace\":\"n\"},\"data\":{\"ca.crt\":\"YQ==\","
        "\"tls.crt\":\"Yg==\",\"tls.key\":\"Yw==\",\"next-tls.crt\":\"!\","
        "\"next-tls.key\":\"ZA==\"}}");
    CLEANUP(certificate_pair_fini) struct certificate_pair current, next, none;

    (void)state;
    secret_read_pair(object, "", &current);
    secret_read_pair(object, CERTIFICATE_NEXT, &next);
    secret_read_pair(NULL, "", &none);
    assert_string_equal(current.authority, "a");
    assert_string_equal(current.certificate, "b");
    assert_string_equal(current.key, "c");
    assert_null(next.authority);
    assert_null(next.certificate);
    assert_string_equal(next.key, "d");
    assert_true(!none.authority && !none.certificate && !none.key);
}

/* The next certificate is by the same authority; and a value is a word that all objects share. */
static void test_pairs_that_have_something_in_common(void **state)
{
#define AUTHORITY_TEXT "\"VGhlIGF1dGhvcml0eSBvZiBib3Ro\""
    CLEANUP(kube_object_unrefp)
    struct kube_object *object =
        object_of(&SECRETS, "{\"metadata\":{\"name\":\"s\",\"namespace\":\"n\"},\"data\":{"
                            "\"ca.crt\":" AUTHORITY_TEXT ",\"next-ca.crt\":" AUTHORITY_TEXT
                            ",\"tls.key\":\"Attached\"}}");
    CLEANUP(certificate_pair_fini) struct certificate_pair current, next;

    (void)state;
    secret_read_pair(object, "", &current);
    secret_read_pair(object, CERTIFICATE_NEXT, &next);
    assert_string_equal(current.authority, "The authority of both");
    assert_string_equal(next.authority, "The authority of both");
    assert_non_null(current.key);
}

#define OWNERS                                                                                     \
    "\"ownerReferences\":[{\"apiVersion\":\"admissionregistration.k8s.io/v1\",\"kind\":"           \
    "\"MutatingWebhookConfiguration\",\"name\":\"w\",\"uid\":\"u\"}]"
#define NOTHING_NEXT "\"next-ca.crt\":null,\"next-tls.crt\":null,\"next-tls.key\":null"

static void test_what_is_written(void **state)
{
    CLEANUP(kube_object_unrefp) struct kube_object *owner = configuration(BY_SERVICE(""));
    CLEANUP(kube_object_unrefp)
    struct kube_object *object =
        object_of(&SECRETS, "{\"metadata\":{\"name\":\"s\",\"namespace\":\"n\","
                            "\"resourceVersion\":\"9\"}}");
    CLEANUP(webhook_fini) struct webhook webhook = {0};
    char a[] = "a", b[] = "b", c[] = "c";
    const struct certificate_pair pair = {a, b, c};

    (void)state;
    assert_ok(webhook_read(owner, &webhook));
    expect_json(secret_new("s", &webhook, &pair),
                "{\"metadata\":{\"name\":\"s\"," OWNERS "},\"type\":\"kubernetes.io/tls\","
                "\"data\":{\"ca.crt\":\"YQ==\",\"tls.crt\":\"Yg==\",\"tls.key\":\"Yw==\"}}");
    expect_json(secret_use(object, &webhook, &pair),
                "{\"metadata\":{" OWNERS ",\"resourceVersion\":\"9\"},\"data\":{"
                "\"ca.crt\":\"YQ==\",\"tls.crt\":\"Yg==\",\"tls.key\":\"Yw==\"," NOTHING_NEXT "}}");
    expect_json(secret_prepare(object, &pair),
                "{\"data\":{\"next-ca.crt\":\"YQ==\",\"next-tls.crt\":\"Yg==\","
                "\"next-tls.key\":\"Yw==\"},\"metadata\":{\"resourceVersion\":\"9\"}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_webhook_that_calls_a_service_is_read),
        cmocka_unit_test(test_a_bundle_may_be_missing_or_broken),
        cmocka_unit_test(test_without_a_service_there_is_no_name),
        cmocka_unit_test(test_pairs_are_read),
        cmocka_unit_test(test_pairs_that_have_something_in_common),
        cmocka_unit_test(test_what_is_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
