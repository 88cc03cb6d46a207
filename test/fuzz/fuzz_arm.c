/* What Azure Resource Manager answers: models of VMs, disks, lists, operations, refusals. The first
 * line says what is asked of Azure, the rest is its answers (answers.h). */
#include "lib/rt/group.h"
#include "provisioner-lib/azure/azure.h"
#include "test/fuzz/answers.h"

#define RESOURCES "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Compute/"
#define VM RESOURCES "virtualMachines/vm"
#define DISK RESOURCES "disks/d"

enum { HOUR_MS = 60 * 60 * 1000 };

#define PRINTED_NULL "(null)" /* what printf() makes of a text that is not there */

struct asking {
    struct cloud *cloud;
    const char *what;
};

static void check_disk(const struct cloud_disk *disk)
{
    MUST(disk->id && disk->unique_id && disk->sku && disk->region && disk->zone);
    MUST(disk->size_bytes >= 0 && !strstr(disk->zone, PRINTED_NULL));
}

static void check_instance(const struct cloud_instance *instance)
{
    MUST(instance->id && instance->host && instance->zone);
    MUST(!strstr(instance->zone, PRINTED_NULL));
    MUST(instance->max_disks >= 0 && instance->max_disks <= CLOUD_MOST_SLOTS);
    for (size_t i = 0; i < instance->n_slots; i++)
        MUST(instance->slots[i].disk_id);
}

static void get_disk(struct task *self, struct cloud *cloud)
{
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};

    if (input_taken(cloud->ops->disk_get(self, cloud, DISK, &disk)))
        check_disk(&disk);
}

static void list_disks(struct task *self, struct cloud *cloud)
{
    CLEANUP(cloud_disks_fini) struct cloud_disks disks = {0};

    (void)input_taken(cloud->ops->disk_list(self, cloud, DISK, &disks));
    for (size_t i = 0; i < disks.n; i++)
        check_disk(&disks.items[i]);
}

static void create_disk(struct task *self, struct cloud *cloud)
{
    const struct volume_parameters parameters = {.sku = "Premium_LRS", .max_shares = 2};
    const struct cloud_disk_spec spec = {
        .name = "d",
        .size_gib = 10,
        .zone = "l-1",
        .parameters = &parameters,
        .creator = {"disk.csi.azure.com", "c"},
    };
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};

    if (input_taken(cloud->ops->disk_create(self, cloud, &spec, &disk))) {
        check_disk(&disk);
        MUST(disk_is_for_volume(&disk.mark, &spec.creator, spec.name, NULL));
        MUST(disk.max_shares == 2 && disk.size_bytes == INT64_C(10) << 30);
    }
}

static void get_limits(struct task *self, struct cloud *cloud)
{
    const struct volume_parameters parameters = {.sku = "PremiumV2_LRS", .max_shares = 1};
    struct disk_limits limits;

    if (input_taken(cloud->ops->disk_limits(self, cloud, &parameters, 65536, &limits)))
        MUST(limits.most_gib > 0 && limits.least_gib <= limits.most_gib);
}

static void get_instance(struct task *self, struct cloud *cloud)
{
    CLEANUP(cloud_instance_fini) struct cloud_instance instance = {0};

    if (input_taken(cloud->ops->instance_get(self, cloud, VM, 0, CLOUD_FOR_PRIMARY, &instance)))
        check_instance(&instance);
}

static void attach(struct task *self, struct cloud *cloud)
{
    const struct cloud_attach attach = {.instance_id = VM, .disk_id = DISK, .lun = 3};

    (void)input_taken(cloud->ops->disk_attach(self, cloud, &attach));
}

static void ask(struct task *self, void *arg)
{
    const struct asking *asking = arg;
    struct cloud *cloud = asking->cloud;

    switch (asking->what[0]) {
    case 'g':
        get_disk(self, cloud);
        break;
    case 'l':
        list_disks(self, cloud);
        break;
    case 'c':
        create_disk(self, cloud);
        break;
    case 's':
        get_limits(self, cloud);
        break;
    case 'a':
        attach(self, cloud);
        break;
    case 'd':
        (void)input_taken(cloud->ops->disk_detach(
            self, cloud,
            &(struct cloud_detach){
                .instance_id = VM, .disk_id = DISK, .urgency = CLOUD_IN_THE_WAY}));
        break;
    case 'x':
        (void)input_taken(cloud->ops->disk_delete(self, cloud, DISK));
        break;
    default:
        get_instance(self, cloud);
    }
}

static void close_group(struct task *self, void *arg)
{
    group_close(self, arg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char config_text[] =
        "{tenantId: t, subscriptionId: s, resourceGroup: rg, location: l, aadClientId: c, "
        "aadClientSecret: x, resourceManagerEndpoint: 'https://arm.example', cloud: AzureCloud}";
    CLEANUP(freep) char *text = input_text(data, size);
    if (strstr(text, PRINTED_NULL))
        return 0; /* then that it is in a zone says nothing */
    CLEANUP(azure_config_fini) struct azure_config config = {0};
    CLEANUP(answers_fini) struct answers answers;
    struct loop *loop = loop_new_virtual(1);
    struct task_group group;
    const char *end = strchr(text, '\n');

    answers_init(&answers, end ? end + 1 : "");
    answers.token = "{\"access_token\": \"t\", \"expires_in\": 86000}";
    MUST(input_taken(azure_config_parse(config_text, strlen(config_text), &config)));
    config.discover = false;
    free(config.authority);
    free(config.audience);
    config.authority = mem_strdup("https://login.example");
    config.audience = mem_strdup("a");
    group_init(&group, loop);

    struct asking asking = {
        .cloud = azure_cloud_new(&group, &config, NULL, &answers.transport, &answers.transport),
        .what = text};
    MUST(task_returns(loop, ask, &asking, 24 * HOUR_MS));
    MUST(task_returns(loop, close_group, &group, HOUR_MS));
    azure_cloud_free(asking.cloud);
    loop_free(loop);
    return 0;
}
