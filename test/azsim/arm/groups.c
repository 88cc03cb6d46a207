/* Resource groups as Resource Manager shows them. */
#include "lib/base/alloc.h"
#include "test/azsim/arm/handlers.h"
#include "test/azsim/model/group.h"

static json_t *group_json(const struct group *group)
{
    CLEANUP(freep) char *id = group_id(group);
    json_t *json =
        json_pack("{s:s, s:s, s:s, s:s, s:{s:s}}", "id", id, "name", group->name, "type",
                  "Microsoft.Resources/resourceGroups", "location", group_location(group),
                  "properties", "provisioningState", group->deletion ? "Deleting" : "Succeeded");

    json_object_update(json, group->body);
    return json;
}

void groups_get(struct exchange *exchange)
{
    answer(exchange, 200, group_json(exchange->group));
}

void groups_head(struct exchange *exchange)
{
    answer(exchange, 204, NULL);
}

void groups_put(struct exchange *exchange)
{
    struct group *group;
    json_t *body;
    bool is_new;

    if (!exchange_body(exchange, &body))
        return;
    struct refusal *refusal = group_put(exchange->model, exchange->subscription,
                                        exchange->match.group, body, &group, &is_new);
    json_decref(body);
    if (refusal)
        answer_gateway(exchange, refusal);
    else
        answer(exchange, is_new ? 201 : 200, group_json(group));
}

void groups_patch(struct exchange *exchange)
{
    json_t *body;

    if (!exchange_body(exchange, &body))
        return;
    struct refusal *refusal = group_patch(exchange->group, body);
    json_decref(body);
    if (refusal)
        answer_gateway(exchange, refusal);
    else
        answer(exchange, 200, group_json(exchange->group));
}

/* Nothing in a group can be exported; Azure says so beside a template that is good as it is. */
void groups_export_template(struct exchange *exchange)
{
    answer(exchange, 200,
           json_pack("{s:{s:s, s:s, s:{}, s:{}, s:[]}, s:{s:s, s:s, s:[]}}", "template", "$schema",
                     "https://schema.management.azure.com/schemas/2015-01-01/"
                     "deploymentTemplate.json#",
                     "contentVersion", "1.0.0.0", "parameters", "variables", "resources", "error",
                     "code", "ExportTemplateCompletedWithErrors", "message",
                     "Export template operation completed with errors. Some resources were not "
                     "exported. Please see details for more information.",
                     "details"));
}

void groups_delete(struct exchange *exchange)
{
    operation_headers(exchange, group_delete(exchange->group), true);
    answer(exchange, 202, NULL);
}

void groups_list(struct exchange *exchange)
{
    const struct model *model = exchange->model;
    json_t *items = json_array();

    for (size_t i = 0; i < model->n_groups; i++)
        if (exchange_lists(exchange, model->groups[i]) && !model->groups[i]->gone)
            json_array_append_new(items, group_json(model->groups[i]));
    answer_page(exchange, items, 0);
}
