#include "lib/rt/random.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

void random_seed_from_system(struct random *random)
{
    if (getrandom(&random->state, sizeof random->state, 0) != sizeof random->state)
        abort();
}

uint64_t random_next(struct random *random)
{
    uint64_t mixed = random->state += 0x9e3779b97f4a7c15;

    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
}

uint64_t random_below(struct random *random, uint64_t limit)
{
    assert(limit > 0);
    return random_next(random) % limit;
}

void random_uuid(struct random *random, char uuid[UUID_SIZE])
{
    uint64_t high = random_next(random), low = random_next(random);

    high = (high & ~0xf000ULL) | 0x4000;
    low = (low & ~(0xc000ULL << 48)) | (0x8000ULL << 48);
    snprintf(uuid, UUID_SIZE, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(high >> 32),
             (unsigned)(high >> 16) & 0xffff, (unsigned)high & 0xffff, (unsigned)(low >> 48),
             (unsigned long long)low & 0xffffffffffffULL);
}
