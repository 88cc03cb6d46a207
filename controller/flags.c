#include "controller/flags.h"

#include "lib/api/names.h"
#include "lib/base/alloc.h"

static const char program[] = "azdisk-controller";
static const char about[] = "CSI controller and reconcilers of the Azure disk driver";

static const char *const publish_waits[] = {"created", "lun", "attached", NULL};
static const char *const on_unpublish_ways[] = {"demote", "detach", NULL};
static const char *const placements[] = {"none", "nominate", NULL};
static const char *const repairs[] = {"safe", "none", NULL};

enum { LEAST_GRACE_PERIOD_MS = 4000, MINUTE_MS = 60 * 1000, HOUR_MS = 60 * MINUTE_MS };

static struct flags flags = {
    .endpoint = "unix:///csi/csi.sock",
    .health_address = "0.0.0.0:29602",
    .metrics_address = "0.0.0.0:29604",
    .metrics_tls = {"--metrics-", "", "", ""},
    .tls_reload_interval_ms = DEFAULT_TLS_RELOAD_INTERVAL_MS,
    .cloud_config_secret = "azure-cloud-provider",
    .cloud_config_namespace = "kube-system",
    .cloud_config_file = "/etc/kubernetes/azure.json",
    .cloud_cache = "",
    .user_agent = "",
    .user_agent_suffix = "",
    .lease_namespace = DEFAULT_LEASE_NAMESPACE,
    .lease_name = DEFAULT_LEASE_NAME,
    .pod_name = "",
    .lease_duration_ms = 15 * 1000,
    .renew_deadline_ms = 10 * 1000,
    .retry_period_ms = 2 * 1000,
    .log = {.verbosity = 2},
    .settings = {.driver_name = DEFAULT_DRIVER_NAME,
                 .namespace_ = DEFAULT_OBJECT_NAMESPACE,
                 .publish_wait = PUBLISH_WAIT_LUN,
                 .on_unpublish = ON_UNPUBLISH_DEMOTE,
                 .expand_detaches_replicas = true,
                 .replica_gc_delay_ms = 5 * 60 * 1000,
                 .heartbeat_limit_ms = DEFAULT_HEARTBEAT_LIMIT_MS,
                 .worker_tasks = 100,
                 .audit_interval_ms = 10 * 1000,
                 .repair = REPAIR_SAFE,
                 .failover_max_silent = 20,
                 .scheduler_extender = "",
                 .placement = PLACEMENT_NONE,
                 .placement_webhook = "",
                 .placement_certificate_secret = "",
                 .placement_certificate_ms = UINT64_C(90) * 24 * HOUR_MS},
};

static const struct option_row rows[] = {
    TEXT_FLAG("endpoint", flags.endpoint, "Unix socket on which CSI is served"),
    KUBECONFIG_FLAG(flags.kubeconfig),
    DRIVER_NAME_FLAG(flags.settings.driver_name),
    OBJECT_NAMESPACE_FLAG(flags.settings.namespace_),
    TEXT_FLAG(
        "cloud-config-secret-name", flags.cloud_config_secret,
        "Secret whose key cloud-config contains the azure.json; empty: only the file is read"),
    TEXT_FLAG("cloud-config-secret-namespace", flags.cloud_config_namespace,
              "Namespace of the Secret with the azure.json"),
    {.name = "cloud-config",
     .type = OPTION_STRING,
     .target = &flags.cloud_config_file,
     .environment = "AZURE_CREDENTIAL_FILE",
     .help = "Path of the azure.json file, which is used if there is no Secret"},
    TEXT_FLAG(
        "cloud-cache", flags.cloud_cache,
        "File in which Azure's limits of VM sizes and disks are saved for the next start; empty: "
        "they are not saved"),
    TEXT_FLAG("custom-user-agent", flags.user_agent,
              "User-Agent that is sent to Azure; empty: that of the azure.json, or else the "
              "controller's own"),
    TEXT_FLAG("user-agent-suffix", flags.user_agent_suffix,
              "Appended to the User-Agent that is sent to Azure"),
    TEXT_FLAG(
        "health-address", flags.health_address,
        "Address on which /healthz and /readyz are served: host:port, or a Unix socket such as "
        "unix:///csi/health.sock"),
    TEXT_FLAG(
        "metrics-address", flags.metrics_address,
        "Address on which /metrics is served; while another process uses it, the controller waits "
        "until it is free"),
    METRICS_TLS_FLAGS(flags.metrics_tls),
    TLS_RELOAD_INTERVAL_FLAG(flags.tls_reload_interval_ms),
    LEASE_FLAGS(flags.lease_namespace, flags.lease_name),
    DURATION_FLAG(
        "lease-duration", flags.lease_duration_ms, 1000,
        "How long other controllers wait before they take over the Lease of a leader that no "
        "longer renews it"),
    DURATION_FLAG("lease-renew-deadline", flags.renew_deadline_ms, 500,
                  "How long a leader that cannot renew its Lease remains the leader; less than "
                  "--lease-duration"),
    DURATION_FLAG("lease-retry-period", flags.retry_period_ms, 100,
                  "Time between two attempts to acquire or renew the Lease"),
    {.name = "pod-name",
     .type = OPTION_STRING,
     .target = &flags.pod_name,
     .environment = "POD_NAME",
     .help = "Name of the pod, which appears in the Lease and in events; empty: the host name"},
    CHOICE_FLAG("publish-wait", flags.settings.publish_wait, publish_waits,
                "What ControllerPublishVolume waits for"),
    CHOICE_FLAG(
        "on-unpublish", flags.settings.on_unpublish, on_unpublish_ways,
        "What ControllerUnpublishVolume does with the disk of a volume that keeps replicas; a "
        "disk that its node still uses is always detached"),
    DURATION_FLAG("replica-gc-delay", flags.settings.replica_gc_delay_ms, 0,
                  "How long replicas stay attached after the volume's last unpublish"),
    BOOL_FLAG("expand-detaches-replicas", flags.settings.expand_detaches_replicas,
              "Whether the replicas of a volume that is not in use are detached when its disk is "
              "to grow or to be modified in a way that Azure allows only while no VM has the disk; "
              "if not, that happens when they have been removed"),
    INT_FLAG("reserved-data-disk-slot-num", flags.settings.reserved_slots, 0, 64,
             "Number of data disk slots of each VM that are reserved for disks that do not belong "
             "to the driver; such disks count towards it once they are attached"),
    DURATION_FLAG(
        "heartbeat-limit", flags.settings.heartbeat_limit_ms, 1000,
        "Age of a node plug-in's last heartbeat from which the plug-in is considered not ready"),
    DURATION_FLAG(
        "audit-interval", flags.settings.audit_interval_ms, 0,
        "Time between two scans of the audit, each of which takes about one call to Azure; 0: "
        "no audit"),
    CHOICE_FLAG(
        "repair", flags.settings.repair, repairs,
        "Which findings the audit repairs: safe (those that Azure or Kubernetes settles) or none "
        "(report only)"),
    DURATION_FLAG(
        "node-grace-period", flags.settings.node_grace_period_ms, 0,
        "How long the Lease of a node plug-in may go without a renewal until the node is silent "
        "and its volumes of which the class or the pods ask for it are failed over; 0: never "
        "(docs/failover.md)"),
    INT_FLAG("failover-max-silent", flags.settings.failover_max_silent, 0, 100,
             "Percentage of all nodes, but at least two nodes, that may be silent at once, not "
             "counting a zone that is lost; when there are more, none is failed over"),
    TEXT_FLAG(
        "scheduler-extender", flags.settings.scheduler_extender,
        "Namespace and label app of the scheduler extender's pods, NAMESPACE/APP: those on a "
        "node that is failed over are deleted at once, so that kube-scheduler asks the others "
        "(docs/scheduling.md)"),
    CHOICE_FLAG("placement", flags.settings.placement, placements,
                "What the leader does for pods with the scheduling gate "
                "disk.csi.azure.com/placement: nominate (propose a node that has the pod's disks, "
                "then remove the gate) or none (docs/scheduling.md)"),
    TEXT_FLAG("placement-webhook", flags.settings.placement_webhook,
              "MutatingWebhookConfiguration for which the leader makes and rotates the certificate "
              "of the scheduler extender's webhook; empty: somebody else provides it"),
    TEXT_FLAG("placement-certificate-secret", flags.settings.placement_certificate_secret,
              "Secret in which the leader keeps that certificate, in the namespace of the "
              "webhook's Service"),
    /* A third of it is left when the next one is put to use, and kubelet may take two minutes to
     * show that to the extender. */
    {.name = "placement-certificate-duration",
     .type = OPTION_DURATION,
     .target = &flags.settings.placement_certificate_ms,
     .least = 10 * MINUTE_MS,
     .most = INT64_C(8760) * HOUR_MS,
     .help = "How long such a certificate is valid; it is replaced when two thirds of that are "
             "over, or at once if it would last longer than this"},
    INT_FLAG("worker-threads", flags.settings.worker_tasks, 1, 1000,
             "Number of objects of each kind that are reconciled concurrently; attachments are not "
             "limited, because they mostly wait for Azure"),
    LOG_FLAGS(flags.log),
};

bool flags_parse(int argc, char *const argv[], struct flags *ret, int *ret_status)
{
    if (!options_start(rows, COUNT_OF(rows), program, about, argc, argv, ret_status))
        return false;
    if (!tls_flags_check(program, &flags.metrics_tls, flags.metrics_address, ret_status))
        return false;
    if (flags.renew_deadline_ms >= flags.lease_duration_ms)
        return options_refuse(program, ret_status,
                              "--lease-renew-deadline must be less than --lease-duration");
    if (flags.settings.node_grace_period_ms &&
        flags.settings.node_grace_period_ms < LEAST_GRACE_PERIOD_MS)
        return options_refuse(program, ret_status,
                              "--node-grace-period must be 0 or at least 4 seconds");
    if (!flags.settings.placement_webhook[0] != !flags.settings.placement_certificate_secret[0])
        return options_refuse(
            program, ret_status,
            "--placement-webhook and --placement-certificate-secret must be set together");
    *ret = flags;
    return true;
}
