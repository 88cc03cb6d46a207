#include "lib/base/secret.h"

#include <malloc.h>
#include <stddef.h>
#include <sys/mman.h>

#include "lib/base/list.h"

void secret_free_block(void *memory)
{
    if (memory)
        explicit_bzero(memory, malloc_usable_size(memory));
    free(memory);
}

/* What is mapped, ahead of the text. */
struct kept {
    size_t size;
    char text[];
};

char *secret_keep(const char *text)
{
    if (!text)
        return NULL;
    size_t length = strlen(text) + 1, size = sizeof(struct kept) + length;
    struct kept *kept =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (kept == MAP_FAILED || madvise(kept, size, MADV_DONTDUMP) != 0)
        abort();
    kept->size = size;
    memcpy(kept->text, text, length);
    return kept->text;
}

void secret_drop(char *kept)
{
    struct kept *whole = kept ? CONTAINER_OF(kept, struct kept, text) : NULL;

    if (!whole)
        return;
    size_t size = whole->size;
    explicit_bzero(whole, size);
    munmap(whole, size);
}
