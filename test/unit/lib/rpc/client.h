/* client.h - a gRPC client that blocks, for tests; to be used on one thread, not the loop's.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct client;
struct client_call;

/* How a call ended; client_reply_fini frees it. */
struct client_reply {
    int status;
    char *text; /* of the status */
    void *message;
    size_t size;
};

struct client *client_new(const char *socket_path);
void client_free(struct client *client); /* every call has ended */

/* `message` NULL: none is sent. */
struct client_call *client_begin(struct client *client, const char *method, const void *message,
                                 size_t size, unsigned timeout_ms);
void client_cancel(struct client_call *call);
/* Waits for the answer and frees the call. */
void client_end(struct client_call *call, struct client_reply *ret_reply);

void client_reply_fini(struct client_reply *reply);
