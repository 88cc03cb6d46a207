#include "test/unit/lib/rpc/client.h"

#include <assert.h>
#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/slice.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/cleanup.h"

struct client {
    grpc_channel *channel;
    grpc_completion_queue *queue;
};

struct client_call {
    struct client *client;
    grpc_call *core;
    grpc_metadata_array leading, trailing;
    grpc_byte_buffer *sent, *received;
    grpc_status_code status;
    grpc_slice text;
};

struct client *client_new(const char *socket_path)
{
    struct client *client = mem_alloc(sizeof *client);
    CLEANUP(freep) char *address = mem_printf("unix:%s", socket_path);

    grpc_init();
    grpc_channel_credentials *credentials = grpc_insecure_credentials_create();
    client->channel = grpc_channel_create(address, credentials, NULL);
    grpc_channel_credentials_release(credentials);
    client->queue = grpc_completion_queue_create_for_pluck(NULL);
    return client;
}

void client_free(struct client *client)
{
    grpc_channel_destroy(client->channel);
    grpc_completion_queue_shutdown(client->queue);
    grpc_completion_queue_destroy(client->queue);
    grpc_shutdown_blocking();
    free(client);
}

static grpc_byte_buffer *bytes_of(const void *message, size_t size)
{
    grpc_slice slice = grpc_slice_from_copied_buffer(message, size);
    grpc_byte_buffer *bytes = grpc_raw_byte_buffer_create(&slice, 1);

    grpc_slice_unref(slice);
    return bytes;
}

struct client_call *client_begin(struct client *client, const char *method, const void *message,
                                 size_t size, unsigned timeout_ms)
{
    struct client_call *call = mem_alloc(sizeof *call);
    gpr_timespec deadline =
        gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis(timeout_ms, GPR_TIMESPAN));
    grpc_op ops[6] = {
        {.op = GRPC_OP_SEND_INITIAL_METADATA},
        {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT},
        {.op = GRPC_OP_RECV_INITIAL_METADATA,
         .data.recv_initial_metadata.recv_initial_metadata = &call->leading},
        {.op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &call->received},
        {.op = GRPC_OP_RECV_STATUS_ON_CLIENT,
         .data.recv_status_on_client = {.trailing_metadata = &call->trailing,
                                        .status = &call->status,
                                        .status_details = &call->text}},
        {.op = GRPC_OP_SEND_MESSAGE},
    };

    call->client = client;
    grpc_slice path = grpc_slice_from_copied_string(method);
    call->core = grpc_channel_create_call(client->channel, NULL, GRPC_PROPAGATE_DEFAULTS,
                                          client->queue, path, NULL, deadline, NULL);
    grpc_slice_unref(path);
    grpc_metadata_array_init(&call->leading);
    grpc_metadata_array_init(&call->trailing);
    if (message)
        call->sent = bytes_of(message, size);
    ops[5].data.send_message.send_message = call->sent;
    if (grpc_call_start_batch(call->core, ops, message ? 6 : 5, call, NULL) != GRPC_CALL_OK)
        abort();
    return call;
}

void client_cancel(struct client_call *call)
{
    grpc_call_cancel(call->core, NULL);
}

static void *read_all(grpc_byte_buffer *bytes, size_t *ret_size)
{
    grpc_byte_buffer_reader reader;

    grpc_byte_buffer_reader_init(&reader, bytes);
    grpc_slice slice = grpc_byte_buffer_reader_readall(&reader);
    grpc_byte_buffer_reader_destroy(&reader);
    void *copy = mem_copy(GRPC_SLICE_START_PTR(slice), GRPC_SLICE_LENGTH(slice));
    *ret_size = GRPC_SLICE_LENGTH(slice);
    grpc_slice_unref(slice);
    return copy;
}

void client_end(struct client_call *call, struct client_reply *ret_reply)
{
    grpc_completion_queue_pluck(call->client->queue, call, gpr_inf_future(GPR_CLOCK_REALTIME),
                                NULL);
    *ret_reply = (struct client_reply){
        .status = (int)call->status,
        .text = mem_strndup((const char *)GRPC_SLICE_START_PTR(call->text),
                            GRPC_SLICE_LENGTH(call->text)),
    };
    if (call->received)
        ret_reply->message = read_all(call->received, &ret_reply->size);

    grpc_byte_buffer_destroy(call->sent);
    grpc_byte_buffer_destroy(call->received);
    grpc_metadata_array_destroy(&call->leading);
    grpc_metadata_array_destroy(&call->trailing);
    grpc_slice_unref(call->text);
    grpc_call_unref(call->core);
    free(call);
}

void client_reply_fini(struct client_reply *reply)
{
    free(reply->text);
    free(reply->message);
}
