/* server_tls.h - TLS of a server: which versions it speaks, which certificate it shows, and whom it
 * asks for one; for server.c only.
 */
#pragma once

#include <microhttpd.h>

#include "lib/http/server.h"

enum { SERVER_TLS_OPTIONS = 5 };

/* INVALID, saying which, if some of the certificates and keys cannot be used. */
struct err *server_tls_check(const struct http_server_config *config)
    __attribute__((warn_unused_result));

/* For MHD_OPTION_ARRAY; none of plain HTTP. They point into `config`. */
void server_tls_options(const struct http_server_config *config,
                        struct MHD_OptionItem options[SERVER_TLS_OPTIONS]);

/* Before the handshake of a connection: its client has to show a certificate that the authorities
 * of `client_ca_pem` have issued for clients. (libmicrohttpd asks for one, and goes on without.) */
void server_tls_demand_certificate(struct MHD_Connection *connection);

/* A certificate that takes the place of the one that a server began with. Counted, for connections
 * keep what they were shown. Any thread. */
struct server_identity;

/* One reference, the caller's. INVALID as server_tls_check. */
struct err *server_identity_new(const char *certificate_pem, const char *key_pem,
                                struct server_identity **ret) __attribute__((warn_unused_result));
struct server_identity *server_identity_ref(struct server_identity *identity); /* NULL is fine */
void server_identity_unref(struct server_identity *identity);                  /* the same */

/* Before the handshake of a connection, which has a reference until it is closed. */
void server_identity_show(const struct server_identity *identity,
                          struct MHD_Connection *connection);
