/* certificates.h - looks at PEM text before a TLS library does, for errors that a person can act
 * on.
 */
#pragma once

#include "lib/base/err.h"

/* INVALID unless `pem` holds at least one certificate. */
struct err *certificates_check(const char *pem) __attribute__((warn_unused_result));

/* INVALID unless both can be read and the key is the certificate's. */
struct err *certificates_check_pair(const char *certificate_pem, const char *key_pem)
    __attribute__((warn_unused_result));
