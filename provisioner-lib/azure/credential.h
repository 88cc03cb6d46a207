/* credential.h - tokens for Azure Resource Manager: one that is always good, asked for by one.
 *
 * A token is asked for when it is first needed, kept, and renewed well before it ends; all who need
 * one meanwhile wait for the same request. While an old one still holds nobody waits, and a failure
 * to get a new one is no failure. After a failure nobody asks for a while: all get its error.
 * Loop's thread; calls yield.
 */
#pragma once

#include "lib/http/transport.h"
#include "lib/rt/group.h"
#include "provisioner-lib/azure/config.h"

struct credential;

/* `entra` reaches Entra ID; `metadata` the instance metadata service, without a proxy. The group is
 * closed before the credential is freed; what is pointed to must outlive both. */
struct credential *credential_new(struct task_group *group, const struct azure_config *config,
                                  struct http_transport *entra, struct http_transport *metadata);
void credential_free(struct credential *credential); /* NULL is fine */

/* The value of an Authorization header; secret_free() it. DENIED if the identity is refused, with
 * the answer's words but never with a secret. */
struct err *credential_get(struct task *self, struct credential *credential,
                           char **ret_authorization) __attribute__((warn_unused_result));

/* Resource Manager refused this header: its token is not used again, and the next one is asked for
 * with the claims that the response demands. */
void credential_refused(struct credential *credential, const char *authorization,
                        const struct http_response *response);
