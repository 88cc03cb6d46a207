/* Tokens for what an application, or an issuer that it trusts, has signed. */
#include "lib/base/alloc.h"
#include "test/azsim/model/resource.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/arm/azure.h"
#include "test/unit/test/azsim/arm/key_pair.h"

#define BEGIN 1767225600 /* of virtual time */
#define ENDPOINT "https://azsim:443/" TENANT "/oauth2/v2.0/token"
#define ISSUER "https://issuer.example/cluster"
#define SUBJECT "system:serviceaccount:kube-system:azdisk"
#define AUDIENCE "api://AzureADTokenExchange"

static struct key_pair own, other;
static struct arm_federation federation = {
    .issuer = ISSUER, .subject = SUBJECT, .audience = AUDIENCE};
static const char *certificates[1];
static struct arm_client client = {.id = CLIENT,
                                   .secret = "s3cr+t&=",
                                   .certificates = certificates,
                                   .n_certificates = 1,
                                   .federations = &federation,
                                   .n_federations = 1};

static struct azure *azure_with_certificate(void)
{
    return azure_new(&(struct arm_config){.clients = &client, .n_clients = 1});
}

/* The answer of an end point to a request with an assertion. */
static json_t *present_at(struct azure *azure, const char *end_point, const char *assertion,
                          int status)
{
    CLEANUP(freep)
    char *form =
        mem_printf("grant_type=client_credentials&client_id=" CLIENT "&scope=https://azsim/.default"
                   "&resource=https://azsim/"
                   "&client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
                   "&client_assertion=%s",
                   assertion);

    return ask_json(azure, "POST", end_point, form, status);
}

static json_t *present(struct azure *azure, const char *assertion, int status)
{
    return present_at(azure, "/{T}/oauth2/v2.0/token?x", assertion, status);
}

static void expect_refusal(struct azure *azure, const char *assertion, int status, int number)
{
    json_t *json = present(azure, assertion, status);

    assert_int_equal(json_integer_value(json_array_get(json_object_get(json, "error_codes"), 0)),
                     number);
    json_decref(json);
}

/* ---- certificates ---- */

static json_t *header(const char *algorithm, const struct key_pair *pair)
{
    CLEANUP(freep) char *thumbprint = key_pair_thumbprint(pair);

    return json_pack("{s:s, s:s, s:s}", "alg", algorithm, "typ", "JWT", "x5t", thumbprint);
}

static json_t *claims(const char *issuer, const char *subject, const char *audience, int from,
                      int until)
{
    return json_pack("{s:s, s:s, s:s, s:i, s:f}", "iss", issuer, "sub", subject, "aud", audience,
                     "nbf", BEGIN + from, "exp", (double)(BEGIN + until));
}

static void test_both_algorithms(void **state)
{
    static const char *const algorithms[] = {"RS256", "PS256"};
    struct azure *azure = azure_with_certificate();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(algorithms); i++) {
        CLEANUP(freep)
        char *assertion = key_pair_sign(&own, header(algorithms[i], &own),
                                        claims(CLIENT, CLIENT, ENDPOINT, 0, 600));
        json_t *json = present(azure, assertion, 200);

        free(azure->token);
        azure->token = mem_strdup(resource_text(json, "access_token", ""));
        json_decref(json);
        json_decref(ask_json(azure, "GET", "{P}/disks", NULL, 200));
    }
    azure_free(azure);
}

static void test_refused_certificates(void **state)
{
    static const struct {
        const char *issuer, *subject, *audience;
        int from, until;
        int status, number;
    } rows[] = {
        {CLIENT, "somebody", ENDPOINT, 0, 600, 401, 700021},
        {CLIENT, CLIENT, "https://elsewhere/", 0, 600, 401, 700023},
        {CLIENT, CLIENT, ENDPOINT, -600, 0, 401, 700024},
        {CLIENT, CLIENT, ENDPOINT, 600, 1200, 401, 700024},
    };
    struct azure *azure = azure_with_certificate();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep)
        char *assertion = key_pair_sign(
            &own, header("RS256", &own),
            claims(rows[i].issuer, rows[i].subject, rows[i].audience, rows[i].from, rows[i].until));

        expect_refusal(azure, assertion, rows[i].status, rows[i].number);
    }
    azure_free(azure);
}

static void test_keys_that_are_not_registered(void **state)
{
    struct azure *azure = azure_with_certificate();
    json_t *good = claims(CLIENT, CLIENT, ENDPOINT, 0, 600);
    CLEANUP(freep)
    char *unknown = key_pair_sign(&other, header("PS256", &other), json_incref(good));
    CLEANUP(freep) char *forged = key_pair_sign(&other, header("PS256", &own), json_incref(good));
    CLEANUP(freep)
    char *anonymous = key_pair_sign(&own, json_pack("{s:s}", "alg", "RS256"), json_incref(good));
    CLEANUP(freep) char *right = key_pair_sign(&own, header("RS256", &own), good);

    (void)state;
    expect_refusal(azure, unknown, 401, 700027);
    expect_refusal(azure, forged, 401, 700027);
    expect_refusal(azure, anonymous, 401, 700027);
    right[strlen(right) - 40] = right[strlen(right) - 40] == 'A' ? 'B' : 'A';
    expect_refusal(azure, right, 401, 700027);
    azure_free(azure);
}

static void test_what_is_no_token(void **state)
{
    static const char *const texts[] = {"",        "a",           "a.b", "a.b.c",
                                        "e30.e30", "W10.W10.W10", "..",  "e30.e30.%25"};
    struct azure *azure = azure_with_certificate();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        expect_refusal(azure, texts[i], 400, 50027);
    azure_free(azure);
}

/* The older end point; adal writes its own URL into the assertion, api-version and all. */
static void test_the_older_end_point(void **state)
{
    static const char *const audiences[] = {ENDPOINT, "https://azsim:443/" TENANT "/oauth2/token",
                                            "https://azsim:443/" TENANT
                                            "/oauth2/token?api-version=1.0"};
    static const char end_point[] = "/{T}/oauth2/token?api-version=1.0";
    struct azure *azure = azure_with_certificate();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(audiences); i++) {
        CLEANUP(freep)
        char *assertion = key_pair_sign(&own, header("RS256", &own),
                                        claims(CLIENT, CLIENT, audiences[i], 0, 24 * 3600));

        json_decref(present_at(azure, end_point, assertion, 200));
    }
    CLEANUP(freep)
    char *federated = key_pair_sign(&other, json_pack("{s:s}", "alg", "RS256"),
                                    claims(ISSUER, SUBJECT, AUDIENCE, 0, 600));
    json_decref(present_at(azure, end_point, federated, 200));
    CLEANUP(freep)
    char *forged = key_pair_sign(&own, json_pack("{s:s}", "alg", "RS256"),
                                 claims(ISSUER, SUBJECT, AUDIENCE, 0, 600));
    json_decref(present_at(azure, end_point, forged, 401));
    azure_free(azure);
}

/* ---- federation ---- */

static void test_federation(void **state)
{
    static const struct {
        const char *issuer, *subject, *audience;
        int until;
        int number; /* 0: a token is given */
    } rows[] = {
        {ISSUER, SUBJECT, AUDIENCE, 600, 0},
        {"https://other", SUBJECT, AUDIENCE, 600, 700211},
        {ISSUER, "system:serviceaccount:default:default", AUDIENCE, 600, 700213},
        {ISSUER, SUBJECT, "https://kubernetes.default.svc", 600, 700212},
        {ISSUER, SUBJECT, AUDIENCE, 0, 700024},
    };
    struct azure *azure = azure_with_certificate();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep)
        char *token = key_pair_sign(
            &other, json_pack("{s:s, s:s}", "alg", "RS256", "kid", "k"),
            claims(rows[i].issuer, rows[i].subject, rows[i].audience, 0, rows[i].until));

        if (rows[i].number)
            expect_refusal(azure, token, 401, rows[i].number);
        else
            json_decref(present(azure, token, 200));
    }
    azure_free(azure);
}

static void test_federation_as_kubernetes_writes_it(void **state)
{
    struct azure *azure = azure_with_certificate();
    json_t *list = json_pack("{s:s, s:s, s:[s, s], s:i}", "iss", ISSUER, "sub", SUBJECT, "aud", "x",
                             AUDIENCE, "exp", BEGIN + 600);
    CLEANUP(freep)
    char *token = key_pair_sign(&other, json_pack("{s:s}", "alg", "RS256"), json_incref(list));
    CLEANUP(freep) char *forged = key_pair_sign(&own, json_pack("{s:s}", "alg", "RS256"), list);

    (void)state;
    json_decref(present(azure, token, 200));
    expect_refusal(azure, forged, 401, 50013);
    azure_free(azure);
}

static int make_keys(void **state)
{
    (void)state;
    key_pair_init(&own);
    key_pair_init(&other);
    certificates[0] = own.certificate_pem;
    federation.key = other.public_pem;
    return 0;
}

static int drop_keys(void **state)
{
    (void)state;
    key_pair_fini(&own);
    key_pair_fini(&other);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_algorithms),
        cmocka_unit_test(test_refused_certificates),
        cmocka_unit_test(test_keys_that_are_not_registered),
        cmocka_unit_test(test_what_is_no_token),
        cmocka_unit_test(test_the_older_end_point),
        cmocka_unit_test(test_federation),
        cmocka_unit_test(test_federation_as_kubernetes_writes_it),
    };

    return cmocka_run_group_tests(tests, make_keys, drop_keys);
}
