/* arm_client.h - conversations with Azure Resource Manager: requests, errors, and operations that
 * requests begin (arm_operation.h).
 *
 * A request waits for its turn (rate_limiter.h), is authorised, sent and interpreted; a refusal
 * becomes an error whose kind comes from the table in arm_error.c and whose code is Azure's.
 * Nothing is repeated here but a request whose token was refused. A refusal because a bucket is
 * empty keeps further requests of its kind back until the time that Azure gave. No answer at all
 * (UNAVAILABLE, TIMEOUT) leaves open whether the request took effect; the caller then reads before
 * it does anything else. A request that could not be sent (NOT_SENT) did not take effect. Loop's
 * thread; calls yield.
 */
#pragma once

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>

#include "lib/base/arena.h"
#include "lib/http/transport.h"
#include "provisioner-lib/azure/arm_operation.h"
#include "provisioner-lib/azure/config.h"
#include "provisioner-lib/azure/credential.h"
#include "provisioner-lib/azure/operation_times.h"
#include "provisioner-lib/azure/rate_limiter.h"
#include "provisioner-lib/azure/upstream_requests.h"

struct arm_client;

/* `config` is completed from the cloud's own end points, if it says so, at the first request. */
struct arm_client *arm_client_new(struct loop *loop, struct azure_config *config,
                                  struct http_transport *transport, struct credential *credential);
void arm_client_free(struct arm_client *arm);
const struct azure_config *arm_client_config(const struct arm_client *arm);
struct loop *arm_client_loop(const struct arm_client *arm);

struct arm_request {
    enum arm_kind kind;
    const char *method; /* "GET" if NULL */
    /* Begins with /subscriptions and may have a query; one that names its api-version already, as
     * the link to a list's next page does, is sent as it is. Others get the kind's
     * (api_version.h). */
    const char *path;
    const json_t *body;   /* NULL: none */
    const char *if_match; /* NULL: whatever it is */
    const char *resource; /* id of the VM or instance that it is about; NULL: about none */
    enum cloud_urgency urgency;
    /* For arm_client_change. */
    uint64_t (*operation_most_ms)(void *ctx); /* as in arm_operation.h */
    void (*accepted)(void *ctx);              /* Azure has begun, not ended; NULL: no matter */
    void *ctx;
};

/* Returns when such a request could go out at once; kind, path, resource and urgency count. */
struct err *arm_client_wait(struct task *self, struct arm_client *arm,
                            const struct arm_request *request) __attribute__((warn_unused_result));

/* Makes a request that is being waited for, here or by others, as urgent as this at least. */
void arm_client_hurry(struct arm_client *arm, struct arm_request *request,
                      enum cloud_urgency urgency);

/* How far apart such requests should be so that they never have to wait (token_buckets_pace()). */
uint64_t arm_client_pace(const struct arm_client *arm, const struct arm_request *request);

/* `ret_json` is the answer's document (NULL if it is empty); it and `ret_operation` may be NULL if
 * they are of no interest. */
struct err *arm_client_request(struct task *self, struct arm_client *arm,
                               const struct arm_request *request, json_t **ret_json,
                               struct arm_operation *ret_operation)
    __attribute__((warn_unused_result));

/* Requests a change, and returns when it has ended. */
struct err *arm_client_change(struct task *self, struct arm_client *arm,
                              const struct arm_request *request)
    __attribute__((warn_unused_result));

/* For arm_operation.c: a GET whose path is a whole URL. `response` and `ret_json` are the caller's,
 * also if it fails. */
struct err *arm_client_look(struct task *self, struct arm_client *arm,
                            const struct arm_request *request, struct http_response *response,
                            json_t **ret_json) __attribute__((warn_unused_result));
struct operation_times *arm_client_times(struct arm_client *arm, enum arm_kind kind);

/* GET, decoded into `arena`. */
struct err *arm_client_get(struct task *self, struct arm_client *arm,
                           const struct arm_request *request,
                           const ProtobufCMessageDescriptor *type, struct arena *arena,
                           const ProtobufCMessage **ret) __attribute__((warn_unused_result));

/* The path of a list's next page; NULL if `link` says that there is none. A link into another
 * cloud's hands is INTERNAL. */
struct err *arm_client_next_page(const struct arm_client *arm, const char *link, char **ret_path)
    __attribute__((warn_unused_result));

/* Sets the gauges of what is left. */
void arm_client_refresh_metrics(struct arm_client *arm);
