/* service.h - the extender's HTTP service: /prioritize and /filter, as kube-scheduler calls them.
 *
 * The same below /azdiskschedulerextender/, where the Azure Disk CSI driver V2 has them; and /ping.
 * Nothing else: the answers say where the disks of a pod are, to whoever may call. Plain HTTP or
 * TLS, as configured. Loop's thread.
 */
#pragma once

#include "lib/program/tls_files.h"
#include "scheduler-extender/extender.h"

struct service_config {
    const struct extender *extender;
    const char *address;
    size_t max_request; /* bytes */
};

struct service;

/* What the two point to must outlive the service. */
struct err *service_new(struct loop *loop, const struct service_config *config,
                        const struct tls_pem *pem, struct service **ret)
    __attribute__((warn_unused_result));
void service_close(struct task *self, struct service *service); /* NULL is fine */
