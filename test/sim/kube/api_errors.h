/* api_errors.h - why the simulated API server does not do what it is asked.
 *
 * An error of the kind that lib/kube's client would return, with the API's reason as its code;
 * answer.h makes a Status object of it.
 */
#pragma once

#include "lib/base/err.h"
#include "test/sim/kube/kinds.h"

struct err *refuse_because(enum err_kind error, const char *reason, const char *what)
    __attribute__((warn_unused_result));
/* The request makes no sense, whatever it is about. */
struct err *refuse_request(const char *what) __attribute__((warn_unused_result));

/* The same about an object; `what` goes on from its name. */
struct err *refuse_object(enum err_kind error, const char *reason, const struct kind *kind,
                          const char *name, const char *what) __attribute__((warn_unused_result));
struct err *refuse_not_found(const struct kind *kind, const char *name)
    __attribute__((warn_unused_result));
struct err *refuse_existing(const struct kind *kind, const char *name)
    __attribute__((warn_unused_result));
struct err *refuse_conflict(const struct kind *kind, const char *name, const char *why)
    __attribute__((warn_unused_result));
struct err *refuse_invalid(const struct kind *kind, const char *name, const char *why)
    __attribute__((warn_unused_result));
/* The body is not one of an object that could be there. */
struct err *refuse_misfit(const struct kind *kind, const char *name, const char *why)
    __attribute__((warn_unused_result));
