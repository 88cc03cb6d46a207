/* leader.h - this process as a candidate, and the reconcilers that run while it leads.
 *
 * Leading is all or nothing: the reconcilers start when the lease is held and what former leaders
 * wrote has been read, and when the lease is lost the process is to end, because only a fresh start
 * is sure to know nothing that is no longer true.
 */
#pragma once

#include "controller/controller.h"
#include "lib/kube/lease.h"

struct leader;

struct leader_config {
    struct controller *controller;
    struct lease_config lease; /* callbacks and kube are filled in here */
    void (*lost)(void *ctx);   /* the process must end now */
    void *ctx;
};

struct leader *leader_new(const struct leader_config *config);
bool leader_leads(const struct leader *leader);
/* Stops the reconcilers and gives the lease back. */
void leader_stop(struct task *self, struct leader *leader);
