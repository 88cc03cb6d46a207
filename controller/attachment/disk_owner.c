#include "controller/attachment/disk_owner.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"

enum { MODEL_AGE_MS = 60 * 1000 };

/* A node may be called by its full name where its host knows the first part only. */
static bool is_host_of(const char *host, const char *node)
{
    size_t length = strlen(host);

    return length > 0 && strncasecmp(host, node, length) == 0 &&
           (node[length] == '\0' || node[length] == '.');
}

enum disk_owner_search disk_owner_decide(const char *node, const struct disk_owner *owners,
                                         size_t n_owners, size_t *ret_owner)
{
    enum disk_owner_search search = DISK_OWNER_NONE;

    for (size_t i = 0; i < n_owners; i++) {
        if (owners[i].gone)
            continue;
        if (!owners[i].host)
            search = DISK_OWNER_UNCLEAR;
        else if (is_host_of(owners[i].host, node)) {
            *ret_owner = i;
            return DISK_OWNER_FOUND;
        }
    }
    return search;
}

/* ---- asking ---- */

/* `ret_model` backs it. One that may not be looked at may be the node's. */
static struct err *look_at_owner(struct task *self, struct cloud *cloud, const char *id,
                                 struct cloud_instance *ret_model, struct disk_owner *ret)
{
    CLEANUP(err_freep)
    struct err *err =
        cloud->ops->instance_get(self, cloud, id, MODEL_AGE_MS, CLOUD_IN_THE_WAY, ret_model);

    if (err && err_kind(err) != ERR_NOT_FOUND && err_kind(err) != ERR_DENIED)
        return TAKE_PTR(err);
    *ret = (struct disk_owner){
        .id = id,
        .gone = err && err_kind(err) == ERR_NOT_FOUND,
        .host = !err && *ret_model->host ? ret_model->host : NULL,
    };
    return NULL;
}

static struct err *look_at_owners(struct task *self, struct cloud *cloud,
                                  const struct cloud_disk *disk, const char *node,
                                  enum disk_owner_search *ret, char **ret_id)
{
    size_t n = disk->n_instances, found = 0;
    CLEANUP(freep) struct disk_owner *owners = mem_alloc((n + 1) * sizeof *owners);
    CLEANUP(freep) struct cloud_instance *models = mem_alloc((n + 1) * sizeof *models);
    struct err *err = NULL;

    for (size_t i = 0; i < n && !err; i++)
        err = look_at_owner(self, cloud, disk->instances[i], &models[i], &owners[i]);
    if (!err)
        *ret = disk_owner_decide(node, owners, n, &found);
    if (!err && *ret == DISK_OWNER_FOUND)
        *ret_id = mem_strdup(owners[found].id);
    for (size_t i = 0; i < n; i++)
        cloud_instance_fini(&models[i]);
    return err;
}

struct err *disk_owner_find(struct task *self, struct controller *controller, const char *disk_id,
                            const char *node, enum disk_owner_search *ret, char **ret_id)
{
    struct cloud *cloud = controller->cloud;
    CLEANUP(cloud_disk_fini) struct cloud_disk disk = {0};
    struct err *err = cloud->ops->disk_get(self, cloud, disk_id, &disk);

    if (err && err_kind(err) == ERR_NOT_FOUND) {
        err_free(err);
        *ret = DISK_OWNER_NONE;
        return NULL;
    }
    TRY(err);
    return look_at_owners(self, cloud, &disk, node, ret, ret_id);
}
