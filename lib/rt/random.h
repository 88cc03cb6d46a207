/* random.h - a repeatable stream of random numbers (splitmix64), not for secrets.
 */
#pragma once

#include <stdint.h>

struct random {
    uint64_t state;
};

enum { UUID_SIZE = 37 }; /* of the text, its NUL included */

void random_seed_from_system(struct random *random);
uint64_t random_next(struct random *random);
/* 0 to limit - 1. */
uint64_t random_below(struct random *random, uint64_t limit);
/* A random (version 4) UUID as text. */
void random_uuid(struct random *random, char uuid[UUID_SIZE]);
