/* credentials.h - the certificate of a listener, and the authorities of those who may call it.
 *
 * They are files, of a Secret as a rule, which are written anew before they expire.
 */
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"

/* As flags name them; "" each that there is none of. */
struct credential_files {
    const char *prefix; /* of the flags: "--" or "--placement-" */
    const char *certificate, *key, *client_ca;
};

/* PEM text; NULL each that no flag names. */
struct credentials {
    char *certificate, *key, *client_ca;
};

/* INVALID or what reading a file says, with the flag: what is read fits together. */
struct err *credentials_read(const struct credential_files *files, struct credentials *ret)
    __attribute__((warn_unused_result));
void credentials_fini(struct credentials *credentials);
bool credentials_equal(const struct credentials *a, const struct credentials *b);
