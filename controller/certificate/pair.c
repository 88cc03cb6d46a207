#include "controller/certificate/pair.h"

#include <ctype.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include "controller/certificate/x509_text.h"
#include "lib/base/secret.h"
#include "lib/http/certificates.h"

#define AUTHORITY_NAME "azuredisk placement webhook authority"
#define SERVER_NAME "azuredisk placement webhook"

enum { SERIAL_BYTES = 16 };

static void key_freep(EVP_PKEY **key)
{
    EVP_PKEY_free(*key);
}

static void store_freep(X509_STORE **store)
{
    X509_STORE_free(*store);
}

static void store_context_freep(X509_STORE_CTX **context)
{
    X509_STORE_CTX_free(*context);
}

void certificate_pair_fini(struct certificate_pair *pair)
{
    free(pair->authority);
    free(pair->certificate);
    secret_free(pair->key);
    *pair = (struct certificate_pair){0};
}

/* ---- making ---- */

/* OpenSSL fails here without memory or randomness only, and there is no going on without. */
static void must(bool held)
{
    if (!held)
        abort();
}

struct extension {
    int nid;
    const char *value;
};

static void add_extensions(X509 *certificate, X509 *issuer, const struct extension *extensions,
                           size_t n)
{
    X509V3_CTX context;

    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    for (size_t i = 0; i < n; i++) {
        X509_EXTENSION *extension =
            X509V3_EXT_conf_nid(NULL, &context, extensions[i].nid, extensions[i].value);

        must(extension && X509_add_ext(certificate, extension, -1));
        X509_EXTENSION_free(extension);
    }
}

static void set_serial(X509 *certificate)
{
    unsigned char bytes[SERIAL_BYTES];

    must(RAND_bytes(bytes, sizeof bytes) == 1);
    bytes[0] = (bytes[0] & 0x7f) | 0x40; /* positive, and always as long */
    BIGNUM *serial = BN_bin2bn(bytes, sizeof bytes, NULL);
    must(serial && BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(certificate)));
    BN_free(serial);
}

static X509 *new_certificate(const char *name, EVP_PKEY *key, const struct certificate_term *term)
{
    X509 *certificate = X509_new();

    must(certificate && X509_set_version(certificate, X509_VERSION_3));
    set_serial(certificate);
    must(ASN1_TIME_set(X509_getm_notBefore(certificate), (time_t)(term->begins_us / 1000000)) &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), (time_t)(term->ends_us / 1000000)));
    must(X509_set_pubkey(certificate, key) &&
         X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                                    (const unsigned char *)name, -1, -1, 0));
    return certificate;
}

static X509 *make_authority(EVP_PKEY *key, const struct certificate_term *term)
{
    static const struct extension extensions[] = {
        {NID_basic_constraints, "critical,CA:TRUE,pathlen:0"},
        {NID_key_usage, "critical,keyCertSign"},
        {NID_subject_key_identifier, "hash"},
    };
    X509 *authority = new_certificate(AUTHORITY_NAME, key, term);

    must(X509_set_issuer_name(authority, X509_get_subject_name(authority)));
    add_extensions(authority, authority, extensions, COUNT_OF(extensions));
    must(X509_sign(authority, key, EVP_sha256()) > 0);
    return authority;
}

static X509 *issue(const char *host, EVP_PKEY *key, X509 *authority, EVP_PKEY *authority_key,
                   const struct certificate_term *term)
{
    CLEANUP(freep) char *name = mem_printf("DNS:%s", host);
    const struct extension extensions[] = {
        {NID_basic_constraints, "critical,CA:FALSE"},
        {NID_key_usage, "critical,digitalSignature"},
        {NID_ext_key_usage, "serverAuth"},
        {NID_authority_key_identifier, "keyid"},
        {NID_subject_alt_name, name},
    };
    X509 *certificate = new_certificate(SERVER_NAME, key, term);

    must(X509_set_issuer_name(certificate, X509_get_subject_name(authority)));
    add_extensions(certificate, authority, extensions, COUNT_OF(extensions));
    must(X509_sign(certificate, authority_key, EVP_sha256()) > 0);
    return certificate;
}

static char *certificate_text(X509 *certificate)
{
    CLEANUP(bio_freep) BIO *bio = BIO_new(BIO_s_mem());

    must(bio && PEM_write_bio_X509(bio, certificate));
    return x509_bio_text(bio);
}

static char *key_text(EVP_PKEY *key)
{
    CLEANUP(bio_freep) BIO *bio = BIO_new(BIO_s_secmem());

    must(bio && PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL));
    return x509_bio_text(bio);
}

/* What is put into an extension's text must be nothing else. */
static bool is_host(const char *host)
{
    size_t length = strlen(host);

    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)host[i]) && host[i] != '-' && host[i] != '.')
            return false;
    return length > 0 && length <= 253;
}

struct err *certificate_pair_make(const char *host, int64_t now_us, uint64_t lasts_ms,
                                  struct certificate_pair *ret)
{
    const struct certificate_term term = {now_us - CERTIFICATE_SKEW_MS * INT64_C(1000),
                                          now_us + (int64_t)lasts_ms * 1000};

    if (!is_host(host))
        return err_new(ERR_INVALID, "\"%s\" is no DNS name", host);
    CLEANUP(key_freep) EVP_PKEY *authority_key = EVP_EC_gen("P-256");
    CLEANUP(key_freep) EVP_PKEY *key = EVP_EC_gen("P-256");
    must(authority_key && key);
    CLEANUP(x509_freep) X509 *authority = make_authority(authority_key, &term);
    CLEANUP(x509_freep) X509 *certificate = issue(host, key, authority, authority_key, &term);

    *ret = (struct certificate_pair){.authority = certificate_text(authority),
                                     .certificate = certificate_text(certificate),
                                     .key = key_text(key)};
    return NULL;
}

/* ---- checking ---- */

static struct err *read_certificate(const char *what, const char *pem, X509 **ret)
{
    CLEANUP(bio_freep) BIO *bio = x509_text_bio(pem);

    *ret = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    ERR_clear_error();
    return *ret ? NULL : err_new(ERR_INVALID, "%s cannot be read", what);
}

/* Whatever the time is: that it is over, or has not come, is another matter. */
static struct err *verify(X509 *certificate, X509 *authority, const char *host)
{
    CLEANUP(store_freep) X509_STORE *store = X509_STORE_new();
    CLEANUP(store_context_freep) X509_STORE_CTX *context = X509_STORE_CTX_new();

    must(store && context && X509_STORE_add_cert(store, authority) &&
         X509_STORE_CTX_init(context, store, certificate, NULL));
    X509_VERIFY_PARAM *wanted = X509_STORE_CTX_get0_param(context);
    must(X509_VERIFY_PARAM_set_flags(wanted, X509_V_FLAG_NO_CHECK_TIME) &&
         X509_VERIFY_PARAM_set_purpose(wanted, X509_PURPOSE_SSL_SERVER) &&
         X509_VERIFY_PARAM_set1_host(wanted, host, 0));
    X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    bool accepted = X509_verify_cert(context) == 1;
    int fault = X509_STORE_CTX_get_error(context);
    ERR_clear_error();
    return accepted ? NULL
                    : err_new(ERR_INVALID, "the certificate is none of %s: %s", host,
                              X509_verify_cert_error_string(fault));
}

static int64_t later(const ASN1_TIME *a, const ASN1_TIME *b)
{
    return x509_time_us(a) > x509_time_us(b) ? x509_time_us(a) : x509_time_us(b);
}

static int64_t earlier(const ASN1_TIME *a, const ASN1_TIME *b)
{
    return x509_time_us(a) < x509_time_us(b) ? x509_time_us(a) : x509_time_us(b);
}

struct err *certificate_pair_check(const struct certificate_pair *pair, const char *host,
                                   struct certificate_term *ret)
{
    CLEANUP(x509_freep) X509 *authority = NULL;
    CLEANUP(x509_freep) X509 *certificate = NULL;

    TRY(read_certificate("the certificate", pair->certificate, &certificate));
    TRY(read_certificate("the authority", pair->authority, &authority));
    TRY(certificates_check_pair(pair->certificate, pair->key ? pair->key : ""));
    TRY(verify(certificate, authority, host));
    *ret = (struct certificate_term){
        .begins_us = later(X509_get0_notBefore(authority), X509_get0_notBefore(certificate)),
        .ends_us = earlier(X509_get0_notAfter(authority), X509_get0_notAfter(certificate)),
    };
    return NULL;
}
