/* What is made is accepted by OpenSSL as a client of the API server would, and what is not is found
 * out. */
#include "controller/certificate/pair.h"

#include <openssl/x509v3.h>
#include <stdlib.h>

#include "controller/certificate/x509_text.h"
#include "lib/base/secret.h"
#include "test/unit/expect.h"

#define HOST "csi-azuredisk-scheduler-extender.kube-system.svc"
#define HOUR_MS (UINT64_C(60) * 60 * 1000)
#define NOW INT64_C(1795000000000000)

static struct certificate_pair made(const char *host)
{
    struct certificate_pair pair = {0};

    assert_ok(certificate_pair_make(host, NOW, HOUR_MS, &pair));
    return pair;
}

static X509 *read_pem(const char *pem)
{
    CLEANUP(bio_freep) BIO *bio = x509_text_bio(pem);
    X509 *certificate = PEM_read_bio_X509(bio, NULL, NULL, NULL);

    assert_non_null(certificate);
    return certificate;
}

/* Without the code that is tested. */
static bool is_accepted(const struct certificate_pair *pair, const char *host, int64_t at_us,
                        int purpose)
{
    CLEANUP(x509_freep) X509 *certificate = read_pem(pair->certificate);
    CLEANUP(x509_freep) X509 *authority = read_pem(pair->authority);
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *context = X509_STORE_CTX_new();

    X509_STORE_add_cert(store, authority);
    X509_STORE_CTX_init(context, store, certificate, NULL);
    X509_VERIFY_PARAM *wanted = X509_STORE_CTX_get0_param(context);
    X509_VERIFY_PARAM_set_time(wanted, (time_t)(at_us / 1000000));
    X509_VERIFY_PARAM_set_purpose(wanted, purpose);
    X509_VERIFY_PARAM_set_flags(wanted, X509_V_FLAG_X509_STRICT);
    X509_VERIFY_PARAM_set1_host(wanted, host, 0);
    bool accepted = X509_verify_cert(context) == 1;
    X509_STORE_CTX_free(context);
    X509_STORE_free(store);
    return accepted;
}

static void test_a_client_accepts_it(void **state)
{
    CLEANUP(certificate_pair_fini) struct certificate_pair pair = made(HOST);
    const int64_t second = 1000000, hour = 3600 * second;
    const struct {
        const char *host;
        int64_t at_us;
        int purpose;
        bool accepted;
    } asked[] = {
        {HOST, NOW, X509_PURPOSE_SSL_SERVER, true},
        {HOST, NOW - 299 * second, X509_PURPOSE_SSL_SERVER, true},
        {HOST, NOW - 301 * second, X509_PURPOSE_SSL_SERVER, false},
        {HOST, NOW + hour - second, X509_PURPOSE_SSL_SERVER, true},
        {HOST, NOW + hour + second, X509_PURPOSE_SSL_SERVER, false},
        {HOST, NOW, X509_PURPOSE_SSL_CLIENT, false},
        {"csi-azuredisk-scheduler-extender.other.svc", NOW, X509_PURPOSE_SSL_SERVER, false},
        {"azuredisk placement webhook", NOW, X509_PURPOSE_SSL_SERVER, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(asked); i++)
        if (is_accepted(&pair, asked[i].host, asked[i].at_us, asked[i].purpose) !=
            asked[i].accepted)
            fail_msg("row %zu", i);
}

static void test_its_key_is_elliptic_and_its_authority_issues_no_other(void **state)
{
    CLEANUP(certificate_pair_fini) struct certificate_pair pair = made(HOST);
    CLEANUP(certificate_pair_fini) struct certificate_pair other = made(HOST);
    CLEANUP(x509_freep) X509 *certificate = read_pem(pair.certificate);
    CLEANUP(x509_freep) X509 *authority = read_pem(pair.authority);
    CLEANUP(x509_freep) X509 *other_authority = read_pem(other.authority);
    char group[32];

    (void)state;
    assert_true(EVP_PKEY_get_group_name(X509_get0_pubkey(certificate), group, sizeof group, NULL));
    assert_string_equal(group, "prime256v1");
    assert_true(X509_check_ca(authority));
    assert_false(X509_check_ca(certificate));
    assert_int_equal(X509_get_pathlen(authority), 0);
    assert_int_not_equal(X509_cmp(authority, other_authority), 0);
    assert_int_equal(X509_verify(certificate, X509_get0_pubkey(other_authority)), 0);
}

static void test_what_is_no_name_gets_none(void **state)
{
    struct certificate_pair pair;

    (void)state;
    assert_fails(certificate_pair_make("a.svc,DNS:kubernetes.default.svc", NOW, HOUR_MS, &pair),
                 ERR_INVALID, "\"a.svc,DNS:kubernetes.default.svc\" is no DNS name");
    assert_fails(certificate_pair_make("", NOW, HOUR_MS, &pair), ERR_INVALID,
                 "\"\" is no DNS name");
}

/* ---- checking ---- */

static void test_what_was_made_is_of_use(void **state)
{
    CLEANUP(certificate_pair_fini) struct certificate_pair pair = made(HOST);
    struct certificate_term term;

    (void)state;
    assert_ok(certificate_pair_check(&pair, HOST, &term));
    assert_int_equal(term.begins_us, NOW - INT64_C(300) * 1000000);
    assert_int_equal(term.ends_us, NOW + INT64_C(3600) * 1000000);
}

static void test_what_no_client_would_accept_is_found_out(void **state)
{
    CLEANUP(certificate_pair_fini) struct certificate_pair good = made(HOST);
    CLEANUP(certificate_pair_fini) struct certificate_pair other = made(HOST);
    char junk[] = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    char nothing[] = "";
    struct certificate_term term;
    const struct {
        struct certificate_pair pair;
        const char *host, *why;
    } broken[] = {
        {{NULL, NULL, NULL}, HOST, "the certificate cannot be read"},
        {{good.authority, nothing, nothing}, HOST, "the certificate cannot be read"},
        {{good.authority, junk, good.key}, HOST, "the certificate cannot be read"},
        {{NULL, good.certificate, good.key}, HOST, "the authority cannot be read"},
        {{good.authority, good.certificate, other.key},
         HOST,
         "the private key does not belong to the certificate"},
        {{other.authority, good.certificate, good.key},
         HOST,
         "the certificate is none of " HOST ": unable to get local issuer certificate"},
        {{good.authority, good.certificate, good.key},
         "renamed.kube-system.svc",
         "the certificate is none of renamed.kube-system.svc: hostname mismatch"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(broken); i++)
        assert_fails(certificate_pair_check(&broken[i].pair, broken[i].host, &term), ERR_INVALID,
                     broken[i].why);
    CLEANUP(err_freep)
    struct err *err = certificate_pair_check(
        &(struct certificate_pair){good.authority, good.certificate, NULL}, HOST, &term);
    assert_int_equal(err_kind(err), ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_client_accepts_it),
        cmocka_unit_test(test_its_key_is_elliptic_and_its_authority_issues_no_other),
        cmocka_unit_test(test_what_is_no_name_gets_none),
        cmocka_unit_test(test_what_was_made_is_of_use),
        cmocka_unit_test(test_what_no_client_would_accept_is_found_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
