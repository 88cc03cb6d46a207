#include "controller/snapshot/regional_copy.h"

#include "controller/snapshot/progress.h"
#include "controller/snapshot/quota.h"
#include "lib/base/alloc.h"
#include "lib/base/timestamp.h"
#include "provisioner-lib/records/names.h"
#include "provisioner-lib/records/snapshot.h"

/* A snapshot that is to be copied: what is asked for, and the local one. Not to be moved: both
 * specs borrow from it. */
struct plan {
    struct snapshot_parameters parameters, of_local; /* the latter owns nothing */
    char *local_name, *local_id;
    struct cloud_snapshot_spec copy, local;
};

static void plan_fini(struct plan *plan)
{
    snapshot_parameters_fini(&plan->parameters);
    free(plan->local_name);
    free(plan->local_id);
}

static struct err *plan_read(const struct snapshot_work *work, struct plan *plan)
{
    struct cloud *cloud = work->controller->cloud;

    *plan = (struct plan){0};
    TRY(snapshot_parse_parameters(work->snapshot, &plan->parameters));
    plan->of_local = snapshot_parameters_of_local(&plan->parameters);
    plan->local_name = snapshot_local_name(work->snapshot->spec->snapshot_name);
    plan->local = snapshot_spec_of(work, &plan->of_local);
    plan->local.name = plan->local_name;
    TRY(cloud->ops->snapshot_id(cloud, &plan->local, &plan->local_id));
    plan->copy = snapshot_spec_of(work, &plan->parameters);
    plan->copy.source_id = plan->local_id;
    plan->copy.taken_us = snapshot_taken_us(work->snapshot);
    return NULL;
}

/* ---- what the record says of the local one ---- */

static json_t *taken_json(int64_t taken_us, int percent)
{
    char text[TIMESTAMP_SIZE];

    timestamp_format_micro(taken_us, text);
    return json_pack("{s:s, s:i}", "creationTime", text, "completionPercent", percent);
}

/* If the record was lost, the snapshot may be there already. A copy that exists has been copied
 * from a local one, which may be gone; one whose creation has failed needs it again. */
static struct err *plan_by_snapshot(const struct plan *plan, const struct cloud_snapshot *seen,
                                    json_t **ret_local)
{
    struct cloud_snapshot_spec spec = plan->copy;

    if (!seen->is_copy)
        spec.source_id = NULL;
    TRY(cloud_snapshot_check_same(seen, &spec));
    *ret_local = !seen->is_copy ? json_null()
                 : seen->made   ? taken_json(seen->taken_us, 100)
                                : json_object();
    return NULL;
}

static struct err *plan_by_disk(struct task *self, struct cloud *cloud, const struct plan *plan,
                                json_t **ret_local)
{
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};

    TRY(cloud->ops->disk_get(self, cloud, plan->copy.disk_id, &disk));
    TRY(snapshot_parameters_check_disk(&plan->parameters, disk.sku, disk.region));
    *ret_local =
        snapshot_parameters_is_copy(&plan->parameters, disk.region) ? json_object() : json_null();
    return NULL;
}

struct err *regional_copy_plan(struct task *self, struct snapshot_work *work, json_t **ret_local)
{
    struct cloud *cloud = work->controller->cloud;
    CLEANUP(plan_fini) struct plan plan;
    CLEANUP(cloud_snapshot_fini) struct cloud_snapshot seen = {0};
    CLEANUP(freep) char *id = NULL;

    TRY(plan_read(work, &plan));
    *ret_local = json_null();
    if (!plan.parameters.location)
        return NULL;
    TRY(cloud->ops->snapshot_id(cloud, &plan.copy, &id));
    TRY(err_unless(cloud->ops->snapshot_get(self, cloud, id, &seen), ERR_NOT_FOUND));
    TRY(seen.id ? plan_by_snapshot(&plan, &seen, ret_local)
                : plan_by_disk(self, cloud, &plan, ret_local));
    if (!json_is_null(*ret_local))
        json_object_set_new(*ret_local, "snapshotId", json_string(plan.local_id));
    return NULL;
}

/* ---- steps ---- */

/* What CreateSnapshot answers: the id of the copy, whether that exists or not. */
static struct err *announcement(const struct snapshot_work *work, const struct plan *plan,
                                int64_t taken_us, json_t **ret)
{
    struct cloud *cloud = work->controller->cloud;
    CLEANUP(freep) char *id = NULL;
    char taken[TIMESTAMP_SIZE];

    timestamp_format(taken_us, taken);
    TRY(cloud->ops->snapshot_id(cloud, &plan->copy, &id));
    *ret = json_pack("{s:s, s:s, s:s, s:s, s:b, s:n}", "state", "Created", "snapshotId", id,
                     "location", plan->parameters.location, "creationTime", taken, "readyToUse", 0,
                     "error");
    return NULL;
}

/* One that cannot be copied at once may take hours; whoever waits for its content does not. */
struct err *regional_copy_take_local(struct task *self, struct snapshot_work *work)
{
    struct cloud *cloud = work->controller->cloud;
    CLEANUP(plan_fini) struct plan plan;
    CLEANUP(cloud_snapshot_fini) struct cloud_snapshot made = {0};
    json_t *status = NULL;

    TRY(plan_read(work, &plan));
    TRY(snapshot_check_quota(work->controller, plan.local.disk_id));
    TRY(cloud->ops->snapshot_create(self, cloud, &plan.local, &made));
    int percent = snapshot_local_percent(&made);
    if (percent == 100)
        status = json_pack("{s:s, s:n}", "state", "Creating", "error");
    else
        TRY(announcement(work, &plan, made.taken_us, &status));
    json_object_set_new(status, "sizeBytes", json_integer((json_int_t)made.size_bytes));
    json_object_set_new(status, "local", taken_json(made.taken_us, percent));
    return snapshot_patch_status(self, work, status, NULL);
}

struct err *regional_copy_announce(struct task *self, struct snapshot_work *work)
{
    CLEANUP(plan_fini) struct plan plan;
    json_t *status;

    TRY(plan_read(work, &plan));
    TRY(announcement(work, &plan, plan.copy.taken_us, &status));
    return snapshot_patch_status(self, work, status, NULL);
}

struct err *regional_copy_begin(struct task *self, struct snapshot_work *work)
{
    struct cloud *cloud = work->controller->cloud;
    CLEANUP(plan_fini) struct plan plan;
    CLEANUP(cloud_snapshot_fini) struct cloud_snapshot made = {0};
    char taken[TIMESTAMP_SIZE];

    TRY(plan_read(work, &plan));
    TRY(cloud->ops->snapshot_copy(self, cloud, &plan.copy, &made));
    json_t *status = snapshot_status_json(&made);
    timestamp_format(plan.copy.taken_us, taken);
    json_object_set_new(status, "creationTime", json_string(taken));
    if (work->in.created) /* its id is told already, which Azure may spell in another way */
        json_object_del(status, "snapshotId");
    return snapshot_patch_status(self, work, status, NULL);
}

/* What was not taken by this driver, and has the name, stays. */
struct err *regional_copy_delete_local(struct task *self, struct snapshot_work *work)
{
    struct cloud *cloud = work->controller->cloud;
    CLEANUP(plan_fini) struct plan plan = {0};
    CLEANUP(cloud_snapshot_fini) struct cloud_snapshot found = {0};
    CLEANUP(freep) char *id = NULL;

    if (work->in.taken)
        id = mem_strdup(snapshot_local_id(work->snapshot));
    else {
        TRY(plan_read(work, &plan));
        TRY(snapshot_find_own(self, work, &plan.local, &found));
        id = TAKE_PTR(found.id);
    }
    if (id)
        TRY(cloud->ops->snapshot_delete(self, cloud, id));
    json_t *none = work->in.created ? json_pack("{s:n}", "snapshotId") : json_null();
    return snapshot_patch_status(
        self, work, json_pack("{s:s, s:o}", "state", snapshot_state(work->snapshot), "local", none),
        NULL);
}
