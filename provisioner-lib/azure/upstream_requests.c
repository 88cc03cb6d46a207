#include "provisioner-lib/azure/upstream_requests.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/err.h"
#include "provisioner-lib/azure/arm_client.h"

static const double buckets[] = {0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600, 1200, 0};

struct metric METRIC_UPSTREAM_REQUEST_SECONDS = {
    .name = "cloudprovider_azure_api_request_duration_seconds",
    .help = "Duration of requests to Azure Resource Manager, with that of the operations that "
            "these begin, by the name that the Azure cloud provider has for this.",
    .type = METRIC_HISTOGRAM,
    .labels = {"request", "resource_group", "subscription_id", "source"},
    .buckets = buckets,
};

struct metric METRIC_UPSTREAM_REQUEST_ERRORS = {
    .name = "cloudprovider_azure_api_request_errors",
    .help = "Requests to Azure Resource Manager that failed, by the name that the Azure cloud "
            "provider has for this, and Azure's code.",
    .type = METRIC_COUNTER,
    .labels = {"request", "resource_group", "subscription_id", "source", "code"},
};

struct metric METRIC_UPSTREAM_REQUESTS_THROTTLED = {
    .name = "cloudprovider_azure_api_request_throttled_count",
    .help = "Requests that Azure Resource Manager throttled (HTTP status 429), by the name that "
            "the Azure cloud provider has for this.",
    .type = METRIC_COUNTER,
    .labels = {"request", "resource_group", "subscription_id", "source"},
};

/* `type`: what the path has before the last name; NULL: whatever it is. `method`: likewise. */
static const struct {
    enum arm_kind kind;
    const char *method, *type;
    const char *name;
} names[] = {
    {ARM_DISK_READ, "GET", "/disks/", "disks_get"},
    {ARM_DISK_WRITE, "PUT", "/disks/", "disks_create_or_update"},
    {ARM_DISK_WRITE, "PATCH", "/disks/", "disks_update"},
    {ARM_DISK_DELETE, "DELETE", "/disks/", "disks_delete"},
    {ARM_DISK_READ, "GET", "/snapshots/", "snapshot_get"},
    {ARM_DISK_WRITE, "PUT", "/snapshots/", "snapshot_create_or_update"},
    {ARM_DISK_DELETE, "DELETE", "/snapshots/", "snapshot_delete"},
    {ARM_VM_READ, "GET", "/virtualMachines/", "vm_get"},
    {ARM_VM_UPDATE, NULL, NULL, "vm_update"},
    {ARM_INSTANCE_READ, "GET", "/virtualMachines/", "vmssvm_get"},
    {ARM_INSTANCE_UPDATE, NULL, NULL, "vmssvm_update"},
};

/* Whether the path is that of one of this type, not of all of them. */
static bool is_of_type(const char *path, const char *type)
{
    size_t length = strcspn(path, "?");
    const char *last = memrchr(path, '/', length);
    size_t before = last ? (size_t)(last - path) + 1 : 0;

    return before >= strlen(type) && before < length &&
           strncasecmp(path + before - strlen(type), type, strlen(type)) == 0;
}

static const char *name_of(const struct arm_request *request)
{
    const char *method = request->method ? request->method : "GET";

    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (names[i].kind == request->kind &&
            (!names[i].method || strcmp(names[i].method, method) == 0) &&
            (!names[i].type || is_of_type(request->path, names[i].type)))
            return names[i].name;
    return NULL;
}

/* What follows `key` in the path, in small letters. */
static char *segment(const char *path, const char *key)
{
    const char *found = strcasestr(path, key);
    CLEANUP(freep) char *name = NULL;

    if (found)
        name = mem_strndup(found + strlen(key), strcspn(found + strlen(key), "/?"));
    return mem_lower(name);
}

struct upstream_request upstream_request_of(const struct arm_request *request, uint64_t now)
{
    const char *name = name_of(request);

    if (!name)
        return (struct upstream_request){0};
    return (struct upstream_request){
        .name = name,
        .subscription = segment(request->path, "/subscriptions/"),
        .resource_group = segment(request->path, "/resourceGroups/"),
        .began = now,
    };
}

void upstream_request_fini(struct upstream_request *request)
{
    free(request->subscription);
    free(request->resource_group);
    *request = (struct upstream_request){0};
}

void upstream_request_count(const struct upstream_request *request, const struct err *err,
                            uint64_t now)
{
    const char *group = request->resource_group, *subscription = request->subscription;

    if (!request->name || (err && err_kind(err) == ERR_CANCELED))
        return;
    metric_observe(&METRIC_UPSTREAM_REQUEST_SECONDS, (double)(now - request->began) / 1000,
                   request->name, group, subscription, "");
    if (!err)
        return;
    metric_add(&METRIC_UPSTREAM_REQUEST_ERRORS, 1, request->name, group, subscription, "",
               err_code(err) ? err_code(err) : err_kind_reason(err_kind(err)));
    if (err_kind(err) == ERR_THROTTLED)
        metric_add(&METRIC_UPSTREAM_REQUESTS_THROTTLED, 1, request->name, group, subscription, "");
}
