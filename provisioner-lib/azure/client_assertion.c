#include "provisioner-lib/azure/client_assertion.h"

#include <jansson.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rsa.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/base64.h"
#include "lib/base/file.h"
#include "lib/base/secret.h"
#include "lib/json/parse.h"
#include "lib/rt/loop.h"

enum { LARGEST_FILE = 256 * 1024, LASTS_S = 10 * 60 };

struct certificate {
    EVP_PKEY *key;
    X509 *own;
    STACK_OF(X509) * issuers; /* or NULL */
};

static void certificate_fini(struct certificate *certificate)
{
    EVP_PKEY_free(certificate->key);
    X509_free(certificate->own);
    sk_X509_pop_free(certificate->issuers, X509_free);
}

static inline void bio_freep(BIO **bio)
{
    BIO_free(*bio);
}

static inline void pkcs12_freep(PKCS12 **pkcs12)
{
    PKCS12_free(*pkcs12);
}

static inline void digest_context_freep(EVP_MD_CTX **context)
{
    EVP_MD_CTX_free(*context);
}

/* OpenSSL's own words for what went wrong last. */
static struct err *fault(const char *what)
{
    const char *reason = ERR_reason_error_string(ERR_peek_last_error());

    ERR_clear_error();
    return err_new(ERR_INVALID, "%s%s%s", what, reason ? ": " : "", reason ? reason : "");
}

/* ---- reading ---- */

static struct err *read_pkcs12(PKCS12 *pkcs12, const char *password, struct certificate *ret)
{
    if (!PKCS12_verify_mac(pkcs12, password, -1) && (password || !PKCS12_verify_mac(pkcs12, "", 0)))
        return err_new(ERR_INVALID,
                       password ? "the password is wrong" : "the file requires a password");
    if (!PKCS12_parse(pkcs12, password ? password : "", &ret->key, &ret->own, &ret->issuers))
        return fault("the file cannot be opened");
    return NULL;
}

static int give_password(char *buffer, int size, int writing, void *password)
{
    size_t length = password ? strlen(password) : 0;

    (void)writing;
    if (!password || length > (size_t)size)
        return -1;
    memcpy(buffer, password, length);
    return (int)length;
}

/* The certificate of the key is the leaf, the others are those that issued it. */
static void sort_certificate(struct certificate *certificate, X509 *found)
{
    if (!certificate->own && X509_check_private_key(found, certificate->key) == 1) {
        certificate->own = found;
        return;
    }
    if (!certificate->issuers)
        certificate->issuers = sk_X509_new_null();
    if (!certificate->issuers || !sk_X509_push(certificate->issuers, found))
        abort();
}

static struct err *read_pem(BIO *bio, const char *password, struct certificate *ret)
{
    X509 *found;

    ret->key = PEM_read_bio_PrivateKey(bio, NULL, give_password, (void *)(uintptr_t)password);
    if (!ret->key)
        return err_new(
            ERR_INVALID,
            "the file is not PKCS#12 and contains no PEM private key that can be read %s",
            password ? "with the password" : "without a password");
    (void)BIO_reset(bio);
    while ((found = PEM_read_bio_X509(bio, NULL, NULL, NULL)))
        sort_certificate(ret, found);
    ERR_clear_error(); /* that there is no further one */
    return NULL;
}

static struct err *check(const struct certificate *certificate)
{
    if (!certificate->key)
        return err_new(ERR_INVALID, "the file contains no private key");
    if (!certificate->own)
        return err_new(ERR_INVALID, "the file contains no certificate for its private key");
    if (!EVP_PKEY_is_a(certificate->key, "RSA"))
        return err_new(ERR_INVALID, "the private key is not an RSA key");
    return NULL;
}

static struct err *parse(const char *text, size_t length, const char *password,
                         struct certificate *ret)
{
    CLEANUP(bio_freep) BIO *bio = BIO_new_mem_buf(text, (int)length);
    CLEANUP(pkcs12_freep) PKCS12 *pkcs12 = d2i_PKCS12_bio(bio, NULL);

    ERR_clear_error();
    (void)BIO_reset(bio);
    TRY(pkcs12 ? read_pkcs12(pkcs12, password, ret) : read_pem(bio, password, ret));
    return check(ret);
}

static struct err *open_certificate(const char *file, const char *password, struct certificate *ret)
{
    char *text;
    size_t length;

    *ret = (struct certificate){0};
    TRY(file_read(file, LARGEST_FILE, &text, &length));
    struct err *err = parse(text, length, password, ret);
    explicit_bzero(text, length);
    free(text);
    if (!err)
        return NULL;
    ERR_clear_error();
    certificate_fini(ret);
    return err_wrap(err, "%s", file);
}

struct err *client_certificate_check(const char *file, const char *password)
{
    struct certificate certificate;

    TRY(open_certificate(file, password, &certificate));
    certificate_fini(&certificate);
    return NULL;
}

/* ---- signing ---- */

static char *base64url(const void *data, size_t length)
{
    char *text = base64_encode(data, length);

    for (char *c = text; *c; c++)
        *c = *c == '+' ? '-' : *c == '/' ? '_' : *c;
    text[strcspn(text, "=")] = '\0';
    return text;
}

static json_t *encoded_certificate(X509 *certificate)
{
    unsigned char *der = NULL;
    int length = i2d_X509(certificate, &der);

    if (length < 0)
        abort();
    CLEANUP(freep) char *text = base64_encode(der, (size_t)length);
    OPENSSL_free(der);
    return json_string(text);
}

/* With the chain: applications may trust an issuer and a name instead of one certificate. */
static json_t *header_of(const struct certificate *certificate)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    json_t *chain = json_array();

    if (!X509_digest(certificate->own, EVP_sha256(), digest, &length))
        abort();
    CLEANUP(freep) char *thumbprint = base64url(digest, length);
    json_array_append_new(chain, encoded_certificate(certificate->own));
    for (int i = 0; i < sk_X509_num(certificate->issuers); i++)
        json_array_append_new(chain, encoded_certificate(sk_X509_value(certificate->issuers, i)));
    return json_pack("{s:s, s:s, s:s, s:o}", "alg", "PS256", "typ", "JWT", "x5t#S256", thumbprint,
                     "x5c", chain);
}

static json_t *claims_of(const struct client_assertion *assertion)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:I}", "aud", assertion->audience, "iss",
                     assertion->client_id, "sub", assertion->client_id, "jti", assertion->id, "nbf",
                     (json_int_t)assertion->now_s, "exp", (json_int_t)assertion->now_s + LASTS_S);
}

static char *encoded_json(json_t *json)
{
    CLEANUP(freep) char *text = json_to_text(json);

    json_decref(json);
    return base64url(text, strlen(text));
}

static struct err *sign(EVP_PKEY *key, const char *text, char **ret)
{
    CLEANUP(digest_context_freep) EVP_MD_CTX *context = EVP_MD_CTX_new();
    EVP_PKEY_CTX *padding;
    size_t length = 0;

    if (!context || EVP_DigestSignInit(context, &padding, EVP_sha256(), NULL, key) <= 0 ||
        EVP_PKEY_CTX_set_rsa_padding(padding, RSA_PKCS1_PSS_PADDING) <= 0 ||
        EVP_PKEY_CTX_set_rsa_pss_saltlen(padding, RSA_PSS_SALTLEN_DIGEST) <= 0 ||
        EVP_DigestSign(context, NULL, &length, (const unsigned char *)text, strlen(text)) <= 0)
        return fault("cannot sign with the private key");
    CLEANUP(freep) unsigned char *signature = mem_alloc(length);
    if (EVP_DigestSign(context, signature, &length, (const unsigned char *)text, strlen(text)) <= 0)
        return fault("cannot sign with the private key");
    *ret = base64url(signature, length);
    return NULL;
}

struct making {
    const struct client_assertion *assertion;
    char *token;
    struct err *err;
};

static void make(void *arg)
{
    struct making *making = arg;
    const struct client_assertion *assertion = making->assertion;
    CLEANUP(freep) char *signature = NULL;
    struct certificate certificate;

    making->err = open_certificate(assertion->file, assertion->password, &certificate);
    if (making->err)
        return;
    CLEANUP(freep) char *header = encoded_json(header_of(&certificate));
    CLEANUP(freep) char *claims = encoded_json(claims_of(assertion));
    CLEANUP(freep) char *text = mem_printf("%s.%s", header, claims);
    making->err = sign(certificate.key, text, &signature);
    certificate_fini(&certificate);
    if (making->err)
        making->err = err_wrap(making->err, "%s", assertion->file);
    else
        making->token = mem_printf("%s.%s", text, signature);
}

struct err *client_assertion_make(struct task *self, const struct client_assertion *assertion,
                                  char **ret)
{
    struct making making = {.assertion = assertion};

    loop_call(self, make, &making); /* OpenSSL is not made for small stacks */
    TRY(making.err);
    *ret = making.token;
    return NULL;
}
