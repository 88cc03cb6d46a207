/* Subscriptions, where they may have resources, their tenant, and the resource providers that they
 * are registered for. */
#include <strings.h>

#include "lib/base/alloc.h"
#include "test/azsim/arm/handlers.h"
#include "test/azsim/model/region.h"

#define COMPUTE "Microsoft.Compute"

static json_t *subscription_json(const struct model *model, const struct subscription *subscription)
{
    const char *id = subscription->id;

    return json_pack("{s:o, s:s, s:s, s:s, s:s, s:s, s:[], s:{s:s, s:s, s:s}}", "id",
                     json_sprintf("/subscriptions/%s", id), "subscriptionId", id, "tenantId",
                     model->tenant_id, "displayName", "azsim", "state", "Enabled",
                     "authorizationSource", "RoleBased", "managedByTenants", "subscriptionPolicies",
                     "locationPlacementId", "Public_2014-09-01", "quotaId",
                     "EnterpriseAgreement_2014-09-01", "spendingLimit", "Off");
}

void subscriptions_get(struct exchange *exchange)
{
    answer(exchange, 200, subscription_json(exchange->model, exchange->subscription));
}

void subscriptions_list(struct exchange *exchange)
{
    const struct model *model = exchange->model;
    json_t *items = json_array();

    for (size_t i = 0; i < model->n_subscriptions; i++)
        json_array_append_new(items, subscription_json(model, &model->subscriptions[i]));
    answer(exchange, 200,
           json_pack("{s:o, s:{s:s, s:i}}", "value", items, "count", "type", "Total", "value",
                     (int)model->n_subscriptions));
}

/* Each has three zones. */
static json_t *location_json(const struct exchange *exchange, const char *name,
                             const char *display_name)
{
    return json_pack(
        "{s:o, s:s, s:s, s:s, s:{s:s}, s:[{s:s, s:o}, {s:s, s:o}, {s:s, s:o}]}", "id",
        json_sprintf("/subscriptions/%s/locations/%s", exchange->subscription->id, name), "name",
        name, "type", "Region", "displayName", display_name, "metadata", "regionType", "Physical",
        "availabilityZoneMappings", "logicalZone", "1", "physicalZone",
        json_sprintf("%s-az1", name), "logicalZone", "2", "physicalZone",
        json_sprintf("%s-az2", name), "logicalZone", "3", "physicalZone",
        json_sprintf("%s-az3", name));
}

void subscriptions_locations(struct exchange *exchange)
{
    const char *name, *display_name;
    json_t *items = json_array();

    for (size_t i = 0; region_at(exchange->model, i, &name, &display_name); i++)
        json_array_append_new(items, location_json(exchange, name, display_name));
    answer_page(exchange, items, 0);
}

void tenants_list(struct exchange *exchange)
{
    const char *id = exchange->model->tenant_id;
    json_t *tenant = json_pack("{s:o, s:s, s:s, s:s}", "id", json_sprintf("/tenants/%s", id),
                               "tenantId", id, "displayName", "azsim", "tenantCategory", "Home");

    answer_page(exchange, json_pack("[o]", tenant), 0);
}

/* ---- resource providers ---- */

static json_t *resource_type_json(const struct model *model, const char *type, const char *version)
{
    const char *name, *display_name;
    json_t *locations = json_array();

    for (size_t i = 0; region_at(model, i, &name, &display_name); i++)
        json_array_append_new(locations, json_string(display_name));
    return json_pack("{s:s, s:o, s:[s], s:s}", "resourceType", type, "locations", locations,
                     "apiVersions", version, "capabilities",
                     "CrossResourceGroupResourceMove, CrossSubscriptionResourceMove, SupportsTags, "
                     "SupportsLocation");
}

static json_t *provider_json(const struct exchange *exchange)
{
    static const struct {
        const char *type, *version; /* the newest that there is */
    } types[] = {{"disks", "2026-03-02"},
                 {"snapshots", "2026-03-02"},
                 {"virtualMachines", "2026-04-01"},
                 {"virtualMachineScaleSets", "2026-04-01"},
                 {"virtualMachineScaleSets/virtualMachines", "2026-04-01"},
                 {"locations/usages", "2026-04-01"},
                 {"locations/vmSizes", "2026-04-01"}};
    json_t *list = json_array();

    for (size_t i = 0; i < COUNT_OF(types); i++)
        json_array_append_new(list,
                              resource_type_json(exchange->model, types[i].type, types[i].version));
    return json_pack(
        "{s:o, s:s, s:s, s:s, s:o}", "id",
        json_sprintf("/subscriptions/%s/providers/" COMPUTE, exchange->subscription->id),
        "namespace", COMPUTE, "registrationPolicy", "RegistrationRequired", "registrationState",
        "Registered", "resourceTypes", list);
}

void providers_list(struct exchange *exchange)
{
    answer_page(exchange, json_pack("[o]", provider_json(exchange)), 0);
}

/* Registering what is registered already changes nothing. */
void providers_get(struct exchange *exchange)
{
    const char *name = exchange->match.name;

    if (strcasecmp(name, COMPUTE) == 0)
        answer(exchange, 200, provider_json(exchange));
    else
        answer_gateway(exchange, refuse(NAMESPACE_INVALID, name));
}
