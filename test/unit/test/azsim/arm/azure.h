/* azure.h - a small Azure in the test's process, and a client that asks it.
 *
 * One group "rg" and VMs vm1, vm2 (zone 1, 8 disks; vm1 with an identity) in a virtual loop. An
 * attach takes 10 s, everything else that is an operation 1 s, answers come at once. Nothing is
 * throttled.
 *
 * In paths, {P} stands for the group's and {Q} for the subscription's Microsoft.Compute, {T} for
 * the tenant's id; an api-version is added where there is no query.
 */
#pragma once

#include "lib/http/message.h"
#include "test/azsim/arm/arm.h"
#include "test/azsim/arm/transport.h"

#define TENANT "11111111-1111-1111-1111-111111111111"
#define SUBSCRIPTION "22222222-2222-2222-2222-222222222222"
#define CLIENT "33333333-3333-3333-3333-333333333333"

struct azure {
    struct loop *loop;
    struct model *model;
    struct arm *arm;
    struct arm_transport *transport;
    char *token;                 /* sent with every request to ARM; NULL: none */
    struct http_header extra[2]; /* sent with every request, if they have a name */
    json_t *records;             /* what the journal was told */
};

/* NULL: the usual ones. Clients of its own must have the usual one, with its secret "s3cr+t&=". */
struct azure *azure_new(const struct arm_config *settings);
void azure_free(struct azure *azure);
/* Beside vm1 and vm2. */
void azure_add_vm(struct azure *azure, const char *name, bool identity);
/* From now on the client is in that VM, which it was not before; NULL: outside of Azure. */
void azure_move(struct azure *azure, const char *vm);

/* One exchange; `body` with single quotes. Time passes only as far as the answer takes. */
void ask(struct azure *azure, const char *method, const char *path, const char *body,
         struct http_response *ret);
/* The same for an answer whose body is wanted: status checked, JSON the caller's. */
json_t *ask_json(struct azure *azure, const char *method, const char *path, const char *body,
                 int status);
/* A disk "name" of 10 GiB in zone 1, made. */
void make_disk(struct azure *azure, const char *name, int max_shares);

const char *header_of(const struct http_response *response, const char *name); /* "" if none */
/* JSON with single quotes. */
json_t *json_of(const char *text);
