/* What is a secret in a text, and what is not. */
#include "azdiskctl/redact.h"

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

#define A31 "abcdefghijklmnopqrstuvwxyz01234"
#define BASE64_86                                                                                  \
    "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789+/AbCdEfGhIjKlMnOpQrStUvWxYz0123456789+/AbCdEfGhIj"
#define JWT "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl"
#define BEGIN "-----BEGIN RSA PRIVATE KEY-----"
#define END "-----END RSA PRIVATE KEY-----"

static const struct {
    const char *text, *redacted;
} rows[] = {
    {"", ""},
    /* By a name before it. */
    {"password=x1 next", "password=(removed) next"},
    {"AADClientSecret: x1, y", "AADClientSecret: (removed) y"},
    {"db_password2 = 'x1 x2' next", "db_password2 = '(removed)' next"},
    {"--client-secret x1 --v=5", "--client-secret (removed) --v=5"},
    {"--client-secret=x1 --v=5", "--client-secret=(removed) --v=5"},
    {"AccountName=a;AccountKey=x1==;EndpointSuffix=b c", "AccountName=a;AccountKey=(removed) c"},
    {"{\"clientSecret\": \"x1\", \"a\": \"b\"}", "{\"clientSecret\": \"(removed)\", \"a\": \"b\"}"},
    {"{\"password\":\"x1\\\"x2\",\"a\":1}", "{\"password\":\"(removed)\",\"a\":1}"},
    {"\"{\\\"password\\\":\\\"x1\\\\\\\"x2\\\",\\\"a\\\":1}\"",
     "\"{\\\"password\\\":\\\"(removed)\\\",\\\"a\\\":1}\""},
    {"\"passwords\":[\"x1\"]", "\"passwords\":[\"(removed)\"]"},
    {"password=\"x1\nnext", "password=\"(removed)\nnext"},
    {"password=\nnext", "password=\nnext"},
    {"password: 'x1''x2', a", "password: '(removed)', a"},
    {"{\"password\":\"\",\"a\":\"b\"}", "{\"password\":\"\",\"a\":\"b\"}"},
    {"password=''", "password=''"},
    {"<password>x1</password>", "<password>(removed)"},
    {"map[token:x1 a:b]", "map[token:(removed) a:b]"},
    {"token => x1", "token => (removed)"},
    {"password%3Dx1 a", "password%3D(removed) a"},
    {"Authorization: Basic eDE6eDI= \nnext", "Authorization: (removed)\nnext"},
    {"cookie: a=x1; b=x2\nnext", "cookie: (removed)\nnext"},
    {"https://a.blob.core.windows.net/b?sv=1&sig=x1%2F&se=2 next",
     "https://a.blob.core.windows.net/b?sv=1&sig=(removed) next"},
    {"b?sv=1\\u0026sig=x1\"", "b?sv=1\\u0026sig=(removed)\""},
    /* By its looks. */
    {"bearer x1.x2-x3_x4== next", "bearer (removed) next"},
    {"a Bearer\t x1", "a Bearer\t (removed)"},
    {"got " JWT ", next", "got (removed), next"},
    {"\\n" JWT "\\n", "\\n(removed)\\n"},
    {"x 1.28Q~" A31 " y", "x (removed) y"},
    {"key " BASE64_86 "== next", "key (removed) next"},
    {"a: LS0tLS1CRUdJTiBQUklWx1+/x2== b", "a: (removed) b"},
    {"https://me:x1@host/path", "https://me:(removed)@host/path"},
    {"get https://me:x1@x2@host/path now", "get https://me:(removed)@host/path now"},
    {"https://me:x1#x2@host https://me:x1/x2?x3@host",
     "https://me:(removed)@host https://me:(removed)@host"},
    {"'https://me:x1'x2@host'", "'https://me:(removed)@host'"},
    {"{\"url\":\"https://me:x1?@host:443/\",\"by\":\"a@b\"}",
     "{\"url\":\"https://me:(removed)@host:443/\",\"by\":\"a@b\"}"},
    {"https://:x1@host,https://me:x2@host", "https://:(removed)@host"},
    {"https://host:443/a@b", "https://host:(removed)@b"}, /* who knows */
    {"a\n" BEGIN "\nx1\nx2\n" END "\nb", "a\n(removed)\nb"},
    {"\"" BEGIN "\\nx1\\n" END "\\n\"", "\"(removed)\\n\""},
    {BEGIN "\nx1", "(removed)"},
    {BEGIN "\nx1\n-----END CERTIFICATE-----\n", "(removed)"},
    {"x1\nx2\n" END "\nb", "(removed)\nb"},
    {"x1\n" END, "(removed)"},
    /* What is none stays as it is. */
    {"csi.storage.k8s.io/node-stage-secret-name: team-a",
     "csi.storage.k8s.io/node-stage-secret-name: team-a"},
    {"secrets \"x\" not found", "secrets \"x\" not found"},
    {"nodeStageSecretRef: {name: a}", "nodeStageSecretRef: {name: a}"},
    {"config: design=a passed=3", "config: design=a passed=3"},
    {"the bearer", "the bearer"},
    {"https://host:443/a b@c", "https://host:443/a b@c"},
    {"https://me@host:443/a", "https://me@host:443/a"},
    {"eyJ.a.b eyJhbGciOiJSUzI1NiJ9", "eyJ.a.b eyJhbGciOiJSUzI1NiJ9"},
    {"1.28Q~short", "1.28Q~short"},
    {BASE64_86, BASE64_86},
    {"-----BEGIN CERTIFICATE-----\na\n-----END CERTIFICATE-----",
     "-----BEGIN CERTIFICATE-----\na\n-----END CERTIFICATE-----"},
    {"/subscriptions/1/resourceGroups/rg/providers/Microsoft.Compute/disks/pvc-1 LUN: 3",
     "/subscriptions/1/resourceGroups/rg/providers/Microsoft.Compute/disks/pvc-1 LUN: 3"},
};

static void check(const char *text, size_t length, const char *redacted, size_t redacted_length)
{
    size_t found;
    CLEANUP(freep) char *copy = mem_copy(text, length + 1); /* of its size, for the sanitizer */
    CLEANUP(freep) char *result = redact_text(copy, length, &found);

    assert_string_equal(result, redacted);
    assert_int_equal(found, redacted_length);
    assert_memory_equal(result, redacted, found + 1);
}

static void test_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        check(rows[i].text, strlen(rows[i].text), rows[i].redacted, strlen(rows[i].redacted));
        check(rows[i].redacted, strlen(rows[i].redacted), rows[i].redacted,
              strlen(rows[i].redacted));
    }
}

static void test_any_bytes(void **state)
{
    static const char text[] = "a\0\xff password=x\0y\n\0b",
                      redacted[] = "a\0\xff password=(removed)\n\0b";

    (void)state;
    check(text, sizeof text - 1, redacted, sizeof redacted - 1);
}

/* Each of these made an earlier rule look at the rest of the text again and again. */
static void test_takes_no_longer_than_the_text(void **state)
{
    static const char *const pieces[] = {"eyJ",         "a://",  "1Q~", "bearer ", "secret ",
                                         "-----BEGIN ", "token", "\\",  "=\"",     "eyJaaaaaa."};
    enum { LENGTH = 1 << 20 };
    CLEANUP(freep) char *text = mem_alloc(LENGTH + 1);
    size_t length;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        for (size_t at = 0; at < LENGTH; at++)
            text[at] = pieces[i][at % strlen(pieces[i])];
        CLEANUP(freep) char *redacted = redact_text(text, LENGTH, &length);
        assert_non_null(redacted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_any_bytes),
        cmocka_unit_test(test_takes_no_longer_than_the_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
