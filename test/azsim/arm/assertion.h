/* assertion.h - JSON web tokens that somebody else has signed.
 */
#pragma once

#include <jansson.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdint.h>

struct assertion {
    json_t *header, *claims;
    char *signed_text; /* header and claims as they came */
    unsigned char *signature;
    size_t signature_length;
};

/* False if it is no such token; nothing is verified yet. */
bool assertion_read(struct assertion *assertion, const char *text);
void assertion_fini(struct assertion *assertion);

/* A claim's text; "" if it is not there or no text. */
const char *assertion_claim(const struct assertion *assertion, const char *name);
/* "aud" is a text or a list of them. */
bool assertion_is_for(const struct assertion *assertion, const char *audience);
bool assertion_is_valid_at(const struct assertion *assertion, int64_t now_s);

/* By RS256 or PS256, whichever it says. */
bool assertion_is_signed_by(const struct assertion *assertion, EVP_PKEY *key);
/* The header names the certificate by x5t (SHA-1) or x5t#S256, and it is signed with its key. */
bool assertion_is_of_certificate(const struct assertion *assertion, const char *pem);

/* The key of a PEM certificate or public key; NULL if it is none. */
EVP_PKEY *assertion_key_of_certificate(const char *pem);
EVP_PKEY *assertion_key(const char *pem);

static inline void assertion_finip(struct assertion *assertion)
{
    assertion_fini(assertion);
}
