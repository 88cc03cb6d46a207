/* arm.h - Azure's protocols over the model: Azure Resource Manager, the token end point of Entra ID
 * and the instance metadata service. Requests in, answers out; no sockets.
 *
 * One arm serves one model. Its two handlers are handlers of lib/http's server; a simulation calls
 * them through transport.h. Each request takes its time twice, before and after it has its effect,
 * so that a client that gives up cannot know whether it had. Loop's thread.
 */
#pragma once

#include "lib/http/server.h"
#include "test/azsim/arm/client.h"
#include "test/azsim/arm/seal.h"
#include "test/azsim/model/model.h"
#include "test/azsim/model/throttle.h"

enum { ARM_MAX_BODY = 4 * 1024 * 1024 };

/* What there is to say of a request once it has been answered, for a journal; valid during the
 * call. */
struct arm_record {
    const struct http_call *call;
    int64_t wall_us; /* when it came */
    uint64_t latency_ms;
    int status;
    const char *retry_after;           /* header of the answer; NULL: none */
    const char *kind;                  /* "disks.createOrUpdate"; NULL: no such route */
    const char *principal;             /* client id; NULL: not authenticated */
    const char *resource;              /* name of the disk or VM; NULL: none */
    const char *vm;                    /* that is asked about or that asks; NULL: none */
    const json_t *attached, *detached; /* ids of disks that a change of a VM is about; or NULL */
    const struct throttle_charge *charges[2]; /* by Compute and by Resource Manager */
    const char *fault;                        /* that struck; NULL: none */
};

/* The names of the disks, in the same order. */
json_t *arm_disk_names(const json_t *ids) __attribute__((warn_unused_result));

struct arm_config {
    struct model *model;
    const struct arm_client *clients;
    size_t n_clients;
    const struct arm_identity *identities;
    size_t n_identities;
    struct seal_key key;       /* tokens and URLs of operations stay good as long as it is kept */
    unsigned page_size;        /* of lists; 0: the one of model/settings.h */
    unsigned retry_after_s;    /* of unfinished operations; 0: no such header, as disks have none */
    unsigned token_lifetime_s; /* 0: an hour by secret, a day by managed identity */
    bool terse; /* short URLs of operations, and JSON on one line: nobody looks at them */
    void (*record)(void *ctx, const struct arm_record *record); /* NULL: not wanted */
    void *record_ctx;
    /* What a body says, for whoever reads it in the same process; borrowed. NULL: not wanted. */
    void (*said)(const char *text, size_t length, json_t *body);
};

struct arm;

struct arm *
arm_new(const struct arm_config *config); /* what the config points to must outlive it */
void arm_free(struct arm *arm);
DEFINE_CLEANUP(struct arm, arm_free)

struct model *arm_model(const struct arm *arm);

/* Everything but the instance metadata service; `ctx` is the arm. */
http_handler arm_handle;

/* The instance metadata service as one VM sees it; `ctx` is a struct arm_imds. */
struct arm_imds {
    struct arm *arm;
    const char *vm; /* its name */
};
http_handler arm_imds_handle;
