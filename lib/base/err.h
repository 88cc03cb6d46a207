/* err.h - the one way in which a function says that it failed.
 *
 * A function that can fail returns `struct err *`. NULL is success; anything else is a failure that
 * the caller owns and passes up, wraps or frees. There is no second channel: no errno to look at,
 * no half-valid result, no code that has to agree with a message. Results come out through trailing
 * `ret_*` pointers, which are untouched on failure.
 *
 * An error is of one kind out of a closed list. The kind, and only the kind, decides how the rest
 * of the program reacts: the gRPC status that a CSI caller sees, the reason in a custom resource's
 * status, the label of a metric, and whether and when the work is tried again. Those are
 * columns of the table below, so that a new kind is one row.
 *
 * Who logs: nobody but the boundary where an error stops travelling (a reconcile, an RPC, main).
 * Running out of memory and broken invariants are not errors; they abort.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/cleanup.h"

enum err_retry {
    ERR_RETRY_NEVER,   /* the same request fails again until its author changes it */
    ERR_RETRY_BACKOFF, /* later, ever less often */
    ERR_RETRY_AFTER,   /* not before err_retry_after_ms() */
    ERR_RETRY_NOW,     /* at once: something newer has to be read first */
};

/*   kind, gRPC status, retry, whether it is transient, reason as CRs and metrics spell it
 *   (status numbers: google.golang.org/grpc/codes, the same in every language) */
#define ERR_KINDS(ROW)                                                                             \
    ROW(INVALID, 3, ERR_RETRY_NEVER, false, "InvalidArgument")                                     \
    ROW(NOT_FOUND, 5, ERR_RETRY_NEVER, false, "NotFound")                                          \
    ROW(EXISTS, 6, ERR_RETRY_NEVER, false, "AlreadyExists")                                        \
    ROW(DENIED, 7, ERR_RETRY_BACKOFF, false, "PermissionDenied")                                   \
    ROW(EXHAUSTED, 8, ERR_RETRY_BACKOFF, false, "ResourceExhausted")                               \
    ROW(PRECONDITION, 9, ERR_RETRY_BACKOFF, false, "FailedPrecondition")                           \
    ROW(CONFLICT, 10, ERR_RETRY_NOW, true, "Conflict")                                             \
    ROW(THROTTLED, 10, ERR_RETRY_AFTER, true, "Throttled")                                         \
    ROW(BUSY, 10, ERR_RETRY_BACKOFF, true, "OperationPending")                                     \
    ROW(OUT_OF_RANGE, 11, ERR_RETRY_NEVER, false, "OutOfRange")                                    \
    ROW(UNIMPLEMENTED, 12, ERR_RETRY_NEVER, false, "Unimplemented")                                \
    ROW(INTERNAL, 13, ERR_RETRY_BACKOFF, false, "Internal")                                        \
    ROW(UNAVAILABLE, 14, ERR_RETRY_BACKOFF, true, "Unavailable")                                   \
    ROW(NOT_SENT, 14, ERR_RETRY_BACKOFF, true, "NotSent")                                          \
    ROW(TIMEOUT, 4, ERR_RETRY_BACKOFF, true, "DeadlineExceeded")                                   \
    ROW(CANCELED, 1, ERR_RETRY_NEVER, false, "Canceled")

enum err_kind {
#define ERR_KIND_ENUM(kind, grpc, retry, transient, reason) ERR_##kind,
    ERR_KINDS(ERR_KIND_ENUM)
#undef ERR_KIND_ENUM
        ERR_KIND_COUNT
};

struct err;

/* A new error; the message says what was tried and what was wrong, with the offending value.
 * Whatever text it quotes, it is made one line of UTF-8. */
struct err *err_new(enum err_kind kind, const char *format, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull, warn_unused_result));

/* A new error of kind THROTTLED that must not be tried again within `after_ms` milliseconds. */
struct err *err_throttled(uint64_t after_ms, const char *format, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull, warn_unused_result));

/* The same error, marked with the word by which another system calls it ("ConflictingUserInput"),
 * for those who look it up there. The word is copied. */
struct err *err_with_code(struct err *err, const char *code)
    __attribute__((returns_nonnull, warn_unused_result));

/* The same error as another kind: what is an author's mistake in a file is an accident in an
 * answer, which comes better the next time. */
struct err *err_as(struct err *err, enum err_kind kind)
    __attribute__((returns_nonnull, warn_unused_result));

/* The same error with "format: " put before its message. Takes ownership of `cause`, which must not
 * be NULL. */
struct err *err_wrap(struct err *cause, const char *format, ...)
    __attribute__((format(printf, 2, 3), returns_nonnull, warn_unused_result));

void err_free(struct err *err); /* NULL is fine */
DEFINE_CLEANUP(struct err, err_free)

/* NULL, and the error is freed, if it is of the kind; else the error. NULL for NULL. */
struct err *err_unless(struct err *err, enum err_kind kind) __attribute__((warn_unused_result));

enum err_kind err_kind(const struct err *err);
const char *err_message(const struct err *err);     /* one line, never empty */
const char *err_code(const struct err *err);        /* NULL if no system gave one */
uint64_t err_retry_after_ms(const struct err *err); /* 0 unless THROTTLED */

int err_kind_grpc_status(enum err_kind kind);
enum err_retry err_kind_retry(enum err_kind kind);
/* Passes by itself: the same request, made again by a caller that waits, may succeed. */
bool err_is_transient(const struct err *err);
const char *err_kind_reason(enum err_kind kind);

/* Leave the calling function with the error, if there is one. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        struct err *try_err_ = (call);                                                             \
        if (try_err_)                                                                              \
            return try_err_;                                                                       \
    } while (0)
