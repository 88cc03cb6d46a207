/* client.h - who may ask for tokens, and how they prove who they are.
 */
#pragma once

#include <stddef.h>

/* An issuer of tokens outside of Entra ID, and whom of its subjects an application trusts. */
struct arm_federation {
    const char *issuer, *subject, *audience;
    const char *key; /* public, PEM */
};

/* An application. */
struct arm_client {
    const char *id;
    const char *secret, *expired_secret; /* NULL: none */
    const char **certificates;           /* PEM */
    size_t n_certificates;
    struct arm_federation *federations;
    size_t n_federations;
};

/* A user-assigned identity. */
struct arm_identity {
    const char *name, *client_id, *object_id;
    const char **vms; /* that have it, by name */
    size_t n_vms;     /* 0: all */
};
