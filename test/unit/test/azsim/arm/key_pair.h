/* key_pair.h - an RSA key with its certificate, the files that hold them, and what it signs.
 *
 * To make one takes a moment: once in a program is enough.
 */
#pragma once

#include <jansson.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

struct key_pair {
    EVP_PKEY *key;
    X509 *certificate;
    char *certificate_pem, *public_pem;
};

void key_pair_init(struct key_pair *pair);
void key_pair_fini(struct key_pair *pair);

/* Where a client reads it; `password` may be NULL. */
void key_pair_write_pem(const struct key_pair *pair, const char *path, const char *password);
void key_pair_write_pkcs12(const struct key_pair *pair, const char *path, const char *password);

/* The certificate's SHA-1 as base64url. free() it. */
char *key_pair_thumbprint(const struct key_pair *pair);
/* A JSON web token; takes header (its "alg" is RS256 or PS256) and claims. free() it. */
char *key_pair_sign(const struct key_pair *pair, json_t *header, json_t *claims);
