/* token_request.h - asks once for a token, in the way of the configured identity.
 *
 * Entra ID gives it for a client secret, a certificate or a token of Kubernetes; the instance
 * metadata service for being on the VM. Loop's thread; calls yield.
 */
#pragma once

#include "lib/http/transport.h"
#include "provisioner-lib/azure/config.h"

struct token_source {
    const struct azure_config *config;
    struct http_transport *entra, *metadata;
    bool by_object_id; /* what the user-assigned identity's UUID turned out to be */
};

struct token {
    char *authorization;         /* "Bearer ...", secret_free() it */
    uint64_t lasts_ms, renew_ms; /* from now: until it ends, until a new one should be got */
};

/* `claims`: what Resource Manager demanded of the next token, as JSON; NULL: nothing. DENIED if the
 * identity is refused, with the answer's words but never with a secret, and with the code "AADSTS"
 * and a number if there is one; THROTTLED, UNAVAILABLE. */
struct err *token_request(struct task *self, struct token_source *source, const char *claims,
                          struct token *ret) __attribute__((warn_unused_result));
