/* expect.h - cmocka, with assertions about error values and about bugs that must abort.
 *
 * For every unit test; each test_*.c is a program of its own.
 */
#pragma once

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/base/err.h"

#define assert_ok(call) expect_ok((call), __FILE__, __LINE__)
#define assert_fails(call, kind, message)                                                          \
    expect_fails((call), (kind), (message), __FILE__, __LINE__)

static inline void expect_ok(struct err *err, const char *file, int line)
{
    if (!err)
        return;
    print_error("unexpected error: %s\n", err_message(err));
    err_free(err);
    _fail(file, line);
}

static inline void expect_fails(struct err *err, enum err_kind kind, const char *message,
                                const char *file, int line)
{
    if (err && err_kind(err) == kind && strcmp(err_message(err), message) == 0) {
        err_free(err);
        return;
    }
    print_error("expected %s: %s\ngot %s: %s\n", err_kind_reason(kind), message,
                err ? err_kind_reason(err_kind(err)) : "success", err ? err_message(err) : "");
    err_free(err);
    _fail(file, line);
}

/* The statement ends the program; it runs in a child process. */
#define assert_dies(statement)                                                                     \
    do {                                                                                           \
        int dies_status_;                                                                          \
        pid_t dies_child_ = fork();                                                                \
        if (dies_child_ == 0) {                                                                    \
            signal(SIGSEGV, SIG_DFL); /* cmocka would go on with the next test */                  \
            (void)!freopen("/dev/null", "w", stderr);                                              \
            statement;                                                                             \
            _exit(0);                                                                              \
        }                                                                                          \
        assert_int_equal(waitpid(dies_child_, &dies_status_, 0), dies_child_);                     \
        if (dies_status_ == 0)                                                                     \
            fail_msg("%s ended well", #statement);                                                 \
    } while (0)
