/* azure.h - Azure as a cloud for the controller (provisioner-lib/cloud.h).
 */
#pragma once

#include "lib/http/transport.h"
#include "lib/rt/group.h"
#include "provisioner-lib/azure/config.h"
#include "provisioner-lib/cloud.h"

/* `cache_file` keeps what Azure says of VMs and disks between starts; NULL or "": nothing does.
 * `resource_manager` also carries the requests to Entra ID; `metadata` reaches the instance
 * metadata service, without a proxy. What is pointed to must outlive the cloud; `config` is
 * completed by it. Its tasks are members of `group`; free after that is closed. */
struct cloud *azure_cloud_new(struct task_group *group, struct azure_config *config,
                              const char *cache_file, struct http_transport *resource_manager,
                              struct http_transport *metadata);
/* Sets those of azure_metrics.h that follow from its state. */
void azure_cloud_refresh_metrics(struct cloud *cloud);
void azure_cloud_free(struct cloud *cloud);
DEFINE_CLEANUP(struct cloud, azure_cloud_free)
