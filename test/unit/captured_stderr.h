/* captured_stderr.h - what a test writes to the descriptor of stderr, as log.c does.
 *
 * One capture at a time. Linux only.
 */
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "test/unit/expect.h"

enum { MOST_CAPTURED = 256 * 1024 };

struct captured_stderr {
    int real, file;
};

static inline struct captured_stderr capture_stderr(void)
{
    struct captured_stderr capture = {dup(STDERR_FILENO), memfd_create("stderr", 0)};

    assert_true(capture.real >= 0 && capture.file >= 0);
    dup2(capture.file, STDERR_FILENO);
    return capture;
}

/* The caller's. */
static inline char *captured_text(struct captured_stderr capture)
{
    char *text = mem_alloc(MOST_CAPTURED);

    dup2(capture.real, STDERR_FILENO);
    close(capture.real);
    assert_in_range(pread(capture.file, text, MOST_CAPTURED - 1, 0), 0, MOST_CAPTURED - 2);
    close(capture.file);
    return text;
}
