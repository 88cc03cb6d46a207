#include "test/unit/lib/http/authority.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"

static void must(bool held)
{
    if (!held)
        abort();
}

static char *text_of(BIO *bio)
{
    char *data;
    long length = BIO_get_mem_data(bio, &data);
    char *text = mem_strndup(data, (size_t)length);

    BIO_free(bio);
    return text;
}

static char *certificate_text(X509 *certificate)
{
    BIO *bio = BIO_new(BIO_s_mem());

    must(PEM_write_bio_X509(bio, certificate));
    return text_of(bio);
}

static char *key_text(EVP_PKEY *key, const EVP_CIPHER *cipher)
{
    static char passphrase[] = "secret";
    BIO *bio = BIO_new(BIO_s_mem());

    must(PEM_write_bio_PKCS8PrivateKey(bio, key, cipher, cipher ? passphrase : NULL,
                                       cipher ? (int)strlen(passphrase) : 0, NULL, NULL));
    return text_of(bio);
}

static void add_extension(X509 *certificate, int nid, const char *value)
{
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, NULL, nid, value);

    must(extension && X509_add_ext(certificate, extension, -1));
    X509_EXTENSION_free(extension);
}

/* Good for an hour around now; the issuer signs it afterwards. */
static X509 *certificate_for(const char *name, EVP_PKEY *key)
{
    static long serial;
    X509 *certificate = X509_new();

    must(certificate && X509_set_version(certificate, X509_VERSION_3));
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -1800);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 1800);
    must(X509_set_pubkey(certificate, key));
    must(X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                                    (const unsigned char *)name, -1, -1, 0));
    return certificate;
}

void authority_init(struct authority *authority, const char *name)
{
    authority->key = EVP_EC_gen("P-256");
    authority->certificate = certificate_for(name, authority->key);
    must(X509_set_issuer_name(authority->certificate,
                              X509_get_subject_name(authority->certificate)));
    add_extension(authority->certificate, NID_basic_constraints, "critical,CA:TRUE");
    must(X509_sign(authority->certificate, authority->key, EVP_sha256()) > 0);
    authority->pem = certificate_text(authority->certificate);
}

void authority_fini(struct authority *authority)
{
    X509_free(authority->certificate);
    EVP_PKEY_free(authority->key);
    free(authority->pem);
}

void authority_issue(const struct authority *authority, const char *name, struct credentials *ret)
{
    authority_issue_for(authority, name, NULL, ret);
}

void authority_issue_for(const struct authority *authority, const char *name, const char *use,
                         struct credentials *ret)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = certificate_for(name, key);

    must(X509_set_issuer_name(certificate, X509_get_subject_name(authority->certificate)));
    add_extension(certificate, NID_subject_alt_name, "IP:127.0.0.1");
    if (use)
        add_extension(certificate, NID_ext_key_usage, use);
    must(X509_sign(certificate, authority->key, EVP_sha256()) > 0);
    ret->certificate_pem = certificate_text(certificate);
    ret->key_pem = key_text(key, NULL);
    X509_free(certificate);
    EVP_PKEY_free(key);
}

void credentials_fini(struct credentials *credentials)
{
    free(credentials->certificate_pem);
    free(credentials->key_pem);
}

char *credentials_encrypted_key(const struct credentials *credentials)
{
    BIO *bio = BIO_new_mem_buf(credentials->key_pem, -1);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL);
    char *encrypted = key_text(key, EVP_aes_256_cbc());

    EVP_PKEY_free(key);
    BIO_free(bio);
    return encrypted;
}
