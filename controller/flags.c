#include "controller/flags.h"

#include <stdio.h>

#include "lib/api/names.h"
#include "lib/base/alloc.h"

static const char program[] = "azdisk-controller";
static const char about[] = "CSI controller and reconcilers of the Azure disk driver";

static const char *const publish_waits[] = {"created", "lun", "attached", NULL};
static const char *const on_unpublish_ways[] = {"demote", "detach", NULL};
static const char *const repairs[] = {"safe", "none", NULL};
static const char *const log_formats[] = {"text", "json", NULL};

static struct flags flags = {
    .endpoint = "unix:///csi/csi.sock",
    .health_address = "0.0.0.0:29602",
    .metrics_address = "0.0.0.0:29604",
    .cloud_config_secret = "azure-cloud-provider",
    .cloud_config_namespace = "kube-system",
    .cloud_config_file = "/etc/kubernetes/azure.json",
    .cloud_cache = "",
    .lease_namespace = "kube-system",
    .lease_name = "csi-azuredisk-controller",
    .pod_name = "",
    .lease_duration_ms = 15 * 1000,
    .renew_deadline_ms = 10 * 1000,
    .retry_period_ms = 2 * 1000,
    .verbosity = 2,
    .settings = {.driver_name = "disk.csi.azure.com",
                 .namespace_ = "azure-disk-csi",
                 .publish_wait = PUBLISH_WAIT_LUN,
                 .on_unpublish = ON_UNPUBLISH_DEMOTE,
                 .expand_detaches_replicas = true,
                 .replica_gc_delay_ms = 5 * 60 * 1000,
                 .heartbeat_limit_ms = DEFAULT_HEARTBEAT_LIMIT_MS,
                 .worker_tasks = 100,
                 .audit_interval_ms = 10 * 1000,
                 .repair = REPAIR_SAFE},
};

#define TEXT(flag, member, text)                                                                   \
    {                                                                                              \
        .name = flag, .type = OPTION_STRING, .target = &flags.member, .help = text                 \
    }
#define DURATION(flag, member, shortest, text)                                                     \
    {                                                                                              \
        .name = flag, .type = OPTION_DURATION, .target = &flags.member, .least = shortest,         \
        .help = text                                                                               \
    }
#define CHOICE(flag, member, list, text)                                                           \
    {                                                                                              \
        .name = flag, .type = OPTION_CHOICE, .target = &flags.member, .choices = list,             \
        .help = text                                                                               \
    }

static const struct option_row rows[] = {
    TEXT("endpoint", endpoint, "Unix socket on which CSI is served"),
    TEXT("kubeconfig", kubeconfig, "Kubeconfig file; empty: the pod's service account"),
    TEXT("driver-name", settings.driver_name, "Name of the CSI driver"),
    TEXT("object-namespace", settings.namespace_, "Namespace of the custom resources"),
    TEXT("cloud-config-secret-name", cloud_config_secret,
         "Secret whose key cloud-config contains the azure.json; empty: only the file is read"),
    TEXT("cloud-config-secret-namespace", cloud_config_namespace,
         "Namespace of the Secret with the azure.json"),
    {.name = "cloud-config",
     .type = OPTION_STRING,
     .target = &flags.cloud_config_file,
     .environment = "AZURE_CREDENTIAL_FILE",
     .help = "Path of the azure.json file, which is used if there is no Secret"},
    TEXT("cloud-cache", cloud_cache,
         "File in which Azure's limits of VM sizes and disks are saved for the next start; empty: "
         "they are not saved"),
    TEXT("health-address", health_address,
         "Address on which /healthz and /readyz are served: host:port, or a Unix socket such as "
         "unix:///csi/health.sock"),
    TEXT("metrics-address", metrics_address,
         "Address on which /metrics is served; while another process uses it, the controller waits "
         "until it is free"),
    TEXT("leader-election-namespace", lease_namespace,
         "Namespace of the Lease with which a leader is elected"),
    TEXT("leader-election-name", lease_name, "Name of the Lease with which a leader is elected"),
    DURATION("lease-duration", lease_duration_ms, 1000,
             "How long other controllers wait before they take over the Lease of a leader that no "
             "longer renews it"),
    DURATION("lease-renew-deadline", renew_deadline_ms, 500,
             "How long a leader that cannot renew its Lease remains the leader; less than "
             "--lease-duration"),
    DURATION("lease-retry-period", retry_period_ms, 100,
             "Time between two attempts to acquire or renew the Lease"),
    {.name = "pod-name",
     .type = OPTION_STRING,
     .target = &flags.pod_name,
     .environment = "POD_NAME",
     .help = "Name of the pod, which appears in the Lease and in events; empty: the host name"},
    CHOICE("publish-wait", settings.publish_wait, publish_waits,
           "What ControllerPublishVolume waits for"),
    CHOICE("on-unpublish", settings.on_unpublish, on_unpublish_ways,
           "What ControllerUnpublishVolume does with the disk of a volume that keeps replicas; a "
           "disk that its node still uses is always detached"),
    DURATION("replica-gc-delay", settings.replica_gc_delay_ms, 0,
             "How long replicas stay attached after the volume's last unpublish"),
    {.name = "expand-detaches-replicas",
     .type = OPTION_BOOL,
     .target = &flags.settings.expand_detaches_replicas,
     .help = "Whether the replicas of a volume that is not in use are detached when its disk is to "
             "grow, which a shared disk cannot while a VM has it; if not, it grows when they have "
             "been removed"},
    DURATION(
        "heartbeat-limit", settings.heartbeat_limit_ms, 1000,
        "Age of a node plug-in's last heartbeat from which the plug-in is considered not ready"),
    DURATION("audit-interval", settings.audit_interval_ms, 0,
             "Time between two scans of the audit, each of which takes about one call to Azure; 0: "
             "no audit"),
    CHOICE("repair", settings.repair, repairs,
           "Which findings the audit repairs: safe (those that Azure's model proves) or none "
           "(report only)"),
    {.name = "worker-threads",
     .type = OPTION_INT,
     .target = &flags.settings.worker_tasks,
     .least = 1,
     .most = 1000,
     .help = "Number of objects of each kind that are reconciled concurrently; attachments are not "
             "limited, because they mostly wait for Azure"},
    {.name = "v",
     .type = OPTION_INT,
     .target = &flags.verbosity,
     .least = 0,
     .most = 10,
     .help = "Log level: 0 warnings, 2 information, 5 debug"},
    CHOICE("log-format", log_format, log_formats, "Format of the log lines"),
};

bool flags_parse(int argc, char *const argv[], struct flags *ret, int *ret_status)
{
    if (!options_start(rows, COUNT_OF(rows), program, about, argc, argv, ret_status))
        return false;
    if (flags.renew_deadline_ms >= flags.lease_duration_ms) {
        fprintf(stderr, "%s: --lease-renew-deadline must be less than --lease-duration\n", program);
        *ret_status = 2;
        return false;
    }
    *ret = flags;
    return true;
}
