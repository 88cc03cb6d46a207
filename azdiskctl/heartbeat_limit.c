#include "azdiskctl/heartbeat_limit.h"

#include <string.h>

#include "azdiskctl/cluster.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/base/duration.h"
#include "lib/base/log.h"

static const struct api_resource DEPLOYMENTS = {"apps",       "v1", "deployments",
                                                "Deployment", true, NULL};
static const char program[] = "azdisk-controller";

/* The last one counts, as it does for the program; NULL if there is none. */
static const char *argument_of(const json_t *container, const char *flag)
{
    const json_t *arguments = json_object_get(container, "args"), *argument;
    const char *found = NULL;
    size_t i;

    json_array_foreach(arguments, i, argument) {
        const char *text = json_string_value(argument);

        if (text && strncmp(text, flag, strlen(flag)) == 0)
            found = text + strlen(flag);
    }
    return found;
}

static bool is_controller(const json_t *container, const char *driver_name)
{
    const json_t *command = json_array_get(json_object_get(container, "command"), 0);
    const char *path = json_string_value(command), *slash = path ? strrchr(path, '/') : NULL;
    const char *driver = argument_of(container, "--driver-name=");

    return path && strcmp(slash ? slash + 1 : path, program) == 0 &&
           (!driver || strcmp(driver, driver_name) == 0);
}

static uint64_t limit_of(const json_t *deployment, const char *driver_name)
{
    const json_t *template = json_object_get(json_object_get(deployment, "spec"), "template");
    const json_t *spec = json_object_get(template, "spec"), *container;
    size_t i;

    json_array_foreach(json_object_get(spec, "containers"), i, container) {
        const char *text = argument_of(container, "--heartbeat-limit=");
        uint64_t ms = 0;

        if (!text || !is_controller(container, driver_name))
            continue;
        CLEANUP(err_freep) struct err *err = duration_parse(text, &ms);
        if (!err)
            return ms;
    }
    return 0;
}

uint64_t heartbeat_limit_of(const json_t *deployments, const char *driver_name)
{
    const json_t *deployment;
    uint64_t ms = 0;
    size_t i;

    json_array_foreach(json_object_get(deployments, "items"), i, deployment) {
        if (!ms)
            ms = limit_of(deployment, driver_name);
    }
    return ms;
}

uint64_t heartbeat_limit_read(struct task *self, struct kube *kube, const char *driver_name)
{
    CLEANUP(json_decrefp) json_t *list = NULL;
    CLEANUP(err_freep)
    struct err *err = kube_list_page(self, kube, &DEPLOYMENTS, NULL,
                                     &(struct kube_query){.label_selector = OF_THE_CHART}, &list);
    uint64_t ms = err ? 0 : heartbeat_limit_of(list, driver_name);
    char text[DURATION_SIZE];

    if (ms)
        return ms;
    duration_format(DEFAULT_HEARTBEAT_LIMIT_MS, text);
    log_warning(
        "cannot read --heartbeat-limit from a Deployment of %s, assuming the default %s%s%s",
        program, text, err ? ": " : "", err ? err_message(err) : "");
    return DEFAULT_HEARTBEAT_LIMIT_MS;
}
