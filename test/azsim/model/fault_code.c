#include "test/azsim/model/fault_code.h"

#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"

/* %s is the name of what it is about. Codes whose words depend on more are given a "message". */
static const struct code {
    const char *code;
    int status;
    const char *message;
} codes[] = {
    {"ResourceNotFound", 404,
     "The Resource 'Microsoft.Compute/disks/%s' under resource group 'rg' was not found. "
     "For more details please go to https://aka.ms/ARMResourceNotFoundFix"},
    {"ResourceGroupNotFound", 404, "Resource group '%s' could not be found."},
    {"ParentResourceNotFound", 404,
     "Can not perform requested operation on nested resource. Parent resource '%s' not found."},
    {"NotFound", 404, "Disk %s is not found."},
    {"OperationNotFound", 404, "The operation of '%s' is not found."},
    {"VMNotFound", 404, "The VM '%s' cannot be found."},
    {"DiskBlobNotFound", 409,
     "Unable to find VHD blob with URI https://md.blob.storage.azure.net/abcd for disk '%s'."},
    {"CopySourceNotFound", 404, "The source of the copy to '%s' was not found."},
    {"AttachDiskWhileBeingDetached", 409,
     "Cannot attach data disk '%s' to VM because the disk is currently being detached "
     "or the last detach operation failed. Please wait until the disk is completely detached and "
     "then try again or "
     "delete/detach the disk explicitly again."},
    {"DetachUnattachedDisk", 409,
     "Cannot detach data disk '%s' because the disk is not attached to the VM."},
    {"ConflictingUserInput", 409,
     "Disk '%s' cannot be attached as the disk is already owned by VM "
     "'/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg/providers/"
     "Microsoft.Compute/"
     "virtualMachines/another'."},
    {"OperationNotAllowed", 409,
     "Operation is not allowed on '%s' since another operation is in progress."},
    {"OperationPreempted", 409,
     "Operation execution has been preempted by a more recent operation."},
    {"Conflict", 409,
     "The request failed due to conflict with a concurrent request. To resolve it, please refer to "
     "https://aka.ms/activitylog to get more details on the conflicting requests."},
    {"DataDisksForceDetached", 409,
     "The operation was cancelled because data disks of VM '%s' were force detached."},
    {"VMExtensionProvisioningError", 409,
     "VM has reported a failure when processing extension 'vmssCSE' of '%s'."},
    {"VMExtensionProvisioningTimeout", 409,
     "Provisioning of VM extension AKSLinuxExtension of '%s' has timed out."},
    {"PropertyChangeNotAllowed", 409,
     "Changing property 'dataDisk.managedDisk.id' is not allowed."},
    {"InvalidParameter", 400, "The value of parameter '%s' is out of range."},
    {"BadRequest", 400,
     "Could not find member 'toBeDetached' on object of type 'DataDisk'. Path "
     "'properties.storageProfile.dataDisks[0].toBeDetached'."},
    {"PreconditionFailed", 412,
     "Etag provided in if-match header \"1\" does not match etag \"2\" of resource."},
    {"AuthorizationFailed", 403,
     "The client does not have authorization to perform action over scope '%s' or the scope is "
     "invalid. If access was recently granted, please refresh your credentials."},
    {"LinkedAuthorizationFailed", 403,
     "The client has permission to perform action 'Microsoft.Compute/disks/write' on scope "
     "'%s'; however, it does not have permission to perform action 'read' on the linked scope(s) "
     "or the linked "
     "scope(s) are invalid."},
    {"LinkedInvalidPropertyId", 400, "Property id '%s' is invalid."},
    {"LinkedAccessCheckFailed", 403, "The linked access check of '%s' failed."},
    {"ScopeLocked", 409,
     "The scope '%s' cannot perform delete operation because following scope(s) are locked: '%s'. "
     "Please "
     "remove the lock and try again."},
    {"RequestDisallowedByPolicy", 403,
     "Resource '%s' was disallowed by policy. Policy identifiers: "
     "'[{\"policyAssignment\":{\"name\":\"no disks\"}}]'."},
    {"SkuNotAvailable", 409,
     "The requested size for resource '%s' is currently not available in location 'eastus' zones "
     "'1' for the subscription."},
    {"AllocationFailed", 409,
     "Allocation failed. We do not have sufficient capacity for the requested size in this "
     "region."},
    {"ZonalAllocationFailed", 409,
     "Allocation failed. We do not have sufficient capacity for the requested size in this zone."},
    {"OverconstrainedAllocationRequest", 409,
     "Allocation failed. The constraints of '%s' cannot be satisfied."},
    {"OverconstrainedZonalAllocationRequest", 409,
     "Allocation failed. The constraints of '%s' cannot be satisfied in this zone."},
    {"QuotaExceeded", 409,
     "Operation could not be completed as it results in exceeding approved DiskCount quota. "
     "Additional "
     "details - Deployment Model: Resource Manager, Location: eastus, Current Limit: 50000, "
     "Current Usage: 50000, "
     "Additional Required: 1."},
    {"ResourceGroupBeingDeleted", 409,
     "The resource group of '%s' is in deprovisioning state and cannot perform this operation."},
    {"InvalidResourceLocation", 409, "The resource '%s' already exists in another location."},
    {"DiskServiceInternalError", 500,
     "An internal disk service error occurred. Please retry later."},
    {"InternalServerError", 500,
     "Encountered internal server error. Diagnostic information: timestamp '20260101T000000Z'."},
    {"InternalExecutionError", 500, "An internal execution error occurred. Please retry later."},
    {"InternalDiskManagementError", 500,
     "An internal disk management error occurred. Please retry later."},
    {"InternalOperationError", 500, "An internal execution error occurred. Please retry later."},
    {"NetworkingInternalOperationError", 500,
     "An unexpected error occurred while processing the network profile of '%s'."},
    {"ServiceUnavailable", 503, "The service is unavailable. Please retry later."},
    {"ServerTimeout", 503, "The request timed out. Please retry later."},
    {"GatewayTimeout", 504,
     "The gateway did not receive a response from 'Microsoft.Compute' within the specified time "
     "period."},
    {"DiskProcessingError", 409,
     "Disk processing halted as the VM has other disks in failed disks."},
    {"DiskPreparationError", 409, "Disk %s could not be prepared."},
    {"AcquireDiskLeaseFailed", 409,
     "Failed to acquire lease while using disk '%s'. Blob is already in use."},
    {"DiskBlobAlreadyInUseByAnotherDisk", 409,
     "Blob of disk %s is already in use by another disk."},
    {"ResourceUpdateBlockedOnPlatformUpdate", 409,
     "Resource cannot be updated at this time due to ongoing platform update. "
     "Please try again later."},
    {"ReadOnlyDisabledSubscription", 409,
     "The subscription is disabled and therefore marked as read only. You cannot perform "
     "any write actions on this subscription until it is re-enabled."},
    {"MissingSubscriptionRegistration", 409,
     "The subscription is not registered to use namespace 'Microsoft.Compute'."},
};

static const struct code *find(const char *name)
{
    static const struct code unknown = {NULL, 409, "It failed, as it was asked to."};

    for (size_t i = 0; i < COUNT_OF(codes); i++)
        if (strcasecmp(codes[i].code, name) == 0)
            return &codes[i];
    return &unknown;
}

/* The message with a name where it has %s. */
static char *fill(const char *message, const char *name)
{
    char *text = mem_strdup(message);
    char *gap;

    while ((gap = strstr(text, "%s"))) {
        char *longer = mem_printf("%.*s%s%s", (int)(gap - text), text, name, gap + 2);

        free(text);
        text = longer;
    }
    return text;
}

struct refusal *fault_refusal(const struct fault *fault, const char *resource)
{
    const struct code *row = find(fault->code);
    CLEANUP(freep)
    char *message = fill(fault->message ? fault->message : row->message,
                         resource && !strstr(resource, "%s") ? resource : "?");

    return refuse(fault->status ? fault->status : row->status, fault->code, NULL, "%s", message);
}
