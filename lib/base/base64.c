#include "lib/base/base64.h"

#include <limits.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/secret.h"

char *base64_encode(const void *data, size_t length)
{
    if (length > INT_MAX)
        abort();
    unsigned char *text = mem_alloc(4 * ((length + 2) / 3) + 1);

    EVP_EncodeBlock(text, data, (int)length);
    return (char *)text;
}

/* How many bytes of the last three are none; 4: the text is no base64. */
static size_t padding_of(const char *text, size_t length)
{
    size_t n = 0;

    while (n < length && text[length - n - 1] == '=')
        n++;
    return length % 4 == 0 && n <= 2 && !memchr(text, '=', length - n) ? n : 4;
}

bool base64_decode(const char *text, char **ret_data, size_t *ret_length)
{
    size_t length = strlen(text), padding = padding_of(text, length);

    if (padding > 2 || length > INT_MAX)
        return false;
    unsigned char *data = mem_alloc(length / 4 * 3 + 1);
    /* White space, which OpenSSL skips, makes it shorter. */
    if (EVP_DecodeBlock(data, (const unsigned char *)text, (int)length) != (int)(length / 4 * 3)) {
        secret_free_block(data);
        return false;
    }
    *ret_length = length / 4 * 3 - padding;
    data[*ret_length] = '\0';
    *ret_data = (char *)data;
    return true;
}
