/* placement_service.h - the mutating webhook: /placement, as the API server calls it for new pods.
 *
 * A listener of its own, because the API server shows no certificate that kube-scheduler's
 * authority has issued. Whatever goes wrong, the pod is allowed as it is: what can be answered is
 * answered so, and for the rest the webhook's failurePolicy says it. Nothing is changed but by the
 * answer, so a dry run gets the same. Loop's thread.
 */
#pragma once

#include "lib/program/tls_files.h"
#include "scheduler-extender/leader_watch.h"
#include "scheduler-extender/overdue_gates.h"
#include "scheduler-extender/placement_patch.h"

struct placement_config {
    const struct extender *extender;
    const struct placement_rules *rules;
    const struct leader_watch *leader;
    const struct overdue_gates *gates;
    const char *address;
};

struct placement_service;

/* What the two point to must outlive the service. */
struct err *placement_service_new(struct loop *loop, const struct placement_config *config,
                                  const struct tls_pem *pem, struct placement_service **ret)
    __attribute__((warn_unused_result));
/* Connections from now on are shown this certificate. INVALID, and nothing has changed, if it
 * cannot be used. Loop's stack. */
struct err *placement_service_renew(struct placement_service *service, const struct tls_pem *pem)
    __attribute__((warn_unused_result));
void placement_service_close(struct task *self,
                             struct placement_service *service); /* NULL is fine */
