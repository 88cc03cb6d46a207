#include "lib/http/tls_memory.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>

#include "lib/base/alloc.h"

static void *take(size_t size, const char *file, int line)
{
    (void)file, (void)line;
    return mem_grow(NULL, size);
}

static void give_back(void *memory, const char *file, int line)
{
    (void)file, (void)line;
    if (memory)
        explicit_bzero(memory, malloc_usable_size(memory));
    free(memory);
}

static void *take_another(void *memory, size_t size, const char *file, int line)
{
    size_t had = memory ? malloc_usable_size(memory) : 0;
    void *other = size ? mem_grow(NULL, size) : NULL;

    if (memory && other)
        memcpy(other, memory, had < size ? had : size);
    give_back(memory, file, line);
    return other;
}

void tls_memory_clear_freed(void)
{
    if (!CRYPTO_set_mem_functions(take, take_another, give_back))
        abort();
}
