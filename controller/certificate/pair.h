/* pair.h - a serving certificate and the authority that has issued it, which issues no other: its
 * private key is gone when the certificate is signed.
 *
 * Elliptic keys (P-256), from OpenSSL's own source of randomness. Everything is PEM text. The calls
 * need a large stack (loop_call). Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/err.h"

/* How far the clocks of those who look at a certificate may be behind that of its maker. */
enum { CERTIFICATE_SKEW_MS = 5 * 60 * 1000 };

struct certificate_pair {
    char *authority, *certificate, *key; /* NULL: missing */
};

void certificate_pair_fini(struct certificate_pair *pair);

/* When both certificates are valid. */
struct certificate_term {
    int64_t begins_us, ends_us;
};

/* For the server `host`, from CERTIFICATE_SKEW_MS before now until `lasts_ms` after. INVALID if the
 * host is no DNS name. */
struct err *certificate_pair_make(const char *host, int64_t now_us, uint64_t lasts_ms,
                                  struct certificate_pair *ret) __attribute__((warn_unused_result));

/* INVALID, saying why, unless a client that trusts the authority alone accepts a server `host` with
 * this certificate and key at some time. */
struct err *certificate_pair_check(const struct certificate_pair *pair, const char *host,
                                   struct certificate_term *ret)
    __attribute__((warn_unused_result));
