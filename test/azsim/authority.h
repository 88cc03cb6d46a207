/* authority.h - a certificate authority of our own, so that clients can verify who they talk to.
 *
 * Its certificate and key are made once and stay in the state folder (ca.pem for everybody,
 * ca-key.pem for nobody else); the server's certificate is issued anew at each start.
 */
#pragma once

#include "lib/base/err.h"

struct server_certificate {
    char *certificate_pem, *key_pem; /* owned */
};

/* For a list of host names and IP addresses, separated by commas. */
struct err *authority_issue(const char *folder, const char *hosts, struct server_certificate *ret)
    __attribute__((warn_unused_result));
void server_certificate_fini(struct server_certificate *certificate);

static inline void server_certificate_finip(struct server_certificate *certificate)
{
    server_certificate_fini(certificate);
}
