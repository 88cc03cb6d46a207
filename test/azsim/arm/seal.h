/* seal.h - text that shows whether it was made here: HMAC-SHA256 and base64url.
 *
 * Tokens and the URLs of operations are sealed with one key. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { SEAL_KEY_SIZE = 32, SEAL_SIZE = 44 /* of the text, its NUL included */ };

struct seal_key {
    unsigned char bytes[SEAL_KEY_SIZE];
};

/* The seal of a text, as base64url. */
void seal_make(const struct seal_key *key, const char *text, size_t length, char seal[SEAL_SIZE]);
/* In a time that says nothing about where they differ. */
bool seal_matches(const struct seal_key *key, const char *text, size_t length, const char *seal);

char *base64url_encode(const void *data, size_t length) __attribute__((warn_unused_result));
/* NULL if it is none; otherwise ends in a NUL that is not counted. */
char *base64url_decode(const char *text, size_t length, size_t *ret_length)
    __attribute__((warn_unused_result));
