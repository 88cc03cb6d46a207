#include "lib/rpc/completion_queue.h"

#include <stdlib.h>

static void handle_event(void *arg)
{
    struct completion_event *event = arg;

    event->handle(event);
}

static void queue_ended(void *arg)
{
    struct completion_queue *queue = arg;

    pthread_join(queue->thread, NULL);
    grpc_completion_queue_destroy(queue->core);
    queue->ended(queue->ctx);
}

static void *queue_main(void *arg)
{
    struct completion_queue *queue = arg;

    for (;;) {
        grpc_event next =
            grpc_completion_queue_next(queue->core, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);

        if (next.type == GRPC_QUEUE_SHUTDOWN)
            break;
        struct completion_event *event = next.tag;
        event->ok = next.success;
        loop_post(queue->loop, handle_event, event);
    }
    loop_post(queue->loop, queue_ended, queue);
    return NULL;
}

void completion_queue_init(struct completion_queue *queue, struct loop *loop)
{
    *queue = (struct completion_queue){.loop = loop,
                                       .core = grpc_completion_queue_create_for_next(NULL)};
}

void completion_queue_start(struct completion_queue *queue)
{
    if (pthread_create(&queue->thread, NULL, queue_main, queue))
        abort();
}

void completion_queue_stop(struct completion_queue *queue, void (*ended)(void *ctx), void *ctx)
{
    queue->ended = ended;
    queue->ctx = ctx;
    grpc_completion_queue_shutdown(queue->core);
}
