#include "provisioner-lib/azure/arm_operation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

#include "lib/base/timestamp.h"
#include "lib/http/origin.h"
#include "provisioner-lib/azure/arm_client.h"
#include "provisioner-lib/azure/arm_error.h"

enum {
    FAILURES = 10, /* in a row, after which the outcome is unknown */
    MOST_MS = 10 * 60 * 1000,
};

void arm_operation_fini(struct arm_operation *operation)
{
    free(operation->url);
    free(operation->resource);
    upstream_request_fini(&operation->upstream);
    *operation = (struct arm_operation){0};
}

static const struct {
    const char *status;
    bool success;
} ends[] = {{"Succeeded", true},
            {"Completed", true},
            {"Failed", false},
            {"Canceled", false},
            {"Cancelled", false}};

/* Whether the operation has ended, and then its error. Words that are not known mean that it has
 * not. */
static struct err *interpret(const json_t *json, bool *ret_ended)
{
    const char *status = json_string_value(json_object_get(json, "status"));

    *ret_ended = false;
    if (!status)
        return err_new(ERR_INTERNAL, "the operation has no status");
    for (size_t i = 0; i < COUNT_OF(ends); i++) {
        if (strcasecmp(ends[i].status, status) != 0)
            continue;
        *ret_ended = true;
        return ends[i].success ? NULL : arm_operation_error(json_object_get(json, "error"));
    }
    return NULL;
}

/* What is known of an operation while it is under way. */
struct following {
    struct arm_client *arm;
    const struct arm_operation *operation;
    uint64_t began, retry_after;
    unsigned failures; /* to look, in a row */
    bool ended;
};

static uint64_t elapsed(const struct following *following)
{
    return loop_now(arm_client_loop(following->arm)) - following->began;
}

/* Slower than its length suggests where the looks themselves would run out. */
static uint64_t next_pause(const struct following *following)
{
    const struct arm_operation *operation = following->operation;
    const struct operation_times *times = arm_client_times(following->arm, operation->begun_by);
    uint64_t pause = operation_times_pause(times, elapsed(following));
    uint64_t pace =
        arm_client_pace(following->arm, &(struct arm_request){.kind = operation->kind,
                                                              .path = operation->url,
                                                              .resource = operation->resource});

    if (following->retry_after)
        return following->retry_after;
    return pause > pace ? pause : pace;
}

/* By Azure's clock; where it does not tell, by ours, which is late. */
static void note_time(const struct following *following, const json_t *json)
{
    int64_t start = timestamp_noted(json_string_value(json_object_get(json, "startTime")));
    int64_t end = timestamp_noted(json_string_value(json_object_get(json, "endTime")));
    uint64_t most = elapsed(following);
    uint64_t told = start > 0 && end > start ? (uint64_t)(end - start) / 1000 : most;

    operation_times_add(arm_client_times(following->arm, following->operation->begun_by),
                        told < most ? told : most);
}

static struct err *learn(struct following *following, const struct http_response *response,
                         const json_t *json)
{
    struct err *err = NULL;

    following->failures = 0;
    following->ended = response->status != 202;
    if (!following->operation->by_status)
        err = interpret(json, &following->ended);
    if (!err && following->ended)
        note_time(following, json);
    return err;
}

/* What cannot be read now may be read later: the operation goes on whether we look or not. */
static struct err *look(struct task *self, struct following *following)
{
    const struct arm_operation *operation = following->operation;
    const struct arm_request request = {.kind = operation->kind,
                                        .path = operation->url,
                                        .resource = operation->resource,
                                        .urgency = operation->urgency};
    CLEANUP(http_response_finip) struct http_response response = {0};
    CLEANUP(json_decrefp) json_t *json = NULL;
    struct err *err = arm_client_look(self, following->arm, &request, &response, &json);

    following->retry_after =
        arm_retry_after_ms(&response, loop_wall_us(arm_client_loop(following->arm)));
    if (!err)
        return learn(following, &response, json);
    if (err_kind(err) == ERR_CANCELED)
        return err;
    /* Where the status tells how it stands, a refusal may be the operation's failure. */
    if (operation->by_status && err_code(err) && response.status != 429 && response.status < 500)
        return err;
    if (err_kind(err) != ERR_THROTTLED && ++following->failures == FAILURES) {
        CLEANUP(err_freep) struct err *cause = err;

        return err_new(ERR_UNAVAILABLE, "the outcome of the operation is unknown: %s",
                       err_message(cause));
    }
    err_free(err);
    return NULL;
}

/* Some never end, and whoever waits for one keeps others from what they need. */
static struct err *check_time(const struct following *following)
{
    const struct arm_operation *operation = following->operation;
    uint64_t most = operation->most_ms ? operation->most_ms(operation->ctx) : (uint64_t)MOST_MS;

    return elapsed(following) < most
               ? NULL
               : err_new(ERR_TIMEOUT,
                         "Azure has not ended the operation within %" PRIu64 " minutes",
                         most / 60000);
}

static struct err *follow(struct task *self, struct arm_client *arm,
                          const struct arm_operation *operation)
{
    const char *home = arm_client_config(arm)->resource_manager;
    struct following following = {.arm = arm,
                                  .operation = operation,
                                  .began = loop_now(arm_client_loop(arm)),
                                  .retry_after = operation->retry_after_ms,
                                  .ended = operation->url == NULL};

    /* A credential goes to Resource Manager and nowhere else. */
    if (!following.ended && !http_same_origin(operation->url, home))
        return err_new(ERR_UNAVAILABLE,
                       "the operation's status is to be read outside %s, which is not permitted",
                       home);
    while (!following.ended) {
        TRY(check_time(&following));
        TRY(task_sleep(self, next_pause(&following)));
        TRY(look(self, &following));
    }
    return NULL;
}

struct err *arm_operation_wait(struct task *self, struct arm_client *arm,
                               const struct arm_operation *operation)
{
    struct err *err = follow(self, arm, operation);

    if (operation->url)
        upstream_request_count(&operation->upstream, err, loop_now(arm_client_loop(arm)));
    return err;
}
