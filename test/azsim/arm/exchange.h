/* exchange.h - one request on its way through arm: what handlers get and what they answer with.
 *
 * A handler looks at the exchange, calls the model and answers exactly once. It runs on the loop's
 * own stack and cannot yield. The functions here are the words in which all of Azure answers:
 * headers, error envelopes, pages.
 */
#pragma once

#include "test/azsim/arm/arm.h"
#include "test/azsim/arm/route.h"
#include "test/azsim/model/disk.h"
#include "test/azsim/model/fault.h"
#include "test/azsim/model/throttle.h"
#include "test/azsim/model/vm.h"

struct exchange {
    struct model *model;
    const struct arm_config *config;
    const struct http_call *call;
    struct http_reply *reply;
    const struct route *route; /* NULL: none fits */
    struct route_match match;
    const char *api_version; /* "" if it is not given */
    char *principal;         /* client id of the token; NULL: none */
    /* of the path; NULL: it names none, or none that there is */
    const struct subscription *subscription;
    struct group *group;
    const char *imds_vm; /* the VM that asks its metadata service; NULL: another request */
    uint64_t stall_ms;   /* how much later than its latency the answer comes */
    struct throttle_charge caller_charge, provider_charge; /* see charge.h */
    /* for the journal */
    const char *fault; /* that struck; NULL: none */
    const char *kind;  /* NULL: unknown */
    char *vm;
    json_t *attached, *detached;
};

const char *exchange_header(const struct exchange *exchange, const char *name);   /* or NULL */
const char *exchange_argument(const struct exchange *exchange, const char *name); /* or NULL */
/* "https://host:port" as the client calls us. */
char *exchange_base(const struct exchange *exchange) __attribute__((warn_unused_result));
/* The body as an object; answers and returns false if it is none. `ret` is the caller's. */
bool exchange_body(struct exchange *exchange, json_t **ret);
/* Notes for the journal which VM the request is about. */
void exchange_note_vm(struct exchange *exchange, const struct vm *vm);

/* Whether what is in `group` belongs into the list that the path asks for: of a group, or of a
 * whole subscription. */
bool exchange_lists(const struct exchange *exchange, const struct group *group);
/* Whether it is for one of those whose errors have OAuth's form: Entra ID and the metadata service.
 */
bool exchange_speaks_oauth(const struct exchange *exchange);

/* Takes the body; NULL for an empty one. */
void answer(struct exchange *exchange, int status, json_t *body);
/* Takes the refusal. */
void answer_refusal(struct exchange *exchange, struct refusal *refusal);
/* The same for what ARM says before it has asked the provider of the resource. */
void answer_gateway(struct exchange *exchange, struct refusal *refusal);
void answer_header(struct exchange *exchange, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Names of disks, as a list that is kept for the journal. */
void exchange_note_disks(struct exchange *exchange, const struct data_disks *before,
                         const struct data_disks *after);

/* One page of a list: the items (taken), and from which sequence number the next page goes on; 0 if
 * this is the last. */
void answer_page(struct exchange *exchange, json_t *items, uint64_t next);
/* Where this page begins: sequence numbers above this one. */
uint64_t exchange_page_after(const struct exchange *exchange);

enum { AZURE_TIME_SIZE = 40 };
/* "2026-01-01T00:00:00.0000000+00:00" */
void azure_time(int64_t us, char text[AZURE_TIME_SIZE]);
json_t *azure_time_json(int64_t us);
