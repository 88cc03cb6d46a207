#include "test/azsim/model/scale_set.h"

#include <string.h>

#include "lib/base/alloc.h"
#include "test/azsim/model/resource.h"

struct scale_set *scale_set_find(const struct model *model, const char *key)
{
    struct scale_set *set;

    HASH_FIND_STR(model->scale_sets, key, set);
    return set;
}

struct scale_set *scale_set_new(struct model *model, struct group *group, const char *name,
                                const struct vm_size *size, uint64_t sequence)
{
    struct scale_set *set = mem_alloc(sizeof *set);

    set->model = model;
    set->group = group;
    set->name = mem_strdup(name);
    set->id = group_resource_id(group, "virtualMachineScaleSets", name);
    set->key = resource_key(set->id);
    set->size = size;
    set->sequence = sequence;
    set->body = json_object();
    HASH_ADD_KEYPTR(hh, model->scale_sets, set->key, strlen(set->key), set);
    return set;
}

void scale_set_free(struct scale_set *set)
{
    HASH_DEL(set->model->scale_sets, set);
    json_decref(set->body);
    free(set->name);
    free(set->id);
    free(set->key);
    free(set);
}

struct err *scale_set_for(struct model *model, struct group *group, const struct vm_spec *spec,
                          struct scale_set **ret)
{
    *ret = NULL;
    if (!spec->scale_set)
        return NULL;

    bool uniform = spec->instance_id != NULL;
    CLEANUP(freep)
    char *id = group_resource_id(group, "virtualMachineScaleSets", spec->scale_set);
    CLEANUP(freep) char *key = resource_key(id);
    struct scale_set *set = scale_set_find(model, key);

    if (!set) {
        set = scale_set_new(model, group, spec->scale_set, spec->size, ++model->sequence);
        set->uniform = uniform;
        set->etag = 1;
        set->created_us = model_now_us(model);
        random_uuid(loop_random(model->loop), set->unique_id);
        model_changed_scale_set(model, set);
    }
    if (set->uniform != uniform)
        return err_new(ERR_INVALID,
                       "scale set \"%s\" is %s: its VMs %s an instanceId, and \"%s\" %s", set->name,
                       set->uniform ? "uniform" : "flexible", set->uniform ? "have" : "do not have",
                       spec->name, uniform ? "has" : "does not have one");
    *ret = set;
    return NULL;
}

void scale_set_changed(struct scale_set *set)
{
    set->etag++;
    model_changed_scale_set(set->model, set);
}
