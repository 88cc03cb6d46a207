#include "scheduler-extender/service.h"

#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/base/log.h"
#include "lib/http/server.h"
#include "lib/rt/thread_pool.h"
#include "scheduler-extender/complaint.h"
#include "scheduler-extender/extender_answer.h"
#include "scheduler-extender/extender_args.h"
#include "scheduler-extender/metrics.h"
#include "scheduler-extender/pod_disks.h"
#include "scheduler-extender/verbs.h"

enum {
    /* A scheduler has one call under way; there may be several schedulers, on few addresses. */
    MAX_CONNECTIONS = 64,
    MAX_PER_ADDRESS = 16,
    REQUEST_MS = 10 * 1000,
    REPLY_MS = 10 * 1000,
    LEAST_BODIES = 16 * 1024 * 1024, /* together, or two of the largest if that is more */
    /* More bytes are read by a thread, not by the loop, which the names of all nodes of a cluster
     * hold for less time than it takes to change threads and back. */
    LARGE = 512 * 1024,
    READERS = 2,
};

struct service {
    struct service_config config;
    struct http_server *server;
    struct thread_pool *readers;
    struct complaint complaint;
};

/* ---- the two questions ---- */

/* One of them on its way. What scales with the request, reading it and writing the answer, is not
 * for the loop where it is much; what needs the stores is. */
struct question {
    const struct http_call *call;
    struct extender_args args;
    struct err *err;
    unsigned *scores;
    bool *allowed;
    char *answer;
};

static void question_fini(struct question *question)
{
    extender_args_fini(&question->args);
    err_free(question->err);
    free(question->scores);
    free(question->allowed);
    free(question->answer);
}

static void read_question(void *arg)
{
    struct question *q = arg;

    q->err = extender_args_parse(q->call->body, q->call->body_length, &q->args);
}

static void read_nodes(void *arg)
{
    struct question *q = arg;

    q->err = extender_args_read_nodes(&q->args);
}

static void find_scores(const struct extender *extender, const struct pod_disks *disks,
                        struct question *q)
{
    q->scores = mem_alloc(q->args.n_nodes * sizeof *q->scores);
    extender_prioritize(extender, disks, q->args.names, q->args.n_nodes, q->scores);
}

static void write_scores(void *arg)
{
    struct question *q = arg;

    q->answer = answer_scores(&q->args, q->scores);
}

static void find_allowed(const struct extender *extender, const struct pod_disks *disks,
                         struct question *q)
{
    q->allowed = mem_alloc(q->args.n_nodes * sizeof *q->allowed);
    extender_filter(extender, disks, q->args.names, q->args.n_nodes, q->allowed);
}

static void write_allowed(void *arg)
{
    struct question *q = arg;

    q->answer = answer_filter(&q->args, q->allowed);
}

static const struct {
    const char *name;
    bool (*may_differ)(const struct extender *extender, const struct pod_disks *disks);
    void (*decide)(const struct extender *extender, const struct pod_disks *disks,
                   struct question *q);
    void (*write)(void *arg);
} verbs[] = {
    [VERB_FILTER] = {"filter", extender_may_refuse, find_allowed, write_allowed},
    [VERB_PRIORITIZE] = {"prioritize", extender_may_prefer, find_scores, write_scores},
};

static struct err *run(struct task *self, struct service *service, void (*fn)(void *arg),
                       struct question *q)
{
    if (q->call->body_length > LARGE)
        return thread_pool_run(self, service->readers, fn, q);
    fn(q);
    return NULL;
}

static bool may_differ(const struct extender *extender, enum verb verb, const struct question *q)
{
    CLEANUP(pod_disks_fini) struct pod_disks disks = {0};

    pod_disks_find(extender, q->args.pod, &disks);
    return verbs[verb].may_differ(extender, &disks);
}

/* Most pods have no volume of ours: all nodes are alike to them, whatever they are called. */
static struct err *decide(struct task *self, struct service *service, enum verb verb,
                          struct question *q)
{
    const struct extender *extender = service->config.extender;
    CLEANUP(pod_disks_fini) struct pod_disks disks = {0};

    if (!may_differ(extender, verb, q))
        return NULL;
    TRY(run(self, service, read_nodes, q));
    TRY(TAKE_PTR(q->err));
    pod_disks_find(extender, q->args.pod, &disks); /* anew: they may have changed meanwhile */
    verbs[verb].decide(extender, &disks, q);
    return NULL;
}

static struct err *answer(struct task *self, struct service *service, enum verb verb,
                          struct question *q)
{
    TRY(run(self, service, read_question, q));
    TRY(TAKE_PTR(q->err));
    TRY(decide(self, service, verb, q));
    return run(self, service, verbs[verb].write, q);
}

/* ---- their HTTP ---- */

static void handle(struct task *self, struct service *service, enum verb verb,
                   const struct http_call *call, struct http_reply *reply)
{
    struct loop *loop = service->config.extender->loop;
    int64_t began = loop_wall_us(loop);
    CLEANUP(question_fini) struct question question = {.call = call};
    CLEANUP(err_freep) struct err *err = answer(self, service, verb, &question);
    int64_t lasted = loop_wall_us(loop) - began;

    if (err && complaint_is_due(&service->complaint, loop))
        log_warning("%s: %s", verbs[verb].name, err_message(err));
    if (err)
        http_reply_text(reply, err_kind(err) == ERR_EXHAUSTED ? 413 : 400, "%s\n",
                        err_message(err));
    else
        http_reply_body(reply, 200, "application/json", TAKE_PTR(question.answer));
    /* The wall clock may have been set back meanwhile. */
    metrics_count(verb, err, lasted > 0 ? (double)lasted / 1e6 : 0);
    log_debug("%s: %zu bytes, %ld us", verbs[verb].name, call->body_length, (long)lasted);
}

static void on_filter(struct task *self, void *ctx, const struct http_call *call,
                      struct http_reply *reply)
{
    handle(self, ctx, VERB_FILTER, call, reply);
}

static void on_prioritize(struct task *self, void *ctx, const struct http_call *call,
                          struct http_reply *reply)
{
    handle(self, ctx, VERB_PRIORITIZE, call, reply);
}

static void on_ping(struct task *self, void *ctx, const struct http_call *call,
                    struct http_reply *reply)
{
    (void)self, (void)ctx, (void)call;
    http_reply_text(reply, 200, "ok\n");
}

static const struct http_route routes[] = {
    {"POST", "/filter", on_filter},
    {"POST", "/prioritize", on_prioritize},
    {"POST", "/azdiskschedulerextender/filter", on_filter},
    {"POST", "/azdiskschedulerextender/prioritize", on_prioritize},
    {"GET", "/ping", on_ping},
};

/* ---- the service ---- */

struct err *service_new(struct loop *loop, const struct service_config *config,
                        const struct tls_pem *pem, struct service **ret)
{
    CLEANUP(freep) struct service *service = mem_alloc(sizeof *service);
    const struct http_server_config server = {
        .address = config->address,
        .certificate_pem = pem->certificate,
        .key_pem = pem->key,
        .client_ca_pem = pem->client_ca,
        .routes = routes,
        .n_routes = COUNT_OF(routes),
        .ctx = service,
        .max_body = config->max_request,
        .max_bodies =
            2 * config->max_request > LEAST_BODIES ? 2 * config->max_request : LEAST_BODIES,
        .max_connections = MAX_CONNECTIONS,
        .max_per_address = MAX_PER_ADDRESS,
        .request_ms = REQUEST_MS,
        .reply_ms = REPLY_MS,
    };

    service->config = *config;
    TRY(http_server_new(loop, &server, &service->server));
    service->readers = thread_pool_new(loop, READERS, MAX_CONNECTIONS);
    *ret = TAKE_PTR(service);
    return NULL;
}

void service_close(struct task *self, struct service *service)
{
    if (!service)
        return;
    http_server_close(self, service->server);
    thread_pool_free(service->readers);
    free(service);
}
