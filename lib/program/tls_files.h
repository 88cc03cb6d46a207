/* tls_files.h - the certificate of a listener, and the authorities of those who may call it.
 *
 * They are files, of a Secret as a rule, which are written anew before they expire.
 */
#pragma once

#include <stdbool.h>

#include "lib/base/err.h"

/* As flags name them; "" each that there is none of. */
struct tls_files {
    const char *prefix; /* of the flags: "--" or "--metrics-" */
    const char *certificate, *key, *client_ca;
};

/* PEM text; NULL each that no flag names. */
struct tls_pem {
    char *certificate, *key, *client_ca;
};

/* INVALID or what reading a file says, with the flag: what is read fits together. */
struct err *tls_files_read(const struct tls_files *files, struct tls_pem *ret)
    __attribute__((warn_unused_result));
void tls_pem_fini(struct tls_pem *pem);
bool tls_pem_equal(const struct tls_pem *a, const struct tls_pem *b);
