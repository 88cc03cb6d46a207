#include "provisioner-lib/azure/config_keys.h"

#include <strings.h>

#include "lib/base/alloc.h"
#include "provisioner-lib/azure/config.h"

#define AT(member) offsetof(struct azure_config, member)
/* clang-format off */
#define TEXT(name, member)               {name, CONFIG_TEXT, AT(member), NULL, false, NULL, false}
#define FROM(name, member, variable)     {name, CONFIG_TEXT, AT(member), variable, false, NULL, false}
#define SECRET(name, member, variable)   {name, CONFIG_TEXT, AT(member), variable, false, NULL, true}
#define NEED(name, member, variable, characters) \
                                         {name, CONFIG_TEXT, AT(member), variable, true, characters, false}
#define FLAG(name, member)               {name, CONFIG_FLAG, AT(member), NULL, false, NULL, false}
#define UNUSED(name)                     {name, CONFIG_UNUSED, 0, NULL, false, NULL, false}

/* Names of resource groups may have letters of any language; Azure judges them. */
const struct config_key config_keys[] = {
    NEED("tenantId", tenant, "AZURE_TENANT_ID", "-."),
    NEED("subscriptionId", subscription, NULL, "-"),
    NEED("resourceGroup", resource_group, NULL, NULL),
    NEED("location", location, NULL, " "),
    TEXT("cloud", cloud),
    TEXT("resourceManagerEndpoint", resource_manager),
    FLAG("disableAzureStackCloud", not_azure_stack),
    TEXT("extendedLocationName", extended_location),
    TEXT("extendedLocationType", extended_location_type),
    TEXT("vmType", vm_type),
    TEXT("userAgent", user_agent),
    TEXT("identitySystem", identity_system),

    FROM("aadClientId", client_id, "AZURE_CLIENT_ID"),
    SECRET("aadClientSecret", client_secret, "AZURE_CLIENT_SECRET"),
    TEXT("aadClientCertPath", certificate_file),
    SECRET("aadClientCertPassword", certificate_password, NULL),
    FLAG("useManagedIdentityExtension", use_managed_identity),
    TEXT("userAssignedIdentityID", user_assigned),
    FLAG("useFederatedWorkloadIdentityExtension", use_workload_identity),
    FROM("aadFederatedTokenFile", token_file, "AZURE_FEDERATED_TOKEN_FILE"),

    /* identities and clouds */
    UNUSED("aadMSIDataPlaneIdentityPath"),
    UNUSED("auxiliaryTokenProvider"), UNUSED("networkResourceTenantID"),
    UNUSED("networkResourceSubscriptionID"), UNUSED("cloudConfigType"),
    UNUSED("providerVaultName"), UNUSED("providerKeyName"), UNUSED("providerKeyVersion"),
    UNUSED("useInstanceMetadata"),

    /* VMs */
    UNUSED("primaryScaleSetName"), UNUSED("primaryAvailabilitySetName"),
    UNUSED("disableAvailabilitySetNodes"), UNUSED("enableVmssFlexNodes"),
    UNUSED("putVMSSVMBatchSize"),
    UNUSED("availabilitySetNodesCacheTTLInSeconds"), UNUSED("availabilitySetsCacheTTLInSeconds"),
    UNUSED("vmssCacheTTLInSeconds"), UNUSED("vmssVirtualMachinesCacheTTLInSeconds"),
    UNUSED("vmssFlexCacheTTLInSeconds"), UNUSED("vmssFlexVMCacheTTLInSeconds"),
    UNUSED("vmCacheTTLInSeconds"), UNUSED("nonVmssUniformNodesCacheTTLInSeconds"),
    UNUSED("disableAPICallCache"),

    /* networks */
    UNUSED("vnetName"), UNUSED("vnetResourceGroup"), UNUSED("subnetName"),
    UNUSED("securityGroupName"), UNUSED("securityGroupResourceGroup"),
    UNUSED("routeTableName"), UNUSED("routeTableResourceGroup"), UNUSED("tags"),
    UNUSED("tagsMap"), UNUSED("systemTags"), UNUSED("loadBalancerSku"),
    UNUSED("loadBalancerName"), UNUSED("loadBalancerResourceGroup"),
    UNUSED("preConfiguredBackendPoolLoadBalancerTypes"), UNUSED("excludeMasterFromStandardLB"),
    UNUSED("disableOutboundSNAT"), UNUSED("maximumLoadBalancerRuleCount"),
    UNUSED("loadBalancerBackendPoolConfigurationType"),
    UNUSED("privateLinkServiceResourceGroup"), UNUSED("enableMigrateToIPBasedBackendPoolAPI"),
    UNUSED("enableIPTagMutationForExistingPublicIP"), UNUSED("enableMultipleStandardLoadBalancers"),
    UNUSED("multipleStandardLoadBalancerConfigurations"),
    UNUSED("nodePoolsWithoutDedicatedSLB"), UNUSED("routeUpdateIntervalInSeconds"),
    UNUSED("loadBalancerBackendPoolUpdateIntervalInSeconds"),
    UNUSED("clusterServiceLoadBalancerHealthProbeMode"),
    UNUSED("clusterServiceSharedLoadBalancerHealthProbePort"),
    UNUSED("clusterServiceSharedLoadBalancerHealthProbePath"),
    UNUSED("loadBalancerCacheTTLInSeconds"), UNUSED("nsgCacheTTLInSeconds"),
    UNUSED("routeTableCacheTTLInSeconds"), UNUSED("publicIPCacheTTLInSeconds"),
    UNUSED("plsCacheTTLInSeconds"),

    /* pace: ours follows what Azure says */
    UNUSED("cloudProviderBackoff"), UNUSED("cloudProviderBackoffRetries"),
    UNUSED("cloudProviderBackoffExponent"), UNUSED("cloudProviderBackoffDuration"),
    UNUSED("cloudProviderBackoffJitter"), UNUSED("cloudProviderRateLimit"),
    UNUSED("cloudProviderRateLimitQPS"), UNUSED("cloudProviderRateLimitBucket"),
    UNUSED("cloudProviderRateLimitQPSWrite"), UNUSED("cloudProviderRateLimitBucketWrite"),
    UNUSED("routeRateLimit"), UNUSED("subnetsRateLimit"), UNUSED("interfaceRateLimit"),
    UNUSED("routeTableRateLimit"), UNUSED("loadBalancerRateLimit"),
    UNUSED("publicIPAddressRateLimit"), UNUSED("securityGroupRateLimit"),
    UNUSED("virtualMachineRateLimit"), UNUSED("storageAccountRateLimit"),
    UNUSED("diskRateLimit"), UNUSED("snapshotRateLimit"),
    UNUSED("virtualMachineScaleSetRateLimit"), UNUSED("virtualMachineSizesRateLimit"),
    UNUSED("availabilitySetRateLimit"), UNUSED("attachDetachDiskRateLimit"),
    UNUSED("containerServiceRateLimit"), UNUSED("deploymentRateLimit"),
    UNUSED("privateDNSRateLimit"), UNUSED("privateDNSZoneGroupRateLimit"),
    UNUSED("privateEndpointRateLimit"), UNUSED("privateLinkServiceRateLimit"),
    UNUSED("virtualNetworkRateLimit"),
};
/* clang-format on */

const size_t config_keys_count = COUNT_OF(config_keys);

const struct config_key *config_key_find(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(config_keys); i++)
        if (strcasecmp(config_keys[i].name, name) == 0)
            return &config_keys[i];
    return NULL;
}
