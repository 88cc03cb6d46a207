/* NETWORK_INCIDENTS: what happens between controllers and servers, and to the API server. */

#include "lib/base/alloc.h"
#include "test/sim/node_attachment.h"
#include "test/sim/sim.h"
#include "test/sim/world.h"

/* Of 10,000, while a network is bad. */
enum { BAD_REFUSE = 300, BAD_LOSE = 150, BAD_BREAK = 300, BAD_STREAM = 200, SLOW_MS = 3000 };

/* ---- the links ---- */

static void make_bad(struct network_conditions *conditions)
{
    conditions->refuse = BAD_REFUSE;
    conditions->lose_request = BAD_LOSE;
    conditions->lose_answer = BAD_LOSE;
    conditions->break_answer = BAD_BREAK;
    conditions->break_stream = BAD_STREAM;
}

static void make_good(struct network_conditions *conditions)
{
    conditions->refuse = conditions->lose_request = conditions->lose_answer = 0;
    conditions->break_answer = conditions->break_stream = 0;
}

static void kube_bad(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    make_bad(&sim->to_kube);
}

static void kube_good(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    make_good(&sim->to_kube);
}

static void azure_bad(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    make_bad(&sim->to_azure);
}

static void azure_good(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    make_good(&sim->to_azure);
}

static void azure_away(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    sim->to_azure.away = true;
}

static void azure_back(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    sim->to_azure.away = false;
}

static void streams_slow(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    sim->to_kube.stream_delay_ms = SLOW_MS;
    sim->to_kube.streams_late_until = TIMER_NEVER;
}

static void streams_fast(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    sim->to_kube.stream_delay_ms = 0;
    sim->to_kube.streams_late_until = loop_now(sim->loop) + SLOW_MS;
}

/* ---- the API server ---- */

static const struct api_resource *const WATCHED[] = {
    &AZ_VOLUMES, &AZ_VOLUME_ATTACHMENTS, &AZ_SNAPSHOTS, &AZ_DRIVER_NODES, &NODES,
};

static const struct api_resource *watched_kind(const struct incident *incident)
{
    struct random random;

    sim_choices(incident, &random);
    return WATCHED[random_below(&random, COUNT_OF(WATCHED))];
}

static void tell_machines(struct sim *sim)
{
    LIST_FOREACH(&sim->world->machines, link) {
        node_attachments_heard(MACHINE_OF(link));
        waiters_wake(&MACHINE_OF(link)->changed);
    }
}

static void server_away(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    kube_server_go_away(sim->kube, true);
    tell_machines(sim);
}

static void server_back(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    kube_server_go_away(sim->kube, false);
    tell_machines(sim);
}

static void watch_late(struct sim *sim, const struct incident *incident)
{
    kube_server_delay_watches(sim->kube, watched_kind(incident), incident->duration_ms / 2);
}

static void watch_prompt(struct sim *sim, const struct incident *incident)
{
    kube_server_delay_watches(sim->kube, watched_kind(incident), 0);
}

static void watches_break(struct sim *sim, const struct incident *incident)
{
    kube_server_break_watches(sim->kube, watched_kind(incident));
}

/* A watch from before is told so by an event, or is refused. */
static void compact(struct sim *sim, const struct incident *incident)
{
    struct random random;

    sim_choices(incident, &random);
    kube_server_behaviour(sim->kube)->gone_is_a_status = random_below(&random, 2);
    kube_server_compact(sim->kube);
    kube_server_break_watches(sim->kube, NULL);
}

static void lists_stale(struct sim *sim, const struct incident *incident)
{
    kube_server_behaviour(sim->kube)->list_lag_ms = incident->duration_ms;
    kube_server_break_watches(sim->kube, NULL);
}

static void lists_fresh(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    kube_server_behaviour(sim->kube)->list_lag_ms = 0;
}

/* Each kind of wrong answer at a tenth of the requests. */
static void answers_wrong(struct sim *sim, const struct incident *incident)
{
    static const struct fault_rule rules[] = {
        {.chance = 200, .status = 409},
        {.chance = 200, .status = 429, .retry_after_s = 1},
        {.chance = 300, .status = 500},
        {.chance = 200, .status = 500, .after_effect = true},
        {.chance = 200, .status = 503, .retry_after_s = 1},
        {.chance = 100, .status = 504, .after_effect = true},
        {.chance = 50, .status = 0},
        {.chance = 50, .status = 0, .after_effect = true},
    };

    (void)incident;
    fault_clear(&kube_server_behaviour(sim->kube)->fault);
    for (size_t i = 0; i < COUNT_OF(rules); i++)
        fault_add(&kube_server_behaviour(sim->kube)->fault, &rules[i]);
}

static void answers_right(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    fault_clear(&kube_server_behaviour(sim->kube)->fault);
}

#define LASTING(name_, begin_, end_, least_s, most_s)                                              \
    {                                                                                              \
        .name = (name_), .begin = (begin_), .end = (end_), .least_ms = (least_s)*1000,             \
        .most_ms = (most_s)*1000, .bad = true                                                      \
    }

static const struct incident_kind rows[] = {
    LASTING("api-network-bad", kube_bad, kube_good, 10, 120),
    LASTING("azure-network-bad", azure_bad, azure_good, 10, 120),
    LASTING("azure-unreachable", azure_away, azure_back, 10, 3600),
    LASTING("watches-uneven", streams_slow, streams_fast, 10, 120),
    LASTING("api-away", server_away, server_back, 5, 300),
    LASTING("watch-late", watch_late, watch_prompt, 5, 120),
    LASTING("lists-stale", lists_stale, lists_fresh, 5, 120),
    LASTING("api-errors", answers_wrong, answers_right, 10, 120),
    {.name = "watches-broken", .begin = watches_break, .bad = true},
    {.name = "history-compacted", .begin = compact, .bad = true},
};

const struct incident_table NETWORK_INCIDENTS = {rows, COUNT_OF(rows)};
