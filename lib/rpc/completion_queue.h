/* completion_queue.h - gRPC's completion queue: a thread that hands events to the loop.
 *
 * Whatever is started at gRPC names a `struct completion_event` (as the tag), which its owner keeps
 * until the event has come: handle(event) then runs on the loop's thread and stack. Nothing of ours
 * is touched on the queue's thread.
 */
#pragma once

#include <grpc/grpc.h>
#include <pthread.h>

#include "lib/rt/loop.h"

struct completion_event {
    void (*handle)(struct completion_event *event);
    bool ok; /* gRPC's word: what it means depends on what was started */
};

struct completion_queue {
    grpc_completion_queue *core;
    struct loop *loop;
    pthread_t thread;
    void (*ended)(void *ctx);
    void *ctx;
};

void completion_queue_init(struct completion_queue *queue, struct loop *loop);
void completion_queue_start(struct completion_queue *queue);
/* Ends the thread once the events of all that was started have been handed over; nothing may be
 * started from now on. ended(ctx) is then called on the loop's thread, the queue being gone. */
void completion_queue_stop(struct completion_queue *queue, void (*ended)(void *ctx), void *ctx);
