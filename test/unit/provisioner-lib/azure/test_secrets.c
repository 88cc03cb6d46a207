/* What a credential knew is nowhere in memory once it is freed: a core that is written then has
 * neither secret nor key nor token. The whole process is searched, freed memory and stacks too. */
#include <stdlib.h>
#include <unistd.h>

#include <openssl/core_names.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/base/file.h"
#include "lib/http/tls_memory.h"
#include "lib/json/parse.h"
#include "provisioner-lib/azure/credential.h"
#include "test/unit/expect.h"
#include "test/unit/needle.h"
#include "test/unit/test/azsim/arm/key_pair.h"

/* ---- the credential ---- */

struct session {
    struct http_transport transport;
    struct loop *loop;
    struct task_group group;
    struct azure_config config;
    struct credential *credential;
    const struct needle *token; /* that is given */
};

static struct err *give_token(struct http_transport *transport, struct task *self,
                              const struct http_request *request, struct http_response *ret)
{
    struct session *session = CONTAINER_OF(transport, struct session, transport);
    struct buffer body = {.limit = 4096};

    (void)self, (void)request;
    buffer_printf(&body, "{\"expires_in\": 3599, \"access_token\": \"");
    needle_append(&body, session->token);
    buffer_printf(&body, "\"}");
    *ret = (struct http_response){.status = 200, .body_length = body.length};
    ret->body = buffer_take(&body);
    return NULL;
}

static void use(struct task *self, void *arg)
{
    struct session *session = arg;
    char *authorization;

    assert_ok(credential_get(self, session->credential, &authorization));
    explicit_bzero(authorization, strlen(authorization));
    free(authorization);
    group_close(self, &session->group);
}

/* Logs in, and out; in between, what is kept, if anything, has to be found. */
static void log_in_and_out(struct buffer *file, const struct needle *token,
                           const struct needle *kept)
{
    struct session *session = mem_alloc(sizeof *session);

    session->transport = (struct http_transport){.exchange = give_token};
    session->loop = loop_new_virtual(1);
    session->token = token;
    group_init(&session->group, session->loop);
    assert_ok(azure_config_parse(file->data, file->length, &session->config));
    buffer_fini(file);
    session->credential =
        credential_new(&session->group, &session->config, &session->transport, &session->transport);
    loop_spawn(session->loop, "use", use, session);
    loop_advance(session->loop, 1000);
    assert_in_range(needle_count(token), 1, 1);
    if (kept)
        assert_in_range(needle_count(kept), 1, 1);
    credential_free(session->credential);
    azure_config_fini(&session->config);
    loop_free(session->loop);
    free(session);
}

#define BASE                                                                                       \
    "{\"tenantId\": \"t\", \"subscriptionId\": \"s\", \"resourceGroup\": \"g\", "                  \
    "\"location\": \"l\", \"aadClientId\": \"c\", "

static void test_a_client_secret_and_its_token(void **state)
{
    struct needle secret = needle_new("secret"), token = needle_new("token");
    struct buffer file = {.limit = 4096};

    (void)state;
    buffer_printf(&file, BASE "\"aadClientSecret\": \"");
    needle_append(&file, &secret);
    buffer_printf(&file, "\"}");
    assert_in_range(needle_count(&secret), 1, 1);
    log_in_and_out(&file, &token, &secret);
    assert_int_equal(needle_count(&secret), 0);
    assert_int_equal(needle_count(&token), 0);
}

/* The private exponent, as files have it and as numbers are computed with. */
static void take_exponent(const struct key_pair *pair, struct needle *ret_big,
                          struct needle *ret_little)
{
    unsigned char bytes[NEEDLE_SIZE];
    unsigned char *all = mem_alloc(256);
    BIGNUM *exponent = NULL;

    assert_true(EVP_PKEY_get_bn_param(pair->key, OSSL_PKEY_PARAM_RSA_D, &exponent));
    assert_int_equal(BN_bn2binpad(exponent, all, 256), 256);
    *ret_big = needle_of(all + 64, NEEDLE_SIZE);
    for (int i = 0; i < NEEDLE_SIZE; i++)
        bytes[i] = all[255 - 64 - i];
    *ret_little = needle_of(bytes, NEEDLE_SIZE);
    explicit_bzero(bytes, sizeof bytes);
    explicit_bzero(all, 256);
    free(all);
    BN_clear_free(exponent);
}

static void test_a_certificates_key(void **state)
{
    struct needle password = needle_new("password"), token = needle_new("token"), big, little;
    struct buffer file = {.limit = 4096}, text = {.limit = 64};
    struct key_pair pair;
    char path[] = "/tmp/test_secrets_XXXXXX";

    (void)state;
    close(mkstemp(path));
    key_pair_init(&pair);
    take_exponent(&pair, &big, &little);
    needle_append(&text, &password);
    key_pair_write_pkcs12(&pair, path, text.data);
    buffer_fini(&text);
    assert_in_range(needle_count(&little), 1, 10);
    key_pair_fini(&pair);

    buffer_printf(&file, BASE "\"aadClientCertPath\": \"%s\", \"aadClientCertPassword\": \"", path);
    needle_append(&file, &password);
    buffer_printf(&file, "\"}");
    log_in_and_out(&file, &token, &password);
    remove(path);
    assert_int_equal(needle_count(&password), 0);
    assert_int_equal(needle_count(&token), 0);
    assert_int_equal(needle_count(&little), 0);
    assert_int_equal(needle_count(&big), 0);
}

/* The text of a key that no password protects. */
static struct needle needle_of_key_file(const char *path)
{
    static const char begin[] = "-----BEGIN PRIVATE KEY-----\n";
    char *text, *key;
    size_t length;

    assert_ok(file_read(path, 64 * 1024, &text, &length));
    key = strstr(text, begin);
    assert_non_null(key);
    struct needle needle = needle_of(key + strlen(begin) + 10 * 65, NEEDLE_SIZE);
    explicit_bzero(text, length);
    free(text);
    return needle;
}

static void test_a_key_in_a_file_of_its_own(void **state)
{
    struct needle token = needle_new("token"), key;
    struct buffer file = {.limit = 4096};
    struct key_pair pair;
    char path[] = "/tmp/test_secrets_XXXXXX";

    (void)state;
    close(mkstemp(path));
    key_pair_init(&pair);
    key_pair_write_pem(&pair, path, NULL);
    key_pair_fini(&pair);
    key = needle_of_key_file(path);
    unsigned before = needle_count(&key);

    buffer_printf(&file, BASE "\"aadClientCertPath\": \"%s\"}", path);
    log_in_and_out(&file, &token, NULL);
    remove(path);
    assert_int_equal(needle_count(&key), before);
    assert_int_equal(needle_count(&token), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_client_secret_and_its_token),
        cmocka_unit_test(test_a_certificates_key),
        cmocka_unit_test(test_a_key_in_a_file_of_its_own),
    };

    tls_memory_clear_freed();
    json_clear_freed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
