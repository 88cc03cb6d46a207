/* input.h - what every fuzz target has: its entry, its input as text, and what must hold.
 *
 * A target is one file, fuzz_<input>.c. It hands what libFuzzer made up to the product's own reader
 * of such input; refusing it is as good as taking it. AddressSanitizer and
 * UndefinedBehaviorSanitizer watch, and MUST says what else has to be true.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "lib/base/err.h"

/* libFuzzer calls it for each input. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            dprintf(STDERR_FILENO, "%s:%d: this must hold: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* The input up to its first NUL, as text in memory that ends there. free() it. */
static inline char *input_text(const uint8_t *data, size_t size)
{
    return mem_strndup((const char *)data, size);
}

/* Whether the call succeeded; its error, which must say something, is freed. */
static inline bool input_taken(struct err *err)
{
    bool taken = !err;

    if (err)
        MUST(err_message(err)[0]);
    err_free(err);
    return taken;
}
