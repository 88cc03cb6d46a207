#include "test/azsim/arm/seal.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"

enum { DIGEST_SIZE = 32 };

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

char *base64url_encode(const void *data, size_t length)
{
    const unsigned char *bytes = data;
    char *text = mem_alloc((length * 4 + 2) / 3 + 1), *out = text;
    unsigned bits = 0, n = 0;

    for (size_t i = 0; i < length; i++) {
        bits = bits << 8 | bytes[i];
        for (n += 8; n >= 6; n -= 6)
            *out++ = alphabet[bits >> (n - 6) & 63];
    }
    if (n > 0)
        *out++ = alphabet[bits << (6 - n) & 63];
    return text;
}

char *base64url_decode(const char *text, size_t length, size_t *ret_length)
{
    CLEANUP(freep) char *data = mem_alloc(length + 1);
    size_t used = 0;
    unsigned bits = 0, n = 0;

    for (size_t i = 0; i < length; i++) {
        const char *found = text[i] ? strchr(alphabet, text[i]) : NULL;

        if (!found)
            return NULL;
        bits = bits << 6 | (unsigned)(found - alphabet);
        n += 6;
        if (n < 8)
            continue;
        n -= 8;
        data[used++] = (char)(bits >> n & 255);
    }
    data[used] = '\0';
    *ret_length = used;
    return TAKE_PTR(data);
}

void seal_make(const struct seal_key *key, const char *text, size_t length, char seal[SEAL_SIZE])
{
    unsigned char digest[DIGEST_SIZE];
    unsigned size = sizeof digest;

    if (!HMAC(EVP_sha256(), key->bytes, sizeof key->bytes, (const unsigned char *)text, length,
              digest, &size))
        abort();
    CLEANUP(freep) char *encoded = base64url_encode(digest, size);
    snprintf(seal, SEAL_SIZE, "%s", encoded);
}

bool seal_matches(const struct seal_key *key, const char *text, size_t length, const char *seal)
{
    char expected[SEAL_SIZE];

    seal_make(key, text, length, expected);
    return strlen(seal) == SEAL_SIZE - 1 && CRYPTO_memcmp(expected, seal, SEAL_SIZE - 1) == 0;
}
