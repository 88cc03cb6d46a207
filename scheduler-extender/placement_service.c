#include "scheduler-extender/placement_service.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/http/server.h"
#include "lib/rt/thread_pool.h"
#include "scheduler-extender/complaint.h"
#include "scheduler-extender/metrics.h"
#include "scheduler-extender/placement_advice.h"

enum {
    LARGEST_REVIEW = 3 * 1024 * 1024, /* what the API server takes of a pod */
    ALL_REVIEWS = 8 * LARGEST_REVIEW,
    /* All API servers may call from one address, through the tunnel of a managed control plane. */
    MAX_CONNECTIONS = 256,
    REQUEST_MS = 10 * 1000,
    REPLY_MS = 10 * 1000,
    LARGE = 512 * 1024, /* bytes; more are read by a thread, not by the loop */
    READERS = 2,
};

struct placement_service {
    struct placement_config config;
    struct http_server *server;
    struct thread_pool *readers;
    struct complaint complaint;
};

/* ---- a review ---- */

struct question {
    const struct http_call *call;
    struct admission_review review;
    struct err *err;
};

static void question_fini(struct question *question)
{
    admission_review_fini(&question->review);
    err_free(question->err);
}

static void read_review(void *arg)
{
    struct question *q = arg;

    q->err = admission_review_parse(q->call->body, q->call->body_length, &q->review);
}

static struct err *read_question(struct task *self, struct placement_service *service,
                                 struct question *q)
{
    if (q->call->body_length > LARGE)
        TRY(thread_pool_run(self, service->readers, read_review, q));
    else
        read_review(q);
    return TAKE_PTR(q->err);
}

static json_t *decide(const struct placement_service *service,
                      const struct admission_review *review)
{
    const struct placement_config *config = &service->config;

    return placement_advise(config->extender, config->rules,
                            leader_watch_has_leader(config->leader) &&
                                overdue_gates_are_removed(config->gates),
                            review);
}

/* Each call has a connection of its own: one that the API server keeps to a replica whose node dies
 * would take the next calls, while the Service leads to those that live. */
static void on_placement(struct task *self, void *ctx, const struct http_call *call,
                         struct http_reply *reply)
{
    struct placement_service *service = ctx;
    struct loop *loop = service->config.extender->loop;
    int64_t began = loop_wall_us(loop);
    CLEANUP(question_fini) struct question q = {.call = call};
    CLEANUP(err_freep) struct err *err = read_question(self, service, &q);
    CLEANUP(json_decrefp) json_t *patch = err ? NULL : decide(service, &q.review);
    int64_t lasted = loop_wall_us(loop) - began;

    http_reply_header(reply, "Connection", "close");
    if (err && complaint_is_due(&service->complaint, loop))
        log_warning("placement: %s", err_message(err));
    if (q.review.uid.length)
        http_reply_body(reply, 200, "application/json", admission_answer(&q.review.uid, patch));
    else
        http_reply_text(reply, err_kind(err) == ERR_EXHAUSTED ? 503 : 400, "%s\n",
                        err_message(err));
    /* The wall clock may have been set back meanwhile. */
    metrics_count_placement(err, patch != NULL, lasted > 0 ? (double)lasted / 1e6 : 0);
}

static const struct http_route routes[] = {{"POST", "/placement", on_placement}};

/* ---- the service ---- */

struct err *placement_service_new(struct loop *loop, const struct placement_config *config,
                                  const struct tls_pem *pem, struct placement_service **ret)
{
    CLEANUP(freep) struct placement_service *service = mem_alloc(sizeof *service);
    const struct http_server_config server = {
        .address = config->address,
        .certificate_pem = pem->certificate,
        .key_pem = pem->key,
        .routes = routes,
        .n_routes = COUNT_OF(routes),
        .ctx = service,
        .max_body = LARGEST_REVIEW,
        .max_bodies = ALL_REVIEWS,
        .max_connections = MAX_CONNECTIONS,
        .request_ms = REQUEST_MS,
        .reply_ms = REPLY_MS,
    };

    service->config = *config;
    TRY(http_server_new(loop, &server, &service->server));
    service->readers = thread_pool_new(loop, READERS, MAX_CONNECTIONS);
    *ret = TAKE_PTR(service);
    return NULL;
}

struct err *placement_service_renew(struct placement_service *service, const struct tls_pem *pem)
{
    return http_server_renew(service->server, pem->certificate, pem->key);
}

void placement_service_close(struct task *self, struct placement_service *service)
{
    if (!service)
        return;
    http_server_close(self, service->server);
    thread_pool_free(service->readers);
    free(service);
}
