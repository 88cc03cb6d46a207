/* principals.h - the configuration's applications and user-assigned identities.
 *
 *     "clients": [{"clientId": "...", "clientSecret": "...", "expiredClientSecret": "...",
 *                  "certificates": ["-----BEGIN CERTIFICATE-----..."],
 *                  "federatedCredentials": [{"issuer": "https://...", "audience": "api://...",
 *                                            "subject": "system:serviceaccount:kube-system:azdisk",
 *                                            "key": "-----BEGIN PUBLIC KEY-----..."}]}],
 *     "identities": [{"name": "driver", "clientId": "...", "objectId": "...", "vms": ["node-a"]}]
 *
 * A client needs its clientId and one way to prove who it is; an identity without "vms" is of all.
 */
#pragma once

#include <jansson.h>

#include "lib/base/err.h"
#include "test/azsim/arm/client.h"

struct principals {
    struct arm_client *clients;
    size_t n_clients;
    struct arm_identity *identities;
    size_t n_identities;
    json_t *document; /* what their texts point into */
};

struct err *principals_read(const json_t *json, struct principals *ret)
    __attribute__((warn_unused_result));
void principals_fini(struct principals *principals);
