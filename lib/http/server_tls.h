/* server_tls.h - TLS of a server: which versions it speaks, and whom it asks for a certificate; for
 * server.c only.
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
