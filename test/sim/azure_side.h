/* azure_side.h - the Azure of a simulated cluster: azsim's own model and protocols, in process, and
 * the account that the driver has there.
 */
#pragma once

#include "provisioner-lib/azure/config.h"
#include "test/azsim/arm/arm.h"
#include "test/azsim/arm/transport.h"
#include "test/sim/content.h"
#include "test/sim/landscape.h"

enum { AZURE_KINDS = 64 };

/* What was asked of Azure, for checks and for coverage. */
struct azure_count {
    const char *kind; /* "disks.createOrUpdate"; a literal of azsim */
    unsigned asked, failed, throttled;
};

struct azure_side {
    struct arm *arm;
    struct model *model;
    struct arm_transport *transport;
    struct contents contents;
    struct azure_count counts[AZURE_KINDS];
    size_t n_counts;

    /* Called for each request once it is answered; NULL: not wanted. */
    void (*observe)(void *ctx, const struct arm_record *record);
    void *observe_ctx;
};

struct azure_side *azure_side_new(struct loop *loop, const struct landscape *landscape);
/* Where VMs are, and disks. */
struct group *azure_side_vm_group(const struct model *model, const struct landscape *landscape);
struct group *azure_side_disk_group(const struct model *model, const struct landscape *landscape);
/* Others, in the same subscription, in which people keep copies of disks; with namesakes only. */
enum { AZURE_COPIES_GROUPS = 2 };
struct group *azure_side_copies_group(const struct model *model, const struct landscape *landscape,
                                      unsigned nth);
/* That of the resource with this id. */
struct group *azure_side_group_of(const struct model *model, const char *id);
/* The key (resource.h) of a disk of that name, among those that the driver makes. */
char *azure_side_disk_key(const struct model *model, const struct landscape *landscape,
                          const char *name) __attribute__((warn_unused_result));
/* `self` is a task of the same loop. */
void azure_side_close(struct task *self, struct azure_side *side);
struct http_transport *azure_side_http(struct azure_side *side);

/* The azure.json of the driver. */
void azure_side_config(struct azure_config *ret);
