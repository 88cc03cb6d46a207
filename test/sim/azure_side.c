#include "test/sim/azure_side.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/resource.h"
#include "test/azsim/model/throttle.h"
#include "test/sim/kube/parsed.h"

#define TENANT "72f988bf-0000-4000-8000-000000000001"
#define SUBSCRIPTION "11111111-0000-4000-8000-000000000002"
#define CLIENT "22222222-0000-4000-8000-000000000003"
#define SECRET "only simulated"
#define GROUP "rg" /* azure.json's */
#define VM_GROUP "MC_rg_pool_eastus"
#define DISK_GROUP "disks"
static const char *const COPIES_GROUPS[AZURE_COPIES_GROUPS] = {"copies", "more-copies"};
#define OTHER_SUBSCRIPTION "33333333-0000-4000-8000-000000000004"

static const struct arm_client clients[] = {{.id = CLIENT, .secret = SECRET}};

static struct azure_count *count_of(struct azure_side *side, const char *kind)
{
    for (size_t i = 0; i < side->n_counts; i++)
        if (side->counts[i].kind == kind)
            return &side->counts[i];
    if (side->n_counts == AZURE_KINDS)
        abort();
    side->counts[side->n_counts] = (struct azure_count){.kind = kind};
    return &side->counts[side->n_counts++];
}

static void on_record(void *ctx, const struct arm_record *record)
{
    struct azure_side *side = ctx;

    if (record->kind) {
        struct azure_count *count = count_of(side, record->kind);

        count->asked++;
        count->failed += record->status >= 400;
        count->throttled += record->status == 429;
    }
    if (side->observe)
        side->observe(side->observe_ctx, record);
}

static void on_said(const char *text, size_t length, json_t *body)
{
    parsed_remember(text, length, json_incref(body));
}

static struct group *find_group(const struct model *model, const struct landscape *landscape,
                                const char *name)
{
    return model_find_group_of(model, &model->subscriptions[landscape->other_subscription], name);
}

struct group *azure_side_vm_group(const struct model *model, const struct landscape *landscape)
{
    return find_group(model, landscape, landscape->vms_elsewhere ? VM_GROUP : GROUP);
}

struct group *azure_side_disk_group(const struct model *model, const struct landscape *landscape)
{
    return find_group(model, landscape, landscape->disks_elsewhere ? DISK_GROUP : GROUP);
}

struct group *azure_side_copies_group(const struct model *model, const struct landscape *landscape,
                                      unsigned nth)
{
    return find_group(model, landscape, COPIES_GROUPS[nth]);
}

struct group *azure_side_group_of(const struct model *model, const char *id)
{
    struct resource_parts parts;
    struct group *found = NULL;

    if (!resource_parts_read(&parts, id))
        return NULL;
    for (size_t i = 0; i < model->n_groups; i++) {
        struct group *group = model->groups[i];

        if (strcasecmp(group->subscription->id, parts.subscription) == 0 &&
            strcasecmp(group->name, parts.group) == 0)
            found = group;
    }
    resource_parts_fini(&parts);
    return found;
}

char *azure_side_disk_key(const struct model *model, const struct landscape *landscape,
                          const char *name)
{
    CLEANUP(freep)
    char *id = group_resource_id(azure_side_disk_group(model, landscape), "disks", name);

    return resource_key(id);
}

static void add_groups(struct model *model, const struct landscape *landscape)
{
    const struct subscription *subscription = &model->subscriptions[0];

    model_add_group(model, GROUP);
    if (landscape->other_subscription)
        subscription = model_add_subscription(model, OTHER_SUBSCRIPTION);
    if (landscape->vms_elsewhere)
        model_add_group_to(model, subscription, VM_GROUP);
    if (landscape->disks_elsewhere)
        model_add_group_to(model, subscription, DISK_GROUP);
    for (size_t i = 0; landscape->namesakes && i < COUNT_OF(COPIES_GROUPS); i++)
        model_add_group_to(model, subscription, COPIES_GROUPS[i]);
}

struct azure_side *azure_side_new(struct loop *loop, const struct landscape *landscape)
{
    struct azure_side *side = mem_alloc(sizeof *side);
    struct arm_config config = {
        .clients = clients,
        .n_clients = COUNT_OF(clients),
        .record = on_record,
        .record_ctx = side,
        .terse = true,
        .said = on_said,
    };

    side->model = model_new(&(struct model_config){.loop = loop,
                                                   .tenant_id = TENANT,
                                                   .subscription_id = SUBSCRIPTION,
                                                   .location = "eastus",
                                                   .devices = &CONTENT_DEVICES,
                                                   .devices_ctx = &side->contents});
    side->contents.model = side->model;
    add_groups(side->model, landscape);
    memset(&config.key, 7, sizeof config.key);
    config.model = side->model;
    side->arm = arm_new(&config);
    side->transport = arm_transport_new(side->arm, NULL);
    return side;
}

void azure_side_close(struct task *self, struct azure_side *side)
{
    arm_transport_close(self, side->transport);
    arm_free(side->arm);
    model_free(side->model);
    contents_fini(&side->contents);
    free(side);
}

struct http_transport *azure_side_http(struct azure_side *side)
{
    return arm_transport_http(side->transport);
}

void azure_side_config(struct azure_config *ret)
{
    static const char text[] =
        "{\"tenantId\": \"" TENANT "\", \"subscriptionId\": \"" SUBSCRIPTION
        "\", \"resourceGroup\": \"" GROUP "\", \"location\": \"eastus\", "
        "\"aadClientId\": \"" CLIENT "\", \"aadClientSecret\": \"" SECRET "\"}";
    struct err *err = azure_config_parse(text, strlen(text), ret);

    if (err)
        abort();
}
