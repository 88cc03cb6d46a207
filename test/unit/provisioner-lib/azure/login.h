/* login.h - a credential in a small Azure: every answer to it may be replaced.
 *
 * The application CLIENT has the secret "s3cr+t&=", a certificate and a federation with a cluster;
 * the identity "one" is given to every VM, of which the credential is in vm1.
 */
#pragma once

#include "lib/base/alloc.h"
#include "lib/base/secret.h"
#include "provisioner-lib/azure/credential.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/arm/azure.h"
#include "test/unit/test/azsim/arm/key_pair.h"

#define BASE                                                                                       \
    "tenantId: '" TENANT "', subscriptionId: '" SUBSCRIPTION                                       \
    "', resourceGroup: rg, location: eastus, "
#define BY_SECRET BASE "aadClientId: '" CLIENT "', aadClientSecret: 's3cr+t&='"
#define CLIENT_OF_ONE "a1000000-0000-0000-0000-000000000000"
#define OBJECT_OF_ONE "b1000000-0000-0000-0000-000000000000"
#define ISSUER "https://issuer"
#define WORKLOAD "system:serviceaccount:k:driver"
#define AUDIENCE "api://AzureADTokenExchange"

/* An answer instead of Azure's. */
struct scripted {
    int status;
    const char *header, *value, *body;
};

struct login {
    struct arm_client client;
    const char **certificate;
    struct arm_federation *federation;
    struct azure *azure;
    struct http_transport transport; /* counts, and answers as scripted before it asks Azure */
    struct scripted script;
    int times;         /* more that it answers so */
    const char *fault; /* no connection, for this reason */
    int asked;         /* requests for a token */
    char *last_form;   /* of the last of them */
    struct azure_config config;
    struct task_group group;
    struct credential *credential;
};

/* The keys of the application and of the cluster; NULL: it has no such proof. */
struct login *login_new(const char *yaml, const struct key_pair *own,
                        const struct key_pair *cluster);
void login_close(struct login *login); /* what is under way */
void login_free(struct login *login);
void login_advance_minutes(struct login *login, unsigned minutes);

/* Somebody who needs a token. */
struct need {
    struct login *login;
    struct task *task;
    char *authorization;
    struct err *err;
    bool ended;
};

void need_begin(struct login *login, struct need *need);
struct need need_token(struct login *login, uint64_t within_ms);
void need_fini(struct need *need);

/* Resource Manager takes the token. */
void expect_token(struct login *login);
void expect_failure(struct login *login, uint64_t within_ms, enum err_kind kind, const char *code,
                    const char *words);
