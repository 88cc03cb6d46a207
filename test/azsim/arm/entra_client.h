/* entra_client.h - whether an application that asks for a token is the one that it says.
 *
 * By a secret, by an assertion that it signed with a registered certificate (RS256, PS256), or by a
 * token of an issuer that it trusts.
 */
#pragma once

#include "test/azsim/arm/exchange.h"
#include "test/azsim/arm/form.h"

/* `needed` are the fields without which the request is none, up to NULL. False: the exchange has
 * been answered with a refusal. */
bool entra_client_is_good(struct exchange *exchange, const struct form *form,
                          const char *const needed[]);

/* Refusals of the token end point are of another form than ARM's: OAuth's, with Entra's numbers. */
void entra_refuse(struct exchange *exchange, int status, const char *error, int number,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));

#define UNKNOWN_TENANT 400, "invalid_request", 90002
#define WRONG_SCOPE 400, "invalid_scope", 70011
#define NO_RESOURCE 400, "invalid_resource", 500013
