/* refusal.h - the ways in which Azure says no.
 *
 * A function of the model that may refuse returns `struct refusal *`: NULL is consent, anything
 * else is the answer that Azure would give, with its HTTP status, code, text and target. It is not
 * a `struct err`: nothing went wrong here, the refusal is data that is sent to a client or kept in
 * a failed operation. The caller owns it.
 *
 * The catalogue below has one row for each refusal. A row is the list of first arguments of
 * refuse(), so that the compiler checks what is filled into the text:
 *
 *     return refuse(DISK_ATTACHED, disk->name, vm->id);
 *
 * Codes and texts are Azure's, because clients match on them.
 */
#pragma once

#include <jansson.h>

#include "lib/base/cleanup.h"

struct refusal {
    int status; /* HTTP */
    char *code, *message;
    char *target;     /* NULL: none */
    char *inner_code; /* innererror.internalErrorCode; NULL: none */
    json_t *details;  /* NULL: none */
};

struct refusal *refuse(int status, const char *code, const char *target, const char *format, ...)
    __attribute__((format(printf, 4, 5), warn_unused_result));
/* The same refusal with an innererror. */
struct refusal *refusal_with_inner(struct refusal *refusal, const char *inner_code)
    __attribute__((warn_unused_result));
/* The same refusal with details, which it takes. */
struct refusal *refusal_with_details(struct refusal *refusal, json_t *details)
    __attribute__((warn_unused_result));
void refusal_free(struct refusal *refusal); /* NULL is fine */
DEFINE_CLEANUP(struct refusal, refusal_free)

/* {"code", "message", "target", "details", "innererror"}, as in an error body. */
json_t *refusal_json(const struct refusal *refusal);
/* The reverse, for a status that was kept beside it. */
struct refusal *refusal_from_json(int status, const json_t *json);

/* Leave the calling function with the refusal, if there is one. */
#define REQUIRE(call)                                                                              \
    do {                                                                                           \
        struct refusal *refusal_ = (call);                                                         \
        if (refusal_)                                                                              \
            return refusal_;                                                                       \
    } while (0)

/* clang-format off */

/* ---- resources ---- */
#define RESOURCE_NOT_FOUND 404, "ResourceNotFound", NULL, \
    "The Resource 'Microsoft.Compute/%s/%s' under resource group '%s' was not found. For more " \
    "details please go to https://aka.ms/ARMResourceNotFoundFix"
#define PARENT_NOT_FOUND 404, "ParentResourceNotFound", NULL, \
    "Failed to perform 'write' on resource(s) of type 'virtualMachineScaleSets/virtualMachines', " \
    "because the parent resource 'Microsoft.Compute/virtualMachineScaleSets/%s' in resource group " \
    "'%s' could not be found."
#define GROUP_NOT_FOUND 404, "ResourceGroupNotFound", NULL, \
    "Resource group '%s' could not be found."
#define GROUP_BEING_DELETED 409, "ResourceGroupBeingDeleted", NULL, \
    "The resource group '%s' is in deprovisioning state and cannot perform this operation."
#define GROUP_NAME_INVALID 400, "InvalidResourceGroup", NULL, \
    "The provided resource group name '%s' has these invalid characters: '%s'. The name can only " \
    "be a letter, digit, '-', '.', '(', ')' or '_'."
#define GROUP_LOCATION_DIFFERS 409, "InvalidResourceGroupLocation", NULL, \
    "Invalid resource group location '%s'. The Resource group already exists in location '%s'."
#define GROUP_LOCATION_NOT_AVAILABLE 400, "LocationNotAvailableForResourceGroup", NULL, \
    "The provided location '%s' is not available for resource group. List of available regions " \
    "is '%s'."
#define GROUP_QUOTA_EXCEEDED 409, "ResourceGroupQuotaExceeded", NULL, \
    "Creating the resource group would exceed the quota of subscription '%s', which is '%d'."
#define GROUP_DELETION_BLOCKED 409, "ResourceGroupDeletionBlocked", NULL, \
    "Deletion of resource group '%s' failed as resources with identifiers '%s' could not be " \
    "deleted. The provisioning state of the resource group will be rolled back. The tracking Id " \
    "is '%s'. Please check audit logs for more details."
#define LOCATION_REQUIRED 400, "LocationRequired", NULL, \
    "The location property is required for this definition."
#define LOCATION_NOT_AVAILABLE 400, "LocationNotAvailableForResourceType", NULL, \
    "The provided location '%s' is not available for resource type 'Microsoft.Compute/%s'. List " \
    "of available regions for the resource type is '%s'."
#define LOCATION_DIFFERS 409, "InvalidResourceLocation", NULL, \
    "The resource '%s' already exists in location '%s' in resource group '%s'. A resource with " \
    "the same name cannot be created in location '%s'. Please select a new resource name."
#define ZONE_NOT_SUPPORTED 400, "InvalidAvailabilityZone", NULL, \
    "The zone(s) '%s' for resource 'Microsoft.Compute/%s/%s' is not supported. The supported " \
    "zones for location '%s' are '1,2,3'"
#define NAME_INVALID(what) 400, "InvalidParameter", what, \
    "The entity name '" what "' is invalid according to its validation rule: " \
    "^[^_\\W][\\w-._]{0,79}(?<![-.])$."
#define NAMESPACE_INVALID 404, "InvalidResourceNamespace", NULL, \
    "The resource namespace '%s' is invalid."
#define DISALLOWED_BY_POLICY 403, "RequestDisallowedByPolicy", NULL, \
    "Resource '%s' was disallowed by policy. Policy identifiers: '[{\"policyAssignment\":{\"name\":" \
    "\"Only disks and snapshots\"}}]'."
#define PARAMETER_MISSING(name) 400, "InvalidParameter", name, \
    "Required parameter '" name "' is missing (null)."
#define PARAMETER_UNKNOWN(name) 400, "InvalidParameter", name, \
    "The value '%s' of parameter '" name "' is not supported."
#define PARAMETER_OUT_OF_RANGE(name) 400, "InvalidParameter", name, \
    "The value '%lld' of parameter '" name "' is out of range. The value must be between '%lld' " \
    "and '%lld', inclusive."
#define PROPERTY_CHANGE_NOT_ALLOWED(target) 409, "PropertyChangeNotAllowed", target, \
    "Changing property '%s' is not allowed."
#define CONCURRENT_REQUEST 409, "Conflict", NULL, \
    "The request failed due to conflict with a concurrent request. To resolve it, please refer " \
    "to https://aka.ms/activitylog to get more details on the conflicting requests."
#define QUOTA_EXCEEDED 409, "QuotaExceeded", NULL, \
    "Operation could not be completed as it results in exceeding approved %s quota. Additional " \
    "details - Deployment Model: Resource Manager, Location: %s, Current Limit: %lld, Current " \
    "Usage: %lld, Additional Required: 1."

/* ---- disks ---- */
#define MAX_SHARES_INVALID 400, "BadRequest", NULL, \
    "MaxShares '%lld' for disk '%s' of size '%lld' GB is invalid. Please refer to " \
    "https://docs.microsoft.com/azure/virtual-machines/windows/disks-shared-enable#disk-sizes"
#define ZRS_IN_ZONE 409, "OperationNotAllowed", NULL, \
    "A disk with sku '%s' cannot be created in an availability zone."
#define PERFORMANCE_NOT_SETTABLE 400, "InvalidParameter", "disk.diskIOPSReadWrite", \
    "Disk '%s' of sku '%s' does not support setting its IOPS or throughput."
#define DISK_ATTACHED 409, "OperationNotAllowed", NULL, "Disk %s is attached to VM %s."
#define DISK_SHRINKS 409, "OperationNotAllowed", NULL, \
    "The disk/snapshot resource with id %s cannot be resized down. Reducing disk/snapshot size " \
    "is not supported in Azure to prevent data loss. If you do need to reduce the size of the " \
    "disk, please create new snapshot/disks with the appropriate size. More information is " \
    "available at https://aka.ms/AzureDisksFAQ"
#define RESIZE_WHILE_ATTACHED 409, "OperationNotAllowed", NULL, \
    "Cannot resize disk %s while it is attached to running VM %s. Resizing a disk of an Azure " \
    "Virtual Machine requires the virtual machine to be deallocated. Please stop your VM and " \
    "retry the operation."
#define RESIZE_WHILE_COPYING 409, "OperationNotAllowed", NULL, \
    "Cannot resize disk %s while the background copy of its data is in progress."
#define SOURCE_NOT_FOUND 404, "NotFound", NULL, "Resource %s is not found."
#define SOURCE_NOT_COMPLETE 409, "OperationNotAllowed", NULL, \
    "Cannot create from snapshot %s because the copy of its data is not complete. Please retry " \
    "when its completionPercent is 100."
#define SOURCE_LARGER 400, "InvalidParameter", "disk.diskSizeGB", \
    "The specified disk size %lld GB is smaller than the size %lld GB of the source."
#define SOURCE_ZONE_DIFFERS 400, "BadRequest", NULL, \
    "Disk '%s' cannot be created from disk %s because they are not in the same zone."
#define SOURCE_SECTORS_DIFFER 400, "BadRequest", NULL, \
    "Snapshot %s has a logical sector size of 4096 bytes, which a disk of sku '%s' does not " \
    "support."
#define COPY_FAILED 500, "InternalExecutionError", NULL, \
    "An internal execution error occurred. Please retry later. (%s)"
#define CONVERT_WHILE_CACHED 409, "OperationNotAllowed", NULL, \
    "Disk %s cannot be converted to sku 'PremiumV2_LRS' while it is attached to VM %s with host " \
    "caching. Set the caching to 'None' first."
#define CHANGED_TOO_OFTEN 409, "OperationNotAllowed", NULL, \
    "The quota of changes of the %s of disk %s is used up: it can be changed %zu times in 24 hours."
#define CHANGE_WHILE_ATTACHED 409, "OperationNotAllowed", NULL, \
    "Cannot change %s of disk %s while it is attached to VM %s."

#define ACCESS_WHILE_ATTACHED 409, "Conflict", NULL, \
    "Access not permitted because disk %s is currently attached to running VM %s."
#define ACCESS_IS_GRANTED 409, "OperationNotAllowed", NULL, \
    "There is an active shared access signature outstanding for %s %s. Call EndGetAccess before " \
    "attaching or deleting the disk. Learn more here: https://aka.ms/revokeaccessapi."

/* ---- snapshots ---- */
#define TOO_MANY_SNAPSHOTS 409, "OperationNotAllowed", NULL, \
    "Disk %s has reached the maximum of %d incremental snapshots. Please delete some of them."
#define TOO_MANY_PENDING_SNAPSHOTS 409, "OperationNotAllowed", NULL, \
    "Disk %s has %d incremental snapshots whose copy is in progress already."
#define TOO_MANY_SNAPSHOTS_AT_ONCE 409, "OperationNotAllowed", NULL, \
    "The limit of incremental snapshots of disk %s has been reached: no more than %d can be " \
    "created in five minutes."
#define SNAPSHOT_NOT_INCREMENTAL 400, "BadRequest", NULL, \
    "Only incremental snapshots are supported for disks of sku PremiumV2_LRS and UltraSSD_LRS."
#define SNAPSHOT_SUBSCRIPTION_DIFFERS 400, "BadRequest", NULL, \
    "An incremental snapshot of disk %s can be created only in the subscription of the disk."
#define INSTANT_ACCESS_INVALID 400, "InvalidParameter", "instantAccessDurationMinutes", \
    "The value of parameter instantAccessDurationMinutes is invalid: it must be from %d to %d, and " \
    "only snapshots of disks of sku PremiumV2_LRS and UltraSSD_LRS can have it."
#define COPY_START_UNDER_WAY 409, "OperationNotAllowed", NULL, \
    "Snapshot %s cannot be copied: of its disk there is a snapshot whose copy is in progress."
#define COPY_START_OUT_OF_ORDER 400, "BadRequest", NULL, \
    "Snapshot %s cannot be copied: a later snapshot of its disk has been copied to '%s' already."
#define COPY_START_NOT_INCREMENTAL 400, "BadRequest", NULL, \
    "CopyStart is supported for an incremental snapshot of an incremental snapshot only."

/* ---- virtual machines ---- */
#define DISK_NOT_FOUND 404, "NotFound", NULL, "Disk %s is not found."
#define DISK_ID_MALFORMED 400, "LinkedInvalidPropertyId", NULL, \
    "Property id '%s' at path '%s' is invalid. Expect fully qualified resource Id that start " \
    "with '/subscriptions/{subscriptionId}' or '/providers/{resourceProviderNamespace}/'."
#define DISK_SUBSCRIPTION_DIFFERS 400, "InvalidParameter", "dataDisk.managedDisk.id", \
    "Subscription %s of the request must match the subscription %s contained in the managed disk " \
    "id."
#define DISK_ZONE_DIFFERS 400, "BadRequest", NULL, \
    "Disk %s cannot be attached to the VM because it is not in the same zone as the VM. VM zone: " \
    "'%s'. Disk zone: '%s'."
#define DISK_NOT_IN_ZONE 400, "BadRequest", NULL, \
    "Disk %s cannot be attached to the VM because it is not in zone '%s'."
#define TOO_MANY_DATA_DISKS 409, "OperationNotAllowed", "dataDisks", \
    "The maximum number of data disks allowed to be attached to a VM of this size is %u."
#define LUN_LISTED_TWICE 400, "InvalidParameter", "dataDisk.lun", "A disk at LUN %u already exists."
#define LUN_TAKEN 400, "InvalidParameter", "dataDisk.lun", \
    "A disk named '%s' already uses the same LUN: %u."
#define DISK_LISTED_TWICE 400, "InvalidParameter", "dataDisk.name", \
    "A disk named '%s' already exists."
#define NOT_A_LIST 400, "InvalidRequestContent", NULL, \
    "The request content was invalid and could not be deserialized: '%s: a list is expected'."
#define CREATE_OPTION_CONFLICT 400, "InvalidParameterConflictingProperties", \
    "dataDisk.createOption", \
    "The property 'dataDisk.createOption' cannot have the value '%s' when property " \
    "'dataDisk.managedDisk.id' is set."
#define SHARED_DISK_CACHING 400, "BadRequest", NULL, \
    "Shared disk '%s' with maxShares %lld supports only Disk CachingType 'None'."
#define LARGE_DISK_CACHING 400, "BadRequest", NULL, \
    "Only Disk CachingType 'None' is supported for disk with size greater than 4095 GB."
#define SKU_CACHING 400, "InvalidParameter", "dataDisk.caching", \
    "Storage Account type %s is not supported with caching type %s."
#define PREMIUM_NOT_SUPPORTED 400, "InvalidParameter", "dataDisk.managedDisk.storageAccountType", \
    "Requested operation cannot be performed because the VM size %s does not support the storage " \
    "account type %s of disk '%s'. Consider updating the VM to a size that supports Premium " \
    "storage."
#define DISK_OWNED 409, "ConflictingUserInput", NULL, \
    "Disk '%s' cannot be attached as the disk is already owned by VM '%s'."
#define DISK_ATTACHING_ELSEWHERE 409, "ConflictingUserInput", NULL, \
    "Cannot attach the disk %s to VM %s because it is already attached to VM %s. A disk can be " \
    "attached to only one VM at a time."
#define DISK_BEING_DETACHED 409, "AttachDiskWhileBeingDetached", NULL, \
    "Cannot attach data disk '%s' to VM '%s' because the disk is currently being detached or the " \
    "last detach operation failed. Please wait until the disk is completely detached and then " \
    "try again or delete/detach the disk explicitly again."
#define DETACH_UNATTACHED 409, "DetachUnattachedDisk", NULL, \
    "Cannot detach data disk '%s' from VM '%s' because the disk is not attached to it."
#define ENCRYPTION_SET_DIFFERS 400, "InvalidParameter", "dataDisk.managedDisk.diskEncryptionSet", \
    "The disk encryption set '%s' of the request does not match that of disk '%s'."
#define ULTRA_NOT_ENABLED 400, "InvalidParameter", "managedDisk.storageAccountType", \
    "Managed disks with 'UltraSSD_LRS' storage account type can be used with Virtual Machines or " \
    "Virtual Machine Scale Set only when 'additionalCapabilities.ultraSSDEnabled' property is " \
    "set to true."
#define ULTRA_WHILE_RUNNING 409, "OperationNotAllowed", "additionalCapabilities.ultraSSDEnabled", \
    "Updating property 'additionalCapabilities.ultraSSDEnabled' of VM '%s' is not allowed unless " \
    "the VM is deallocated."
#define VM_BEING_DELETED 409, "OperationNotAllowed", NULL, \
    "Operation '%s' is not allowed on VM '%s' since the VM is marked for deletion. You can only " \
    "retry the Delete operation (or wait for an ongoing one to complete)."
#define VM_NOT_FOUND 404, "VMNotFound", NULL, "The VM '%s' cannot be found."
#define ETAG_DIFFERS 412, "PreconditionFailed", NULL, \
    "Etag provided in if-match header %s does not match etag %s of resource."
#define INSTANCE_NOT_A_NUMBER 400, "InvalidParameter", "instanceId", \
    "Virtual Machine Scale Set VM instanceId must be a number."
#define INSTANCE_NOT_ACTIVE 400, "InvalidParameter", "instanceIds", \
    "The provided instanceId %s is not an active Virtual Machine Scale Set VM instanceId."
#define SCALE_SET_IS_FLEXIBLE 409, "OperationNotAllowed", NULL, \
    "The operation is not supported on the VMs of Virtual Machine Scale Set '%s', because its " \
    "orchestration mode is Flexible."
#define SCALE_SET_BEING_DELETED 409, "OperationNotAllowed", NULL, \
    "Operation '%s' is not allowed on Virtual Machine Scale Set '%s' since the Virtual Machine " \
    "Scale Set is marked for deletion."
#define VM_EXISTS 412, "PreconditionFailed", NULL, \
    "The resource already exists and the if-none-match header %s does not allow to change it."

#define SCALE_SET_NOT_SET_UP 409, "OperationNotAllowed", NULL, \
    "Operation '%s' is not allowed on Virtual Machine Scale Set '%s' since it is not configured " \
    "for it."

/* ---- what VMs are asked to do ---- */
#define VM_NOT_RUNNING 409, "OperationNotAllowed", NULL, \
    "The operation requires the VM to be running (or set to run)."
#define VM_RUNNING 409, "OperationNotAllowed", NULL, \
    "Operation '%s' is not allowed on VM '%s' since the VM is running. Please power off " \
    "explicitly in case you shut down the VM from inside the guest operating system."
#define VM_GENERALIZED 409, "OperationNotAllowed", NULL, \
    "Operation '%s' is not allowed on VM '%s' since the VM is generalized."
#define CAPTURE_NOT_GENERALIZED 409, "OperationNotAllowed", NULL, \
    "Capture operation cannot be completed because the VM is not generalized."
#define CAPTURE_MANAGED_DISKS 409, "OperationNotAllowed", NULL, \
    "The Capture action is only supported on a Virtual Machine with blob based disks. Please use " \
    "the 'Image' resource APIs to create an Image from a managed Virtual Machine."
#define DISKS_ARE_MANAGED 409, "OperationNotAllowed", NULL, \
    "VM '%s' is already using managed disks."
#define NOT_ELIGIBLE 409, "OperationNotAllowed", NULL, \
    "Operation '%s' is not allowed on VM '%s' since the Subscription of this VM is not eligible."
#define REIMAGE_NEEDS_UPGRADES 409, "OperationNotAllowed", NULL, \
    "The Reimage and OSUpgrade Virtual Machine actions require that the virtual machine has " \
    "Automatic OS Upgrades enabled."
#define NOT_SPOT 409, "OperationNotAllowed", NULL, \
    "Operation 'simulateEviction' is not allowed on VM '%s' since the VM is not a Spot VM."
#define NOT_IN_AVAILABILITY_SET 409, "OperationNotAllowed", NULL, \
    "Operation 'migrateToVirtualMachineScaleSet' is not allowed on VM '%s' since the VM is not in " \
    "an availability set."

/* ---- how operations fail ---- */
#define OPERATION_PREEMPTED 409, "OperationPreempted", NULL, \
    "Operation execution has been preempted by a more recent operation."
#define FORCE_DETACHED 409, "DataDisksForceDetached", NULL, \
    "The operation was cancelled because data disks of VM '%s' were force detached."
#define ATTACH_FAILED 500, "InternalExecutionError", NULL, \
    "An internal execution error occurred. Please retry later. (disk '%s', LUN %u: %s)"

/* clang-format on */
