#include "test/sim/invariant_pace.h"

#include <stdlib.h>
#include <string.h>

#include "controller/flags.h"
#include "lib/base/alloc.h"
#include "lib/base/hash.h"
#include "test/sim/invariant_check.h"
#include "test/sim/invariant_turn.h"

enum { SECOND_MS = 1000, MINUTE_MS = 60 * SECOND_MS, MOST_IN_A_MINUTE = 60 };

/* What a request is about. */
struct subject {
    char *key;              /* "PUT https://..." */
    uint64_t refused_until; /* 0: it is not refused */
    uint64_t minute;        /* in which so many were sent */
    unsigned sent;
    UT_hash_handle hh;
};

struct pace {
    struct http_transport http;
    struct http_transport *inner;
    struct sim *sim;
    const struct flags *flags; /* NULL: to Kubernetes */
    struct subject *subjects;
    struct turns turns; /* to Azure */
    bool cut;
};

/* ---- what it is about ---- */

/* Where things are made there is no object yet, and lists and watches of one kind are many. */
static bool is_about_one(const struct http_request *request)
{
    const char *method = request->method ? request->method : "GET";

    return strcmp(method, "GET") != 0 && strcmp(method, "POST") != 0;
}

/* Whoever sends it must lead. */
static bool is_a_change(const struct http_request *request)
{
    return request->method && strcmp(request->method, "GET") != 0 && !request->changes_nothing;
}

static struct subject *subject_of(struct pace *pace, const struct http_request *request)
{
    CLEANUP(freep)
    char *key = mem_printf("%s %.*s", request->method ? request->method : "GET",
                           (int)strcspn(request->url, "?"), request->url);
    struct subject *subject;

    HASH_FIND_STR(pace->subjects, key, subject);
    if (subject)
        return subject;
    subject = mem_alloc(sizeof *subject);
    subject->key = TAKE_PTR(key);
    HASH_ADD_KEYPTR(hh, pace->subjects, subject->key, strlen(subject->key), subject);
    return subject;
}

/* ---- I8, I10 ---- */

static void check_refusal(const struct pace *pace, const struct subject *subject, uint64_t now)
{
    if (now < subject->refused_until)
        verdict_violated(pace->sim, RETRY_AFTER, "%s comes %.3f s before it may", subject->key,
                         (double)(subject->refused_until - now) / SECOND_MS);
}

static void check_loop(const struct pace *pace, struct subject *subject, uint64_t now)
{
    if (now / MINUTE_MS != subject->minute)
        subject->sent = 0;
    subject->minute = now / MINUTE_MS;
    if (++subject->sent > MOST_IN_A_MINUTE)
        verdict_violated(pace->sim, NO_LOOP, "%s is sent %u times in a minute", subject->key,
                         subject->sent);
}

/* ---- I14 ---- */

/* Several write to an attachment: each names the version that it has seen. */
static void check_version(const struct pace *pace, const struct http_request *request)
{
    if (!request->method || strcmp(request->method, "PATCH") != 0 ||
        !strstr(request->url, "/azvolumeattachments/"))
        return;
    CLEANUP(json_decrefp)
    json_t *patch = json_loadb(request->body, request->body_length, 0, NULL);
    const json_t *metadata = json_object_get(patch, "metadata");

    if (!json_object_get(metadata, "resourceVersion"))
        verdict_violated(pace->sim, NO_BLIND_WRITE, "PATCH %s names no version", request->url);
}

/* ---- I6 ---- */

/* By the Lease as the API server has it. Who is about to send has asked its own clock, which the
 * lease's times leave room for. */
static void check_leader(const struct pace *pace, const struct http_request *request)
{
    const struct flags *flags = pace->flags;
    const json_t *lease =
        kube_server_get(pace->sim->kube, &LEASES, flags->lease_namespace, flags->lease_name);
    const json_t *spec = json_object_get(lease, "spec");
    const char *holder = json_string_value(json_object_get(spec, "holderIdentity"));
    size_t length = strlen(flags->pod_name);

    if (!holder || !*holder)
        return;
    if (strncmp(holder, flags->pod_name, length) != 0 || holder[length] != '_')
        verdict_violated(pace->sim, ONE_LEADER, "%s sends %s %s, and %s leads", flags->pod_name,
                         request->method, request->url, holder);
}

/* ---- the answer ---- */

/* Dates are left out: they are as exact as the client's clock. */
static void note_answer(const struct pace *pace, struct subject *subject,
                        const struct http_response *response, uint64_t now)
{
    const char *text = http_header_find(response->headers, response->n_headers, "Retry-After");
    char *end;
    unsigned long seconds = text && response->status == 429 ? strtoul(text, &end, 10) : 0;

    if (seconds == 0 || *end)
        return;
    sim_note(pace->sim, "%s is refused for %lu s", subject->key, seconds);
    subject->refused_until = now + seconds * SECOND_MS;
}

/* ---- the way ---- */

/* Whoever made the request looks once more when it has a connection: a refusal may have come since
 * its turn, at the same moment even. */
static bool is_sent(const struct http_request *request)
{
    return !request->may_send || request->may_send(request->may_send_ctx);
}

/* To Azure. */
static struct err *exchange_in_turn(struct task *self, struct pace *pace,
                                    const struct http_request *request, struct http_response *ret)
{
    struct turn *turn = turns_begin(&pace->turns, request);
    struct err *err = http_exchange(self, pace->inner, request, ret);

    if (turn)
        turns_answered(&pace->turns, turn, err ? NULL : ret);
    else
        turns_looked(&pace->turns, request->url, err ? NULL : ret);
    return err;
}

static struct err *exchange(struct http_transport *http, struct task *self,
                            const struct http_request *request, struct http_response *ret)
{
    struct pace *pace = CONTAINER_OF(http, struct pace, http);

    if (pace->cut || !is_sent(request))
        return http_exchange(self, pace->inner, request, ret);
    struct subject *subject = subject_of(pace, request);

    check_refusal(pace, subject, loop_now(loop_of(self)));
    if (is_about_one(request))
        check_loop(pace, subject, loop_now(loop_of(self)));
    check_version(pace, request);
    if (!pace->flags)
        return http_exchange(self, pace->inner, request, ret);
    if (is_a_change(request))
        check_leader(pace, request);
    TRY(exchange_in_turn(self, pace, request, ret));
    note_answer(pace, subject, ret, loop_now(loop_of(self)));
    return NULL;
}

static struct err *open_stream(struct http_transport *http, struct task *self,
                               const struct http_request *request,
                               struct http_response *ret_response, struct http_stream **ret_stream)
{
    struct pace *pace = CONTAINER_OF(http, struct pace, http);

    return pace->inner->open(pace->inner, self, request, ret_response, ret_stream);
}

/* ---- life ---- */

struct pace *pace_new(struct sim *sim, struct http_transport *inner, const struct flags *flags)
{
    struct pace *pace = mem_alloc(sizeof *pace);

    *pace = (struct pace){.http = {.exchange = exchange, .open = open_stream},
                          .inner = inner,
                          .sim = sim,
                          .flags = flags};
    turns_init(&pace->turns, sim);
    return pace;
}

void pace_cut(struct pace *pace)
{
    pace->cut = true;
}

void pace_free(struct pace *pace)
{
    HASH_FOREACH(pace->subjects, subject) {
        HASH_DEL(pace->subjects, subject);
        free(subject->key);
        free(subject);
    }
    turns_fini(&pace->turns);
    free(pace);
}

struct http_transport *pace_http(struct pace *pace)
{
    return &pace->http;
}
