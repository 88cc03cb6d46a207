#include "lib/base/base64.h"

#include <limits.h>
#include <openssl/evp.h>
#include <stdlib.h>

#include "lib/base/alloc.h"

char *base64_encode(const void *data, size_t length)
{
    if (length > INT_MAX)
        abort();
    unsigned char *text = mem_alloc(4 * ((length + 2) / 3) + 1);

    EVP_EncodeBlock(text, data, (int)length);
    return (char *)text;
}
