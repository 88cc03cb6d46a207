/* AZURE_INCIDENTS: every fault that azsim knows, as rules of test/azsim/model/fault.h that hold for
 * a while; and Azure being slow, late, mean with its tokens, or changed by somebody else's hand. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/buffer.h"
#include "lib/json/parse.h"
#include "test/azsim/model/fault.h"
#include "test/azsim/model/latency.h"
#include "test/azsim/model/operation.h"
#include "test/azsim/model/throttle.h"
#include "test/sim/azure_hand.h"
#include "test/sim/coverage.h"
#include "test/sim/sim.h"

enum { MINUTE_MS = 60 * 1000, LONGEST_RULE = 1000 };

/* ---- rules ---- */

#define CHANGES "'kind':'[disks.*|virtualMachines.*|*]'"
#define OF_VM "'kind':'virtualMachines.*'"
#define CREATE "'kind':'disks.createOrUpdate'"
#define DELETE "'kind':'disks.delete'"
#define GROW "'kind':'disks.update'"
#define POLL "'kind':'operations.get'"
#define OFTEN "'probability':[0.1|0.5|0.9]"
#define SOMETIMES "'probability':[0.05|0.2|0.5]"

/* clang-format off */

/* A name, the longest that it lasts in minutes, and the rule: JSON with ' for ", in which [a|b] is
 * a or b, drawn. Facts and codes: what Azure is known to answer. */
#define RULES(ROW)                                                                                  \
    /* on the way */                                                                                \
    ROW("azure-hang-up", 5, "'fault':'hangUp'," SOMETIMES)                                          \
    ROW("azure-answer-lost", 10, "'fault':'loseAnswer'," CHANGES "," SOMETIMES)                     \
    ROW("azure-creation-answer-lost", 10, "'fault':'loseAnswer'," CREATE "," OFTEN)                 \
    ROW("azure-answer-cut", 5, "'fault':'cutAnswer'," SOMETIMES)                                    \
    ROW("azure-answer-truncated", 5, "'fault':'truncate'," SOMETIMES)                               \
    ROW("azure-answer-drips", 10, "'fault':'drip','time':'[2s|20s|90s]'," SOMETIMES)                \
    ROW("azure-answer-chunked", 10, "'fault':'chunk'," OFTEN)                                       \
    ROW("azure-connection-closed", 10, "'fault':'closeConnection'," OFTEN)                          \
    ROW("azure-wrong-type", 5, "'fault':'wrongType'," SOMETIMES)                                    \
    ROW("azure-answer-stalls", 10, "'fault':'stall','time':'[5s|30s|100s]'," SOMETIMES)             \
    ROW("azure-gateway-error", 5, "'fault':'gatewayError','status':[502|503|504]," SOMETIMES)       \
    ROW("azure-gateway-timeout", 5, "'fault':'gatewayTimeout','status':[502|503|504]," SOMETIMES)   \
    ROW("azure-redirect", 10, "'fault':'redirect'," SOMETIMES)                                      \
    /* who asks */                                                                                  \
    ROW("azure-token-expired", 5, "'fault':'expireToken'," SOMETIMES)                               \
    ROW("azure-claims-wanted", 5, "'fault':'challenge','probability':[0.02|0.1]")                   \
    ROW("azure-token-refused", 5, "'fault':'refuse','kind':'entra.token',"                          \
        "'code':'[temporarily_unavailable|invalid_client]','status':[500|401|429]," OFTEN)          \
    ROW("azure-forbidden", 5, "'fault':'refuse','kind':'virtualMachines.*',"                        \
        "'code':'AuthorizationFailed'," SOMETIMES)                                                  \
    /* too often */                                                                                 \
    ROW("azure-throttled", 10, "'fault':'throttle'," CHANGES ",'retryAfter':[1|17|120]," SOMETIMES) \
    ROW("azure-throttled-by-date", 10, "'fault':'throttle'," OF_VM                                  \
        ",'retryAfter':[5|40],'asDate':true," SOMETIMES)                                            \
    ROW("azure-throttled-unwrapped", 10, "'fault':'throttle'," OF_VM                                \
        ",'retryAfter':[5|40],'wrapped':false,'by':'compute'," SOMETIMES)                           \
    ROW("azure-throttled-by-caller", 5, "'fault':'throttle','by':'resourceManager',"                \
        "'retryAfter':[5|40]," SOMETIMES)                                                           \
    ROW("azure-throttled-without-time", 5, "'fault':'throttle'," SOMETIMES)                         \
    ROW("azure-poll-throttled", 10, "'fault':'throttle'," POLL ",'retryAfter':[1|17|60]," OFTEN)    \
    ROW("azure-retry-after", 10, "'fault':'retryAfter','retryAfter':[1|30|0]," OFTEN)               \
    ROW("azure-no-retry-after", 10, "'fault':'retryAfter'," OFTEN)                                  \
    /* operations */                                                                                \
    ROW("azure-operation-fails", 10, "'fault':'failOperation','kind':'[disk*|vm*]',"                \
        "'code':'[InternalServerError|DiskServiceInternalError|InternalExecutionError|"             \
        "InternalDiskManagementError|NetworkingInternalOperationError|AllocationFailed|Conflict]'," \
        SOMETIMES)                                                                                  \
    ROW("azure-operation-canceled", 10, "'fault':'cancelOperation'," SOMETIMES)                     \
    ROW("azure-operation-preempted", 10, "'fault':'failOperation','kind':'vm*',"                    \
        "'code':'OperationPreempted'," SOMETIMES)                                                   \
    ROW("azure-operation-stuck", 20, "'fault':'stick','probability':[0.1|0.3]")                     \
    ROW("azure-operation-slow", 10, "'fault':'delay','time':'[30s|5m|15m]'," SOMETIMES)             \
    ROW("azure-operation-unknown", 5, "'fault':'refuse'," POLL                                      \
        ",'code':'OperationNotFound'," SOMETIMES)                                                   \
    ROW("azure-poll-fails", 5, "'fault':'refuse'," POLL                                             \
        ",'code':'[InternalServerError|ServerTimeout]'," OFTEN)                                     \
    ROW("azure-ends-failed", 10, "'fault':'endFailed'," SOMETIMES)                                  \
    ROW("azure-stays-updating", 10, "'fault':'stayUpdating','time':'[5s|1m|5m]'," OFTEN)            \
    ROW("azure-no-operation", 10, "'fault':'noOperation'," SOMETIMES)                               \
    ROW("azure-operation-garbled", 5, "'fault':'garbleOperation'," SOMETIMES)                       \
    ROW("azure-server-error", 5, "'fault':'refuse'," CHANGES                                        \
        ",'code':'[InternalServerError|ServiceUnavailable|ServerTimeout|InternalOperationError]',"  \
        SOMETIMES)                                                                                  \
    /* attach */                                                                                    \
    ROW("azure-attach-fails", 10, "'fault':'failAttach','code':'[AttachDiskWhileBeingDetached|"     \
        "ConflictingUserInput|DiskProcessingError|AcquireDiskLeaseFailed|InternalExecutionError|"   \
        "DiskBlobAlreadyInUseByAnotherDisk]'," SOMETIMES)                                           \
    ROW("azure-attach-forgotten", 10, "'fault':'forgetAttach'," SOMETIMES)                          \
    ROW("azure-attach-refused", 10, "'fault':'refuse','kind':'virtualMachines.[update|attach*]',"   \
        "'code':'[ConflictingUserInput|AttachDiskWhileBeingDetached|OperationNotAllowed|"           \
        "ResourceUpdateBlockedOnPlatformUpdate|Conflict]'," OFTEN)                                  \
    ROW("azure-precondition-failed", 5, "'fault':'refuse','kind':'virtualMachines.[update|attach*]',"\
        "'code':'PreconditionFailed'," OFTEN)                                                       \
    ROW("azure-vm-unknown", 2, "'fault':'refuse','kind':'virtualMachines.*',"                       \
        "'code':'ResourceGroupBeingDeleted','probability':[0.1|0.5]")                               \
    /* detach */                                                                                    \
    ROW("azure-detach-fails", 10, "'fault':'failDetach',"                                           \
        "'code':'[InternalExecutionError|DataDisksForceDetached|DetachUnattachedDisk]'," SOMETIMES) \
    ROW("azure-detach-ignored", 10, "'fault':'ignoreDetach'," SOMETIMES)                            \
    ROW("azure-detach-refused", 10, "'fault':'refuse','kind':'virtualMachines.[update|attach*]',"   \
        "'code':'[DetachUnattachedDisk|OperationNotAllowed|DataDisksForceDetached]'," SOMETIMES)    \
    /* creation and deletion */                                                                     \
    ROW("azure-creation-refused", 10, "'fault':'refuse'," CREATE ",'code':'[SkuNotAvailable|"       \
        "QuotaExceeded|RequestDisallowedByPolicy|ResourceGroupBeingDeleted|"                        \
        "LinkedAuthorizationFailed|ScopeLocked|ReadOnlyDisabledSubscription]'," OFTEN)              \
    ROW("azure-creation-fails", 10, "'fault':'failOperation','kind':'diskCreate',"                  \
        "'code':'[InternalServerError|SkuNotAvailable|QuotaExceeded|ZonalAllocationFailed]',"       \
        OFTEN)                                                                                      \
    ROW("azure-deletion-refused", 10, "'fault':'refuse'," DELETE                                    \
        ",'code':'[ScopeLocked|OperationNotAllowed|DiskServiceInternalError|Conflict]'," OFTEN)     \
    ROW("azure-deletion-fails", 10, "'fault':'failOperation','kind':'diskDelete',"                  \
        "'code':'[InternalServerError|OperationNotAllowed]'," OFTEN)                                \
    /* growth */                                                                                    \
    ROW("azure-growth-refused", 10, "'fault':'refuse'," GROW ",'code':'[ScopeLocked|"               \
        "OperationNotAllowed|DiskServiceInternalError|Conflict|QuotaExceeded|"                      \
        "RequestDisallowedByPolicy]'," OFTEN)                                                       \
    ROW("azure-growth-fails", 10, "'fault':'failOperation','kind':'diskUpdate',"                    \
        "'code':'[InternalServerError|OperationNotAllowed|Conflict]'," OFTEN)                       \
    ROW("azure-growth-answer-lost", 10, "'fault':'loseAnswer'," GROW "," OFTEN)                     \
    ROW("azure-growth-slow", 10, "'fault':'delay','kind':'diskUpdate','time':'[30s|5m]'," OFTEN)    \
    /* lists, and a zone */                                                                         \
    ROW("azure-list-page-empty", 10, "'fault':'emptyPage','probability':[0.1|0.5]")                 \
    ROW("azure-zone-hangs", 30, "'fault':'stick','zone':'[1|2|3]'")

/* Likewise; what they have struck goes on without an end, though they do not. */
#define ENDLESS(ROW)                                                                                \
    ROW("azure-operation-endless", 10, "'fault':'stick','kind':'vm[AttachDetach|Update]'," \
        "'calls':'[1|1-2|1-4]'")

/* clang-format on */

#define RULE_TEXT(name, minutes, rule) rule,
static const char *const rules[] = {RULES(RULE_TEXT)
                                        ENDLESS(RULE_TEXT)}; /* in the order of the table below */

/* One of the alternatives at `*position`, which is behind the opening bracket. */
static void append_alternative(struct buffer *text, const char **position, struct random *random)
{
    const char *end = strchr(*position, ']');
    uint64_t n = 1;

    for (const char *c = *position; c < end; c++)
        n += *c == '|';
    for (uint64_t skip = random_below(random, n); skip > 0; skip--)
        *position = strchr(*position, '|') + 1;
    size_t length = strcspn(*position, "|]");
    buffer_printf(text, "%.*s", (int)length, *position);
    *position = end + 1;
}

/* The rule with its choices made. Its "seed" is what it is known by when the incident ends. */
static json_t *rule_json(const struct incident *incident)
{
    struct buffer text;
    struct random random;
    json_t *json;

    sim_choices(incident, &random);
    buffer_init(&text, LONGEST_RULE);
    buffer_printf(&text, "{");
    for (const char *c = rules[incident->kind - AZURE_INCIDENTS.kinds]; *c;) {
        if (*c == '[') {
            c++;
            append_alternative(&text, &c, &random);
            continue;
        }
        buffer_printf(&text, "%c", *c == '\'' ? '"' : *c);
        c++;
    }
    buffer_printf(&text, "}");
    CLEANUP(freep) char *taken = buffer_take(&text);
    struct err *err = json_parse_here(taken, strlen(taken), &json);
    if (err)
        abort();
    json_object_set_new(json, "seed", json_integer((json_int_t)incident->choice));
    return json;
}

static void add_rule(struct sim *sim, const struct incident *incident)
{
    const struct fault *fault;
    json_t *json = rule_json(incident);
    struct err *err = faults_add(sim->azure->faults, json, &fault);

    if (err) {
        fprintf(stderr, "%s: %s\n", incident->kind->name, err_message(err));
        abort();
    }
    json_decref(json);
}

/* Returns its id. */
static unsigned take_rule(struct sim *sim, const struct incident *incident)
{
    unsigned found = 0;
    json_t *document = faults_json(sim->azure->faults);
    json_t *list = json_object_get(document, "faults");

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *rule = json_array_get(list, i);
        unsigned id = (unsigned)json_integer_value(json_object_get(rule, "id"));

        if ((uint64_t)json_integer_value(json_object_get(rule, "seed")) != incident->choice)
            continue;
        if (json_integer_value(json_object_get(rule, "struck")) > 0)
            coverage_count("struck", incident->kind->name, "once or more");
        faults_remove(sim->azure->faults, id);
        found = id;
        break;
    }
    json_decref(document);
    return found;
}

static void remove_rule(struct sim *sim, const struct incident *incident)
{
    unsigned id = take_rule(sim, incident);

    if (id)
        operations_release(sim->azure, id);
}

static void remove_rule_only(struct sim *sim, const struct incident *incident)
{
    (void)take_rule(sim, incident);
    sim->something_endless = true;
}

/* ---- how Azure is ---- */

static void set_latency(struct sim *sim, const char *name, const char *value)
{
    struct err *err = latency_set(&sim->azure->latencies, name, value);

    if (err)
        abort();
}

static void become_slow(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    set_latency(sim, "attach", "60s/300s/600s");
    set_latency(sim, "detach", "60s/300s/600s");
    set_latency(sim, "get", "500ms-10s");
    set_latency(sim, "accept", "500ms-20s");
}

static void create_slowly(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    set_latency(sim, "create", "10s-120s");
    set_latency(sim, "snapshot", "5s-60s");
    set_latency(sim, "copy", "60s-480s");
}

static void lag_in_ownership(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    set_latency(sim, "ownership", "60s-300s");
    set_latency(sim, "orphan", "60s-300s");
}

static void be_as_usual(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    latencies_init(&sim->azure->latencies);
}

static void set_throttling(struct sim *sim, const char *text)
{
    struct err *err = throttle_set(sim->azure->throttle, text);

    if (err)
        abort();
}

static void have_few_tokens(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    set_throttling(sim, "0.5");
}

static void have_tokens(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    set_throttling(sim, "on");
}

static void behave_otherwise(struct sim *sim, const struct incident *incident)
{
    struct random random;

    sim_choices(incident, &random);
    sim->azure->settings.concurrency = (enum concurrency)random_below(&random, 3);
    sim->azure->settings.upper_case_groups = random_below(&random, 2);
    sim->azure->settings.page_size = random_below(&random, 2) ? 1 : SETTINGS_PAGE_SIZE;
}

static void behave_again(struct sim *sim, const struct incident *incident)
{
    (void)incident;
    settings_init(&sim->azure->settings);
}

/* ---- all of them ---- */

#define KIND_OF_RULE(name_, minutes, end_)                                                         \
    {.name = (name_),                                                                              \
     .begin = add_rule,                                                                            \
     .end = (end_),                                                                                \
     .least_ms = MINUTE_MS / 4,                                                                    \
     .most_ms = (minutes)*MINUTE_MS,                                                               \
     .bad = true},
#define RULE_KIND(name_, minutes, rule) KIND_OF_RULE(name_, minutes, remove_rule)
#define ENDLESS_KIND(name_, minutes, rule) KIND_OF_RULE(name_, minutes, remove_rule_only)
#define LASTING(name_, minutes, begin_, end_)                                                      \
    {                                                                                              \
        .name = (name_), .begin = (begin_), .end = (end_), .least_ms = MINUTE_MS,                  \
        .most_ms = (minutes)*MINUTE_MS, .bad = true                                                \
    }

static const struct incident_kind rows[] = {
    /* first, as rule_json counts on it */
    RULES(RULE_KIND) ENDLESS(ENDLESS_KIND) LASTING("azure-slow", 20, become_slow, be_as_usual),
    LASTING("azure-creation-slow", 20, create_slowly, be_as_usual),
    LASTING("azure-ownership-late", 20, lag_in_ownership, be_as_usual),
    LASTING("azure-few-tokens", 20, have_few_tokens, have_tokens),
    LASTING("azure-behaves-otherwise", 20, behave_otherwise, behave_again),
    LASTING("replica-detached-by-hand", 5, hand_detaches_replica, hand_does_nothing),
    LASTING("disk-attached-by-hand", 10, hand_attaches_disk, hand_detaches_disk),
    {.name = "disk-grown-by-hand", .begin = hand_grows_disk, .bad = true},
    {.name = "shares-lowered-by-hand", .begin = hand_lowers_shares, .bad = true},
};

const struct incident_table AZURE_INCIDENTS = {rows, COUNT_OF(rows)};
