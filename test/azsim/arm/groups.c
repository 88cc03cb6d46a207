/* The subscription itself, where it may have resources, and its resource groups. */
#include "lib/base/alloc.h"
#include "test/azsim/arm/handlers.h"

static json_t *group_json(const struct model *model, const struct group *group)
{
    return json_pack(
        "{s:o, s:s, s:s, s:s, s:{s:s}}", "id",
        json_sprintf("/subscriptions/%s/resourceGroups/%s", group->subscription->id, group->name),
        "name", group->name, "type", "Microsoft.Resources/resourceGroups", "location",
        model->location, "properties", "provisioningState", "Succeeded");
}

void groups_get(struct exchange *exchange)
{
    answer(exchange, 200, group_json(exchange->model, exchange->group));
}

void groups_list(struct exchange *exchange)
{
    const struct model *model = exchange->model;
    json_t *items = json_array();

    for (size_t i = 0; i < model->n_groups; i++)
        if (model->groups[i]->subscription == exchange->subscription)
            json_array_append_new(items, group_json(model, model->groups[i]));
    answer_page(exchange, items, 0);
}

void subscriptions_get(struct exchange *exchange)
{
    const char *id = exchange->subscription->id;

    answer(exchange, 200,
           json_pack("{s:o, s:s, s:s, s:s, s:s}", "id", json_sprintf("/subscriptions/%s", id),
                     "subscriptionId", id, "tenantId", exchange->model->tenant_id, "displayName",
                     "azsim", "state", "Enabled"));
}

/* There is one region, with three zones. */
void subscriptions_locations(struct exchange *exchange)
{
    const struct model *model = exchange->model;
    json_t *location = json_pack(
        "{s:o, s:s, s:s, s:s, s:{s:s}, s:[{s:s, s:o}, {s:s, s:o}, {s:s, s:o}]}", "id",
        json_sprintf("/subscriptions/%s/locations/%s", exchange->subscription->id, model->location),
        "name", model->location, "type", "Region", "displayName", model->location, "metadata",
        "regionType", "Physical", "availabilityZoneMappings", "logicalZone", "1", "physicalZone",
        json_sprintf("%s-az1", model->location), "logicalZone", "2", "physicalZone",
        json_sprintf("%s-az2", model->location), "logicalZone", "3", "physicalZone",
        json_sprintf("%s-az3", model->location));

    answer_page(exchange, json_pack("[o]", location), 0);
}
