/* authority.h - a certificate authority for tests, and what it issues.
 *
 * Keys are elliptic: one takes less than a millisecond to make. Everything is PEM text, owned by
 * the struct that holds it. Any thread.
 */
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

struct authority {
    X509 *certificate;
    EVP_PKEY *key;
    char *pem; /* of the certificate */
};

struct credentials {
    char *certificate_pem, *key_pem;
};

void authority_init(struct authority *authority, const char *name);
void authority_fini(struct authority *authority);

/* For `name`, and for the server at 127.0.0.1. */
void authority_issue(const struct authority *authority, const char *name, struct credentials *ret);
/* The same for one use only: "serverAuth" or "clientAuth". */
void authority_issue_for(const struct authority *authority, const char *name, const char *use,
                         struct credentials *ret);
void credentials_fini(struct credentials *credentials);

/* The key again, encrypted with a passphrase. free() it. */
char *credentials_encrypted_key(const struct credentials *credentials);
