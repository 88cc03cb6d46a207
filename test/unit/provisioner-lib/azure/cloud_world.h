/* cloud_world.h - the driver's client of Azure against the simulated one, in virtual time: what is
 * asked of the client, and a network in between that can lose, refuse and count.
 */
#pragma once

#include "provisioner-lib/azure/azure.h"
#include "test/azsim/model/attachment.h"
#include "test/azsim/model/vm.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/arm/azure.h"

#define VM(name)                                                                                   \
    "/subscriptions/" SUBSCRIPTION "/resourceGroups/rg/providers/Microsoft.Compute/"               \
    "virtualMachines/" name
#define DISK(name)                                                                                 \
    "/subscriptions/" SUBSCRIPTION "/resourceGroups/rg/providers/Microsoft.Compute/disks/" name

#define WORLD_DRIVER "disk.csi.azure.com"
#define WORLD_CLUSTER "3f0a8c1e-6d5b-4f7a-9e21-7c4d2b1a0f55"

/* The journal's name of a change of a VM's disks. */
#define CHANGES "virtualMachines.attachDetachDataDisks"

/* An answer that is given in Azure's place, to the next requests whose URL has this text. */
struct stand_in {
    const char *text;   /* NULL: none */
    const char *method; /* NULL: any */
    int times;
    int status;
    struct http_header headers[2]; /* those that have a name */
    const char *body;              /* with single quotes */
};

/* The network to Azure. */
struct network {
    struct http_transport transport;
    struct http_transport *inner;
    int lose_answers, lose_requests; /* so many more, of requests that change something */
    int refuse;                      /* so many of them get no connection */
    struct stand_in stand_in;
    int requests;      /* that were sent */
    json_t *last_body; /* of a request that changes something and arrived */
};

struct world {
    struct azure *azure;
    struct network network;
    struct azure_config config;
    struct task_group group;
    struct cloud *cloud;
};

struct world *world_new(void);
struct world *world_with_cache(const char *cache_file);
void world_free(struct world *world);
/* The client ends; what it was asked for is answered. */
void world_close(struct world *world);

/* ---- what is asked of the cloud ---- */

enum wish_kind { CREATE, DELETE, ATTACH, DETACH, REPAIR, LOOK };

struct wish {
    struct world *world;
    enum wish_kind kind;
    const char *vm;
    const char *disk;
    int lun;
    int max_shares;
    const char *cluster; /* of CREATE; NULL: WORLD_CLUSTER */
    int64_t size_gib;    /* 0: 10 */
    const char *zone;    /* NULL: eastus-1 */
    enum cloud_urgency urgency;
    const char *swap_out; /* a disk */
    bool off;             /* of DETACH: the machine is */
    bool forced;          /* it was detached so */
    const bool *wanted;   /* of ATTACH: whether it still is; NULL: in any case */
    struct err *err;
    bool accepted;       /* of ATTACH */
    int came_to_nothing; /* so often, after it had been */
    bool ended;
    uint64_t ended_at;
    struct cloud_instance instance; /* of LOOK */
};

void begin(struct world *world, struct wish *wish);
/* Until all of them have ended; at most two minutes. */
void finish(struct world *world, struct wish *wishes, size_t n);
struct err *wish(struct world *world, struct wish one);
/* The VM's model, at most a minute old, for cloud_instance_fini. */
struct cloud_instance model_of(struct world *world, const char *vm);
/* Disks of 10 GiB; what that took is forgotten. */
void make_disks(struct world *world, const char *const *names, size_t n, int max_shares);

/* ---- what came of it ---- */

int calls(const struct world *world, const char *kind); /* since the records were cleared */
int attached(const struct world *world, const char *vm);
uint64_t now_of(const struct world *world);
