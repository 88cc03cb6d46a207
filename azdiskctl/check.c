#include "azdiskctl/check.h"

#include <string.h>

#include "azdiskctl/document.h"
#include "azdiskctl/price.h"
#include "lib/base/alloc.h"
#include "lib/rt/wait.h"
#include "provisioner-lib/audit/compare.h"
#include "provisioner-lib/audit/finding_tracker.h"
#include "provisioner-lib/audit/scan.h"
#include "provisioner-lib/audit/view_source.h"

#define SCOPE "everything"

enum { PAUSE_MS = 5 * 1000 };

struct check {
    const struct check_config *config;
    struct finding_tracker *tracker;
    json_t *findings;
    json_t *differences;    /* deprecated copy; 0.2.0 removes it (docs/upgrading.md) */
    struct disk_scan disks; /* these two are of the last scan */
    size_t machines, snapshots;
};

static void check_fini(struct check *check)
{
    disk_scan_fini(&check->disks);
}

/* ---- one scan ---- */

static struct err *compare_machines(struct task *self, struct check *check,
                                    const struct view_source *of, struct findings *ret)
{
    const struct object_list *nodes = &of->view->nodes;

    check->machines = 0;
    for (size_t i = 0; i < nodes->n; i++) {
        CLEANUP(cloud_instance_fini) struct cloud_instance machine = {0};
        bool found;

        TRY(scan_machine(self, check->config->cloud, nodes->items[i], &machine, &found));
        compare_machine(&of->source, nodes->items[i], found ? &machine : NULL, ret);
        check->machines += found;
    }
    return NULL;
}

static struct err *compare_all_disks(struct task *self, struct check *check,
                                     const struct cluster_source *source, struct findings *ret)
{
    disk_scan_fini(&check->disks);
    TRY(scan_disks(self, check->config->cloud, source, &check->disks));
    return compare_disks(self, source, &check->disks, ret);
}

static struct err *compare_all_snapshots(struct task *self, struct check *check,
                                         const struct cluster_source *source, struct findings *ret)
{
    CLEANUP(snapshot_contents_fini) struct snapshot_contents contents = {0};
    CLEANUP(snapshot_scan_fini) struct snapshot_scan scan = {0};

    TRY(snapshot_contents_read(self, check->config->kube, &contents));
    TRY(compare_contents(self, source, &contents, ret));
    if (!check->config->cloud)
        return NULL;
    TRY(scan_snapshots(self, check->config->cloud, source, &scan));
    check->snapshots = scan.snapshots.n;
    return compare_snapshots(self, source, &scan, &contents, ret);
}

static void tell(void *ctx, const struct finding *finding)
{
    const struct check *check = ctx;
    const struct finding_kind_row *row = &FINDING_TABLE[finding->kind];
    json_t *item = json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:b}", "severity",
                             severity_name(row->severity), "kind", row->name, "subject",
                             finding->subject, "seen", finding->text, "meaning", row->meaning,
                             "loss", row->loss, "advice", row->advice, "repaired", row->provable);

    if (finding->kind == DISK_WITHOUT_VOLUME)
        json_object_set_new(
            item, "price",
            price_json(check->config->prices, disk_scan_find(&check->disks, finding->subject)));
    json_t *former = json_copy(item);
    json_object_set_new(former, "kind", json_string(finding_former_name(finding->kind)));
    json_array_append_new(check->findings, item);
    json_array_append_new(check->differences, former);
}

static void ignore(void *ctx, const struct finding *finding)
{
    (void)ctx;
    (void)finding;
}

static struct err *scan(struct task *self, struct check *check)
{
    CLEANUP(cluster_fini) struct cluster cluster = {0};
    CLEANUP(view_source_fini) struct view_source of = {0};
    CLEANUP(findings_fini) struct findings seen = {0};
    struct cluster_query query = check->config->query;

    query.parts = CLUSTER_VOLUME_ATTACHMENTS | CLUSTER_SNAPSHOTS |
                  (check->config->cloud ? CLUSTER_IDENTITY : 0);
    TRY(cluster_read(self, check->config->kube, &query, &cluster));
    view_source_init(&of, &cluster.view);
    TRY(compare_records(self, &of.source, &seen));
    if (check->config->cloud) {
        TRY(compare_machines(self, check, &of, &seen));
        TRY(compare_all_disks(self, check, &of.source, &seen));
    }
    TRY(compare_all_snapshots(self, check, &of.source, &seen));
    finding_tracker_update(check->tracker, SCOPE, &seen,
                           &(struct finding_callbacks){
                               .appeared = tell, .lasts = ignore, .went = ignore, .ctx = check});
    return NULL;
}

/* ---- the document ---- */

static struct err *scan_twice(struct task *self, struct check *check)
{
    TRY(scan(self, check));
    if (!finding_tracker_unconfirmed(check->tracker))
        return NULL;
    TRY(task_sleep(self, PAUSE_MS));
    return scan(self, check);
}

struct err *check_json(struct task *self, const struct check_config *config, json_t **ret)
{
    CLEANUP(finding_tracker_freep) struct finding_tracker *tracker = finding_tracker_new();
    CLEANUP(json_decrefp) json_t *findings = json_array(), *differences = json_array();
    CLEANUP(check_fini)
    struct check check = {
        .config = config, .tracker = tracker, .findings = findings, .differences = differences};

    TRY(prices_check(config->prices));
    if (*config->prices && !config->cloud)
        return err_new(ERR_INVALID,
                       "--prices needs --cloud-config, in order to read the disks in Azure");
    TRY(scan_twice(self, &check));
    *ret = json_pack("{s:O, s:O, s:b, s:i, s:i, s:i}", "findings", findings, "differences",
                     differences, "azure", config->cloud != NULL, "machines", (int)check.machines,
                     "disks", (int)check.disks.disks.n, "snapshots", (int)check.snapshots);
    return NULL;
}

bool check_is_clean(const json_t *check)
{
    const json_t *list = json_object_get(check, "findings");

    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(text_of(json_array_get(list, i), "severity"), severity_name(SEVERITY_NOTE)) != 0)
            return false;
    return true;
}

/* ---- text ---- */

static void write_scope(const json_t *check, size_t n, struct buffer *out)
{
    buffer_printf(out, "%zu finding%s; compared: custom resources, VolumeAttachments, Nodes", n,
                  n == 1 ? "" : "s");
    if (json_is_true(json_object_get(check, "azure")))
        buffer_printf(out, ", %d VMs, %d disks and %d snapshots in Azure\n",
                      (int)json_integer_value(json_object_get(check, "machines")),
                      (int)json_integer_value(json_object_get(check, "disks")),
                      (int)json_integer_value(json_object_get(check, "snapshots")));
    else
        buffer_printf(out, "; not compared: Azure (use --cloud-config)\n");
}

/* NULL: it is not about a disk that costs. */
static void write_price(const json_t *price, struct buffer *out)
{
    const json_t *month = json_object_get(price, "month");
    json_int_t units = json_integer_value(json_object_get(price, "units"));

    if (!price)
        return;
    buffer_printf(out, "  price:  %s", text_of(price, "of"));
    if (units > 1)
        buffer_printf(out, ", %lld GiB", (long long)units);
    if (month)
        buffer_printf(out, ": %.2f per month", json_real_value(month));
    buffer_printf(out, "\n");
}

static void write_prices(const json_t *list, struct buffer *out)
{
    size_t disks = 0, unpriced = 0;
    double sum = 0;

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *price = json_object_get(json_array_get(list, i), "price");
        const json_t *month = json_object_get(price, "month");

        disks += price != NULL;
        unpriced += price && !month;
        sum += json_real_value(month);
    }
    if (disks == unpriced)
        return;
    buffer_printf(out, "disks without a volume: %.2f per month for %zu", sum, disks - unpriced);
    if (unpriced)
        buffer_printf(out, ", not counting %zu without a price", unpriced);
    buffer_printf(out, "\n");
}

void check_text(const json_t *check, struct buffer *out)
{
    const json_t *list = json_object_get(check, "findings");

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);

        buffer_printf(out, "%s: %s %s\n  seen:   %s\n  means:  %s\n  loss:   %s\n  to do:  %s\n",
                      text_of(item, "severity"), text_of(item, "kind"), text_of(item, "subject"),
                      text_of(item, "seen"), text_of(item, "meaning"), text_of(item, "loss"),
                      text_of(item, "advice"));
        write_price(json_object_get(item, "price"), out);
        buffer_printf(out, "\n");
    }
    write_prices(list, out);
    write_scope(check, json_array_size(list), out);
}
