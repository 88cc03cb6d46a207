#include "test/unit/test/azsim/arm/key_pair.h"

#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/rsa.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "test/azsim/arm/seal.h"
#include "test/unit/expect.h"

static char *text_of(BIO *bio)
{
    char *data;
    long length = BIO_get_mem_data(bio, &data);
    char *text = mem_strndup(data, (size_t)length);

    BIO_free(bio);
    return text;
}

void key_pair_init(struct key_pair *pair)
{
    X509 *certificate = X509_new();
    X509_NAME *name = X509_get_subject_name(certificate);
    BIO *public_key = BIO_new(BIO_s_mem()), *pem = BIO_new(BIO_s_mem());

    pair->key = EVP_RSA_gen(2048);
    pair->certificate = certificate;
    assert_non_null(pair->key);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, (const unsigned char *)"driver", -1, -1,
                               0);
    X509_set_issuer_name(certificate, name);
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, pair->key);
    assert_true(X509_sign(certificate, pair->key, EVP_sha256()) > 0);
    assert_true(PEM_write_bio_PUBKEY(public_key, pair->key));
    assert_true(PEM_write_bio_X509(pem, certificate));
    pair->public_pem = text_of(public_key);
    pair->certificate_pem = text_of(pem);
}

void key_pair_fini(struct key_pair *pair)
{
    EVP_PKEY_free(pair->key);
    X509_free(pair->certificate);
    free(pair->certificate_pem);
    free(pair->public_pem);
}

/* ---- files ---- */

void key_pair_write_pem(const struct key_pair *pair, const char *path, const char *password)
{
    BIO *bio = BIO_new_file(path, "w");

    assert_non_null(bio);
    assert_true(PEM_write_bio_X509(bio, pair->certificate));
    assert_true(PEM_write_bio_PKCS8PrivateKey(bio, pair->key, password ? EVP_aes_256_cbc() : NULL,
                                              NULL, 0, NULL, (void *)(uintptr_t)password));
    BIO_free(bio);
}

void key_pair_write_pkcs12(const struct key_pair *pair, const char *path, const char *password)
{
    PKCS12 *pkcs12 =
        PKCS12_create(password, "driver", pair->key, pair->certificate, NULL, 0, 0, 0, 0, 0);
    BIO *bio = BIO_new_file(path, "w");

    assert_non_null(pkcs12);
    assert_non_null(bio);
    assert_true(i2d_PKCS12_bio(bio, pkcs12));
    PKCS12_free(pkcs12);
    BIO_free(bio);
}

/* ---- tokens ---- */

char *key_pair_thumbprint(const struct key_pair *pair)
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length;

    assert_true(X509_digest(pair->certificate, EVP_sha1(), digest, &length));
    return base64url_encode(digest, length);
}

static char *encode(json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT);
    char *encoded = base64url_encode(text, strlen(text));

    free(text);
    json_decref(json);
    return encoded;
}

char *key_pair_sign(const struct key_pair *pair, json_t *header, json_t *claims)
{
    bool pss = strcmp(json_string_value(json_object_get(header, "alg")), "PS256") == 0;
    CLEANUP(freep) char *first = encode(header);
    CLEANUP(freep) char *second = encode(claims);
    CLEANUP(freep) char *text = mem_printf("%s.%s", first, second);
    unsigned char signature[512];
    size_t length = sizeof signature;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    EVP_PKEY_CTX *padding;

    assert_true(EVP_DigestSignInit(context, &padding, EVP_sha256(), NULL, pair->key) > 0);
    if (pss) {
        assert_true(EVP_PKEY_CTX_set_rsa_padding(padding, RSA_PKCS1_PSS_PADDING) > 0);
        assert_true(EVP_PKEY_CTX_set_rsa_pss_saltlen(padding, RSA_PSS_SALTLEN_DIGEST) > 0);
    }
    assert_true(
        EVP_DigestSign(context, signature, &length, (const unsigned char *)text, strlen(text)) > 0);
    EVP_MD_CTX_free(context);
    CLEANUP(freep) char *third = base64url_encode(signature, length);
    return mem_printf("%s.%s", text, third);
}
