/* known_texts.h - texts that very many of the objects in a cache have: names of labels, annotations
 * and attributes, and a few values. Decoded objects share them. One that is missing here costs
 * memory, and nothing else. Any thread.
 */
#pragma once

#include <stddef.h>

#include "lib/base/arena.h"

/* In the order of arena_know(). */
extern const struct known_text KNOWN_TEXTS[];
extern const size_t N_KNOWN_TEXTS;
