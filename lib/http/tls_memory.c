#include "lib/http/tls_memory.h"

#include <curl/curl.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "lib/base/alloc.h"
#include "lib/base/secret.h"

static void *take(size_t size)
{
    return mem_grow(NULL, size);
}

static void *take_another(void *memory, size_t size)
{
    size_t had = memory ? malloc_usable_size(memory) : 0;
    void *other = size ? mem_grow(NULL, size) : NULL;

    if (memory && other)
        memcpy(other, memory, had < size ? had : size);
    secret_free_block(memory);
    return other;
}

/* ---- for OpenSSL, which says where it is ---- */

static void *tls_take(size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return take(size);
}

static void *tls_take_another(void *memory, size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return take_another(memory, size);
}

static void tls_give_back(void *memory, const char *file, int line)
{
    (void)file, (void)line;
    secret_free_block(memory);
}

void tls_memory_clear_freed(void)
{
    if (!CRYPTO_set_mem_functions(tls_take, tls_take_another, tls_give_back) ||
        curl_global_init_mem(CURL_GLOBAL_DEFAULT, take, secret_free_block, take_another, mem_strdup,
                             calloc) != CURLE_OK)
        abort();
}
