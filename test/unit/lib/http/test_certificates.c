/* Each row is a certificate and a key, and what is said about the pair. */
#include "lib/http/certificates.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"
#include "test/unit/lib/http/authority.h"

struct fixture {
    struct authority authority;
    struct credentials one, other;
    char *encrypted_key;
};

static int setup(void **state)
{
    struct fixture *fixture = mem_alloc(sizeof *fixture);

    authority_init(&fixture->authority, "test");
    authority_issue(&fixture->authority, "one", &fixture->one);
    authority_issue(&fixture->authority, "other", &fixture->other);
    fixture->encrypted_key = credentials_encrypted_key(&fixture->one);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    authority_fini(&fixture->authority);
    credentials_fini(&fixture->one);
    credentials_fini(&fixture->other);
    free(fixture->encrypted_key);
    free(fixture);
    return 0;
}

static void test_pairs(void **state)
{
    struct fixture *fixture = *state;
    CLEANUP(freep)
    char *chain = mem_printf("%s%s", fixture->one.certificate_pem, fixture->authority.pem);
    const struct {
        const char *certificate, *key, *fault;
    } rows[] = {
        {fixture->one.certificate_pem, fixture->one.key_pem, NULL},
        {chain, fixture->one.key_pem, NULL},
        {fixture->one.certificate_pem, fixture->other.key_pem,
         "the private key does not belong to the certificate"},
        {fixture->one.key_pem, fixture->one.key_pem,
         "no PEM certificate can be read: error:0480006C:PEM routines::no start line"},
        {fixture->one.certificate_pem, fixture->one.certificate_pem,
         "no PEM private key can be read: error:1E08010C:DECODER routines::unsupported"},
        {"", fixture->one.key_pem,
         "no PEM certificate can be read: error:0480006C:PEM routines::no start line"},
        {fixture->one.certificate_pem, fixture->encrypted_key,
         "no PEM private key can be read: error:04800068:PEM routines::bad password read"},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err *err = certificates_check_pair(rows[i].certificate, rows[i].key);

        if (rows[i].fault)
            assert_fails(err, ERR_INVALID, rows[i].fault);
        else
            assert_ok(err);
    }
}

static void test_an_authority_is_a_certificate(void **state)
{
    struct fixture *fixture = *state;

    assert_ok(certificates_check(fixture->authority.pem));
    assert_fails(certificates_check("certificate"), ERR_INVALID,
                 "no PEM certificate can be read: error:0480006C:PEM routines::no start line");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_an_authority_is_a_certificate),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
