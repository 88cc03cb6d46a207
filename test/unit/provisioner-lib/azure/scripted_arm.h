/* scripted_arm.h - a client of Resource Manager that is answered by a script, in virtual time.
 *
 * The first line of the script that fits a request answers it, after 100 ms unless a test says
 * otherwise; the log has every request but those for tokens.
 */
#pragma once

#include "provisioner-lib/azure/arm_client.h"
#include "test/unit/expect.h"

#define HOME "https://arm.example"
#define RESOURCES "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/"

struct line {
    const char *text; /* of the URL; NULL: the script's end */
    int times;        /* so often it answers; 0: always */
    int status;
    const char *headers[4]; /* names and values */
    const char *body;       /* NULL: none */
};

/* The line that names where tokens come from, which every client asks first. */
#define AUTHORITY                                                                                  \
    "/metadata/endpoints", 0, 200, {NULL},                                                         \
        "[{\"authentication\": {\"loginEndpoint\": \"https://login\", \"audiences\": [\"a\"]}}]"

enum { MOST_LINES = 8, MOST_REQUESTS = 512, CONNECTIONS = 16 };

struct sent {
    uint64_t at;
    char *method, *url, *if_match, *body; /* NULL: none */
};

struct scripted_arm {
    struct http_transport transport;
    struct loop *loop;
    struct task_group group;
    struct azure_config config;
    struct credential *credential;
    struct arm_client *arm;
    struct line script[MOST_LINES];
    uint64_t connect_ms; /* until a request has a connection */
    uint64_t answer_ms;  /* until it is answered */
    /* As lib/http/client.h has them: what is urgent takes none. */
    struct semaphore connections;
    struct sent sent[MOST_REQUESTS];
    size_t n_sent;
    size_t n_tokens; /* that were asked for */
};

/* `cloud`: more keys of azure.json, each with a comma before it. */
struct scripted_arm *scripted_arm_new(const char *cloud, const struct line *script);
void scripted_arm_free(struct scripted_arm *scripted);

/* Somebody who asks, and follows the operation. */
struct asking {
    struct scripted_arm *scripted;
    struct arm_request request;
    struct err *err;
    bool ended;
};

void asking_begin(struct scripted_arm *scripted, struct asking *asking);
/* What came of it, within `ms`. */
struct err *asking_end(struct asking *asking, uint64_t ms);
