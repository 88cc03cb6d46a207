/* credential.h - tokens for Azure Resource Manager.
 *
 * A token is asked for when it is first needed, kept, and renewed five minutes before it ends; all
 * who need one meanwhile wait for the same request. While an old one still holds, a failure to get
 * a new one is no failure. Loop's thread; calls yield.
 */
#pragma once

#include "lib/http/transport.h"
#include "lib/rt/wait.h"
#include "provisioner-lib/azure/config.h"

struct credential;

/* `entra` reaches Entra ID; `metadata` the instance metadata service, without a proxy. What is
 * pointed to must outlive the credential. */
struct credential *credential_new(struct loop *loop, const struct azure_config *config,
                                  struct http_transport *entra, struct http_transport *metadata);
void credential_free(struct credential *credential); /* NULL is fine */

/* The value of an Authorization header; free() it. DENIED if the identity is refused, with the
 * answer's words but never with a secret. */
struct err *credential_get(struct task *self, struct credential *credential,
                           char **ret_authorization) __attribute__((warn_unused_result));
/* The token was refused: do not use it again. */
void credential_reject(struct credential *credential);
