#include "lib/http/certificates.h"

#include <string.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

static void BIO_freep(BIO **bio)
{
    BIO_free(*bio);
}

static void X509_freep(X509 **certificate)
{
    X509_free(*certificate);
}

static void EVP_PKEY_freep(EVP_PKEY **key)
{
    EVP_PKEY_free(*key);
}

static BIO *memory(const char *pem)
{
    return BIO_new_mem_buf(pem, (int)strlen(pem));
}

static X509 *read_certificate(const char *pem)
{
    CLEANUP(BIO_freep) BIO *bio = memory(pem);

    return PEM_read_bio_X509(bio, NULL, NULL, NULL);
}

/* For an encrypted key OpenSSL would ask at the terminal. */
static int no_passphrase(char *buffer, int size, int writing, void *ctx)
{
    (void)buffer, (void)size, (void)writing, (void)ctx;
    return -1;
}

/* What OpenSSL says about it, in its own words. */
static struct err *unreadable(const char *what)
{
    char reason[160];

    ERR_error_string_n(ERR_peek_last_error(), reason, sizeof reason);
    ERR_clear_error();
    return err_new(ERR_INVALID, "%s: %s", what, reason);
}

struct err *certificates_check(const char *pem)
{
    CLEANUP(X509_freep) X509 *certificate = read_certificate(pem);

    return certificate ? NULL : unreadable("no PEM certificate can be read");
}

struct err *certificates_check_pair(const char *certificate_pem, const char *key_pem)
{
    CLEANUP(X509_freep) X509 *certificate = read_certificate(certificate_pem);
    if (!certificate)
        return unreadable("no PEM certificate can be read");

    CLEANUP(BIO_freep) BIO *bio = memory(key_pem);
    CLEANUP(EVP_PKEY_freep) EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
    if (!key)
        return unreadable("no PEM private key can be read");
    if (X509_check_private_key(certificate, key) != 1) {
        ERR_clear_error();
        return err_new(ERR_INVALID, "the private key does not belong to the certificate");
    }
    return NULL;
}
