/* client.h - HTTP/1.1 over TCP and TLS (libcurl) on the loop.
 *
 * One client serves any number of tasks at once and keeps connections open between requests.
 * libcurl and OpenSSL run on the loop's own stack; tasks only wait. Redirects are not followed:
 * nothing that we talk to sends any, and a credential must not follow one to another host.
 *
 * A request is sent once. Only a GET is sent again, when the connection that had been kept for it
 * turns out to be dead; any other request may have been carried out, and is UNAVAILABLE. A request
 * for which there was no connection in time is NOT_SENT.
 *
 * A peer that vanishes without a word is noticed within 30 s, on streams too: the kernel asks for
 * it after 10 s of silence. A peer that is there and says nothing is noticed by deadlines only.
 *
 * Loop's thread, real loops only.
 */
#pragma once

#include "lib/http/transport.h"
#include "lib/rt/loop.h"

struct http_client_config {
    const char *user_agent;
    const char *ca_file;         /* PEM; NULL: the system's authorities */
    const char *ca_pem;          /* the same as text; wins over ca_file */
    const char *certificate_pem; /* of a client certificate, with key_pem; NULL: none */
    const char *key_pem;
    const char *proxy;        /* NULL: as the environment says; "": none; wins over it */
    unsigned max_connections; /* to one host; further requests wait; 0: 16 */
};

struct http_client;

/* INVALID or NOT_FOUND if a certificate or key cannot be read; the message says which. */
struct err *http_client_new(struct loop *loop, const struct http_client_config *config,
                            struct http_client **ret_client) __attribute__((warn_unused_result));
/* No task may be inside of a call and no stream be open. It goes when the loop runs next, or is
 * freed. NULL is fine. */
void http_client_free(struct http_client *client);
DEFINE_CLEANUP(struct http_client, http_client_free)

struct http_transport *http_client_transport(struct http_client *client);
