/* client_assertion.h - proves by a certificate that we are an application: a JSON web token that is
 * signed with the certificate's key (PS256) and names it by its SHA-256.
 *
 * The file is read for each token, so that a new certificate is taken when the old one is replaced,
 * and the key is in memory only meanwhile.
 */
#pragma once

#include <stdint.h>

#include "lib/base/err.h"
#include "lib/rt/task.h"

struct client_assertion {
    const char *file;     /* PKCS#12, or PEM with a key, its certificate and those that issued it */
    const char *password; /* NULL: none */
    const char *client_id;
    const char *audience; /* URL of the token end point */
    const char *id;       /* used once */
    int64_t now_s;        /* seconds since 1970 */
};

/* The token; secret_free() it. INVALID with the file's name. */
struct err *client_assertion_make(struct task *self, const struct client_assertion *assertion,
                                  char **ret) __attribute__((warn_unused_result));

/* Whether a file is good for that. Needs a large stack. */
struct err *client_certificate_check(const char *file, const char *password)
    __attribute__((warn_unused_result));
