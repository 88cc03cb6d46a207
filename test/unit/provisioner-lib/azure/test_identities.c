/* Every kind of identity against the simulated Entra ID and metadata service: who gets a token, and
 * what comes of files that change and of a service that is away. */
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "test/azsim/arm/seal.h"
#include "test/azsim/model/resource.h"
#include "test/azsim/model/vm.h"
#include "test/unit/provisioner-lib/azure/login.h"

#define BEGIN 1767225600 /* of virtual time */
#define RESOURCE_OF_ONE                                                                            \
    "/subscriptions/" SUBSCRIPTION                                                                 \
    "/resourceGroups/rg/providers/Microsoft.ManagedIdentity/userAssignedIdentities/one"

static struct key_pair own, cluster;
static char folder[] = "/tmp/test_identities_XXXXXX";
static char *certificate_file, *token_file;

/* ---- kinds of identity ---- */

static void write_workload_token(const char *subject)
{
    CLEANUP(freep)
    char *token = key_pair_sign(&cluster, json_pack("{s:s}", "alg", "RS256"),
                                json_pack("{s:s, s:s, s:[s], s:i}", "iss", ISSUER, "sub", subject,
                                          "aud", AUDIENCE, "exp", BEGIN + 24 * 3600));
    FILE *file = fopen(token_file, "w");

    assert_non_null(file);
    fprintf(file, "%s\n", token);
    fclose(file);
}

static void test_every_identity_opens_resource_manager(void **state)
{
    CLEANUP(freep)
    char *by_certificate =
        mem_printf("{" BASE "aadClientId: '" CLIENT "', aadClientCertPath: '%s', "
                   "aadClientCertPassword: s3cret}",
                   certificate_file);
    CLEANUP(freep)
    char *by_workload = mem_printf("{" BASE "aadClientId: '" CLIENT "', aadFederatedTokenFile: "
                                   "'%s', useFederatedWorkloadIdentityExtension: true}",
                                   token_file);
    const char *const files[] = {
        "{" BY_SECRET "}",
        by_certificate,
        by_workload,
        "{" BASE "useManagedIdentityExtension: true}",
        "{" BASE "useManagedIdentityExtension: true, userAssignedIdentityID: " CLIENT_OF_ONE "}",
        "{" BASE "useManagedIdentityExtension: true, userAssignedIdentityID: " OBJECT_OF_ONE "}",
        "{" BASE "useManagedIdentityExtension: true, userAssignedIdentityID: " RESOURCE_OF_ONE "}",
    };

    (void)state;
    write_workload_token(WORKLOAD);
    for (size_t i = 0; i < COUNT_OF(files); i++) {
        struct login *login = login_new(files[i], &own, &cluster);

        print_message("  %s\n", files[i]);
        expect_token(login);
        login_free(login);
    }
}

static void test_the_vms_own_identity_and_a_given_one_are_two(void **state)
{
    struct login *login = login_new("{" BASE "useManagedIdentityExtension: true}", &own, &cluster);
    struct login *other = login_new("{" BASE "useManagedIdentityExtension: true, "
                                    "userAssignedIdentityID: " OBJECT_OF_ONE "}",
                                    &own, &cluster);

    (void)state;
    expect_token(login);
    expect_token(other);
    assert_int_equal(other->asked, 2); /* not a client id, so an object id */
    assert_non_null(strstr(other->last_form, "object_id=" OBJECT_OF_ONE));
    const json_t *last =
        json_array_get(login->azure->records, json_array_size(login->azure->records) - 1);
    const json_t *others =
        json_array_get(other->azure->records, json_array_size(other->azure->records) - 1);
    assert_string_equal(resource_text(last, "principal", ""), login->azure->model->vms->client_id);
    assert_string_equal(resource_text(others, "principal", ""), CLIENT_OF_ONE);

    login_advance_minutes(other, 13 * 60);
    expect_token(other); /* it is renewed beside */
    loop_advance(other->azure->loop, 1000);
    assert_int_equal(other->asked, 3); /* it is remembered */
    login_free(login);
    login_free(other);
}

static void test_a_new_workload_token_is_taken(void **state)
{
    CLEANUP(freep)
    char *yaml = mem_printf("{" BASE "aadClientId: '" CLIENT "', aadFederatedTokenFile: '%s', "
                            "useFederatedWorkloadIdentityExtension: true}",
                            token_file);
    struct login *login = login_new(yaml, &own, &cluster);

    (void)state;
    write_workload_token("system:serviceaccount:k:other");
    expect_failure(login, 1000, ERR_DENIED, "AADSTS700213", "system:serviceaccount:k:other");
    write_workload_token(WORKLOAD);
    loop_advance(login->azure->loop, 2000);
    expect_token(login);

    assert_int_equal(truncate(token_file, 0), 0);
    login_advance_minutes(login, 61);
    expect_failure(login, 1000, ERR_UNAVAILABLE, "", "the file is empty");
    remove(token_file);
    login_advance_minutes(login, 2);
    expect_failure(login, 1000, ERR_NOT_FOUND, "", "No such file");
    write_workload_token(WORKLOAD);
    login_advance_minutes(login, 2);
    expect_token(login);
    login_free(login);
}

static void test_a_new_certificate_is_taken(void **state)
{
    CLEANUP(freep)
    char *yaml = mem_printf("{" BASE "aadClientId: '" CLIENT "', aadClientCertPath: '%s', "
                            "aadClientCertPassword: s3cret}",
                            certificate_file);
    struct login *login = login_new(yaml, &own, &cluster);

    (void)state;
    key_pair_write_pkcs12(&cluster, certificate_file, "s3cret");
    expect_failure(login, 1000, ERR_DENIED, "AADSTS700027", "not registered");
    key_pair_write_pem(&own, certificate_file, NULL);
    loop_advance(login->azure->loop, 2000);
    expect_token(login);
    key_pair_write_pkcs12(&own, certificate_file, "s3cret");
    login_free(login);
}

static char *certificate_identity(void)
{
    return mem_printf("{" BASE "aadClientId: '" CLIENT "', aadClientCertPath: '%s'}",
                      certificate_file);
}

/* Whoever issued it may stand before it. */
static void test_a_certificate_behind_its_issuers(void **state)
{
    CLEANUP(freep) char *yaml = certificate_identity();
    CLEANUP(freep) char *pem = NULL;

    (void)state;
    key_pair_write_pem(&own, certificate_file, NULL);
    assert_ok(file_read(certificate_file, 64 * 1024, &pem, NULL));
    FILE *file = fopen(certificate_file, "w");
    assert_non_null(file);
    fprintf(file, "%s%s", cluster.certificate_pem, pem);
    fclose(file);
    struct login *login = login_new(yaml, &own, &cluster);
    expect_token(login);
    login_free(login);
    key_pair_write_pkcs12(&own, certificate_file, "s3cret");
}

/* One that is seen on its way is of no use for long. */
static void test_an_assertion_ends_soon(void **state)
{
    CLEANUP(freep) char *yaml = certificate_identity();
    size_t length;

    (void)state;
    key_pair_write_pem(&own, certificate_file, NULL);
    struct login *login = login_new(yaml, &own, &cluster);
    expect_token(login);
    const char *assertion = strstr(login->last_form, "client_assertion=");
    assert_non_null(assertion);
    const char *claims = strchr(assertion, '.');
    assert_non_null(claims);
    CLEANUP(freep) char *text = base64url_decode(claims + 1, strcspn(claims + 1, "."), &length);
    CLEANUP(json_decrefp) json_t *json = json_loadb(text, length, 0, NULL);
    json_int_t from = json_integer_value(json_object_get(json, "nbf"));
    json_int_t to = json_integer_value(json_object_get(json, "exp"));
    assert_in_range(from, BEGIN, BEGIN + 60);
    assert_in_range(to - from, 1, 600);
    login_free(login);
    key_pair_write_pkcs12(&own, certificate_file, "s3cret");
}

/* ---- the metadata service ---- */

#define MANAGED "{" BASE "useManagedIdentityExtension: true"

static void test_the_metadata_service_comes_back(void **state)
{
    static const int statuses[] = {404, 410, 429, 500, 503};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(statuses); i++) {
        struct login *login = login_new(MANAGED "}", NULL, NULL);

        login->script = (struct scripted){.status = statuses[i]};
        login->times = 3;
        struct need need = need_token(login, 30 * 1000);
        assert_ok(TAKE_PTR(need.err));
        assert_int_equal(login->asked, 4);
        need_fini(&need);
        login_free(login);
    }
}

static void test_the_metadata_service_stays_away(void **state)
{
    struct login *login = login_new(MANAGED "}", NULL, NULL);

    (void)state;
    login->script = (struct scripted){.status = 410};
    login->times = 1000;
    expect_failure(login, 80 * 1000, ERR_UNAVAILABLE, "", "(HTTP 410)");
    assert_in_range(login->asked, 4, 7);
    login_free(login);
}

static void test_the_metadata_service_says_when(void **state)
{
    struct login *login = login_new(MANAGED "}", NULL, NULL);

    (void)state;
    login->script = (struct scripted){429, "Retry-After", "40", "{}"};
    login->times = 1;
    struct need need;
    need_begin(login, &need);
    loop_advance(login->azure->loop, 39 * 1000);
    assert_int_equal(login->asked, 1);
    loop_advance(login->azure->loop, 2 * 1000);
    assert_true(need.ended);
    assert_ok(TAKE_PTR(need.err));
    need_fini(&need);
    login_free(login);
}

static void test_an_identity_that_the_vm_has_not(void **state)
{
    struct login *login = login_new(MANAGED ", userAssignedIdentityID: "
                                            "c9000000-0000-0000-0000-000000000000}",
                                    NULL, NULL);

    (void)state;
    expect_failure(login, 100, ERR_DENIED, "invalid_request", "Identity not found (HTTP 400)");
    assert_int_equal(login->asked, 2); /* neither a client nor an object */
    login_free(login);
}

static void test_no_metadata_service(void **state)
{
    struct login *login = login_new(MANAGED "}", NULL, NULL);

    (void)state;
    login->fault = "169.254.169.254: no route to host";
    expect_failure(login, 100, ERR_UNAVAILABLE, "", "no route to host");
    login_free(login);
}

/* ---- files ---- */

static int make_files(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    certificate_file = mem_printf("%s/certificate.p12", folder);
    token_file = mem_printf("%s/token", folder);
    key_pair_init(&own);
    key_pair_init(&cluster);
    key_pair_write_pkcs12(&own, certificate_file, "s3cret");
    return 0;
}

static int drop_files(void **state)
{
    (void)state;
    remove(certificate_file);
    remove(token_file);
    rmdir(folder);
    free(certificate_file);
    free(token_file);
    key_pair_fini(&own);
    key_pair_fini(&cluster);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_identity_opens_resource_manager),
        cmocka_unit_test(test_the_vms_own_identity_and_a_given_one_are_two),
        cmocka_unit_test(test_a_new_workload_token_is_taken),
        cmocka_unit_test(test_a_new_certificate_is_taken),
        cmocka_unit_test(test_a_certificate_behind_its_issuers),
        cmocka_unit_test(test_an_assertion_ends_soon),
        cmocka_unit_test(test_the_metadata_service_comes_back),
        cmocka_unit_test(test_the_metadata_service_stays_away),
        cmocka_unit_test(test_the_metadata_service_says_when),
        cmocka_unit_test(test_an_identity_that_the_vm_has_not),
        cmocka_unit_test(test_no_metadata_service),
    };

    return cmocka_run_group_tests(tests, make_files, drop_files);
}
