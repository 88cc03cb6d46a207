#include "test/azsim/arm/assertion.h"

#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"
#include "test/azsim/arm/seal.h"

/* Entra ID and its clients may disagree about the time so much. */
enum { SKEW_S = 5 * 60 };

static inline void bio_freep(BIO **bio)
{
    BIO_free(*bio);
}

static inline void x509_freep(X509 **certificate)
{
    X509_free(*certificate);
}

static inline void key_freep(EVP_PKEY **key)
{
    EVP_PKEY_free(*key);
}

static inline void digest_context_freep(EVP_MD_CTX **context)
{
    EVP_MD_CTX_free(*context);
}

/* ---- reading ---- */

static json_t *decode_object(const char *text, size_t length)
{
    size_t decoded;
    CLEANUP(freep) char *json = base64url_decode(text, length, &decoded);
    json_t *object = json ? json_loadb(json, decoded, 0, NULL) : NULL;

    if (object && !json_is_object(object)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

bool assertion_read(struct assertion *assertion, const char *text)
{
    const char *first = strchr(text, '.'), *second = first ? strchr(first + 1, '.') : NULL;

    *assertion = (struct assertion){0};
    if (!second)
        return false;
    assertion->header = decode_object(text, (size_t)(first - text));
    assertion->claims = decode_object(first + 1, (size_t)(second - first - 1));
    assertion->signed_text = mem_strndup(text, (size_t)(second - text));
    assertion->signature = (unsigned char *)base64url_decode(second + 1, strlen(second + 1),
                                                             &assertion->signature_length);
    if (assertion->header && assertion->claims && assertion->signature)
        return true;
    assertion_fini(assertion);
    return false;
}

void assertion_fini(struct assertion *assertion)
{
    json_decref(assertion->header);
    json_decref(assertion->claims);
    free(assertion->signed_text);
    free(assertion->signature);
    *assertion = (struct assertion){0};
}

/* ---- claims ---- */

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text ? text : "";
}

const char *assertion_claim(const struct assertion *assertion, const char *name)
{
    return text_of(assertion->claims, name);
}

bool assertion_is_for(const struct assertion *assertion, const char *audience)
{
    const json_t *list = json_object_get(assertion->claims, "aud"), *item;
    size_t i;

    json_array_foreach(list, i, item)
        if (json_is_string(item) && strcmp(json_string_value(item), audience) == 0)
            return true;
    return strcmp(assertion_claim(assertion, "aud"), audience) == 0;
}

bool assertion_is_valid_at(const struct assertion *assertion, int64_t now_s)
{
    const json_t *from = json_object_get(assertion->claims, "nbf");
    const json_t *until = json_object_get(assertion->claims, "exp");

    return json_is_number(until) && json_number_value(until) > (double)now_s &&
           (!json_is_number(from) || json_number_value(from) <= (double)(now_s + SKEW_S));
}

/* ---- signatures ---- */

EVP_PKEY *assertion_key(const char *pem)
{
    CLEANUP(bio_freep) BIO *bio = BIO_new_mem_buf(pem, -1);

    return PEM_read_bio_PUBKEY(bio, NULL, NULL, NULL);
}

static X509 *read_certificate(const char *pem)
{
    CLEANUP(bio_freep) BIO *bio = BIO_new_mem_buf(pem, -1);

    return PEM_read_bio_X509(bio, NULL, NULL, NULL);
}

EVP_PKEY *assertion_key_of_certificate(const char *pem)
{
    CLEANUP(x509_freep) X509 *certificate = read_certificate(pem);

    return certificate ? X509_get_pubkey(certificate) : NULL;
}

bool assertion_is_signed_by(const struct assertion *assertion, EVP_PKEY *key)
{
    CLEANUP(digest_context_freep) EVP_MD_CTX *context = EVP_MD_CTX_new();
    const char *algorithm = text_of(assertion->header, "alg");
    bool pss = strcmp(algorithm, "PS256") == 0;
    EVP_PKEY_CTX *padding;

    if ((!pss && strcmp(algorithm, "RS256") != 0) || !key || !EVP_PKEY_is_a(key, "RSA") ||
        EVP_DigestVerifyInit(context, &padding, EVP_sha256(), NULL, key) <= 0)
        return false;
    if (pss && (EVP_PKEY_CTX_set_rsa_padding(padding, RSA_PKCS1_PSS_PADDING) <= 0 ||
                EVP_PKEY_CTX_set_rsa_pss_saltlen(padding, RSA_PSS_SALTLEN_DIGEST) <= 0))
        return false;
    return EVP_DigestVerify(context, assertion->signature, assertion->signature_length,
                            (const unsigned char *)assertion->signed_text,
                            strlen(assertion->signed_text)) == 1;
}

static bool names(const struct assertion *assertion, X509 *certificate)
{
    const struct {
        const char *member;
        const EVP_MD *digest;
    } rows[] = {{"x5t", EVP_sha1()}, {"x5t#S256", EVP_sha256()}};
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length;

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(freep) char *given = mem_strdup(text_of(assertion->header, rows[i].member));

        given[strcspn(given, "=")] = '\0'; /* some clients keep the padding */
        if (!X509_digest(certificate, rows[i].digest, digest, &length))
            abort();
        CLEANUP(freep) char *wanted = base64url_encode(digest, length);
        if (strcmp(given, wanted) == 0)
            return true;
    }
    return false;
}

bool assertion_is_of_certificate(const struct assertion *assertion, const char *pem)
{
    CLEANUP(x509_freep) X509 *certificate = read_certificate(pem);
    CLEANUP(key_freep) EVP_PKEY *key = certificate ? X509_get_pubkey(certificate) : NULL;

    return certificate && names(assertion, certificate) && assertion_is_signed_by(assertion, key);
}
