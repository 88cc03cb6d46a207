#include "azdiskctl/upgrade_check.h"

#include <stdlib.h>
#include <string.h>

#include "azdiskctl/document.h"
#include "azdiskctl/release.h"
#include "azdiskctl/upgrade_path.h"
#include "azdiskctl/upgrade_volumes.h"
#include "lib/base/alloc.h"
#include "lib/base/text.h"
#include "lib/json/parse.h"

#define LABEL_VERSION "app.kubernetes.io/version"

struct check {
    const json_t *plan;
    json_t *obstacles;
};

/* One object: as the chart wants it, and as the cluster has it. */
struct pair {
    const json_t *wanted, *found; /* NULL: there is none */
};

/* ---- what objects say ---- */

static const json_t *metadata_of(const json_t *object)
{
    return json_object_get(object, "metadata");
}

static const char *name_of(const json_t *object)
{
    return text_of(metadata_of(object), "name");
}

static const char *label_of(const json_t *object, const char *label)
{
    return text_of(json_object_get(metadata_of(object), "labels"), label);
}

/* Of the release that the plan is of. */
static bool is_own(const struct check *check, const struct pair *pair)
{
    return release_has(text_of(check->plan, "release"), pair->found);
}

static bool has_text(const json_t *texts, const char *text)
{
    const json_t *one;
    size_t i;

    json_array_foreach(texts, i, one) {
        if (same_text(json_string_value(one), text))
            return true;
    }
    return false;
}

/* The chart does not have it. */
static bool is_left(const struct pair *pair)
{
    return json_is_true(json_object_get(pair->wanted, "left"));
}

/* ---- obstacles ---- */

/* `wrong` and `todo` are taken. */
static void add(struct check *check, const json_t *object, char *wrong, char *todo)
{
    const char *namespace_ = text_of(metadata_of(object), "namespace");
    CLEANUP(freep)
    char *title = mem_printf("%s %s%s%s", text_of(object, "kind"), namespace_ ? namespace_ : "",
                             namespace_ ? "/" : "", name_of(object));

    json_array_append_new(check->obstacles, json_pack("{s:s, s:s, s:s}", "object", title, "wrong",
                                                      wrong, "todo", todo));
    free(wrong);
    free(todo);
}

/* Two drivers of one name would serve the same volumes. */
static void judge_driver(struct check *check, const struct pair *pair)
{
    if (!pair->found || is_own(check, pair))
        return;
    add(check, pair->wanted, release_name(pair->found),
        mem_printf("uninstall that driver (on AKS: az aks update --disable-disk-driver), or set "
                   "driver.name to another name; if this object is all that is left of it: kubectl "
                   "delete csidriver %s",
                   name_of(pair->wanted)));
}

/* The API server would ask this release about the pods of the other one. */
static void judge_webhook(struct check *check, const struct pair *pair)
{
    const json_t *service = json_object_get(pair->wanted, "service"), *webhook;
    size_t i;

    if (!pair->found || is_own(check, pair))
        return;
    json_array_foreach(json_object_get(pair->found, "webhooks"), i, webhook) {
        const json_t *config = json_object_get(webhook, "clientConfig");
        const json_t *other = json_object_get(config, "service");

        if (same_text(text_of(other, "namespace"), text_of(service, "namespace")) &&
            same_text(text_of(other, "name"), text_of(service, "name")))
            continue;
        CLEANUP(freep) char *owner = release_name(pair->found);
        add(check, pair->wanted,
            mem_printf("%s, and calls Service %s/%s", owner, text_of(other, "namespace"),
                       text_of(other, "name")),
            mem_strdup("uninstall what it belongs to, or set rbac.name to another name, which the "
                       "names of roles and webhooks begin with"));
        return;
    }
}

/* What is stored must stay readable: the API server refuses a definition without that version. */
static void judge_stored_versions(struct check *check, const struct pair *pair)
{
    const json_t *versions = json_object_get(pair->wanted, "versions"), *stored;
    const char *storage = text_of(pair->wanted, "storage"), *name = name_of(pair->wanted);
    size_t i;

    json_array_foreach(json_object_get(json_object_get(pair->found, "status"), "storedVersions"), i,
                       stored) {
        const char *version = json_string_value(stored);

        if (has_text(versions, version))
            continue;
        add(check, pair->wanted,
            mem_printf("objects may be stored in version %s, which the chart's definition lacks",
                       version),
            mem_printf("kubectl get %s -A -o json | kubectl replace -f - && kubectl patch crd %s "
                       "--subresource=status --type=merge -p "
                       "'{\"status\":{\"storedVersions\":[\"%s\"]}}' (docs/upgrading.md)",
                       name, name, storage));
    }
}

static bool serves(const json_t *definition, const char *version)
{
    const json_t *versions = json_object_get(json_object_get(definition, "spec"), "versions"), *one;
    size_t i;

    json_array_foreach(versions, i, one) {
        if (same_text(text_of(one, "name"), version))
            return json_is_true(json_object_get(one, "served"));
    }
    return false;
}

/* Of the three of VolumeSnapshots nothing is needed. */
static void judge_definition(struct check *check, const struct pair *pair)
{
    const char *version = text_of(pair->wanted, "storage");

    if (!is_left(pair)) {
        judge_stored_versions(check, pair);
        return;
    }
    if (!version || (pair->found && serves(pair->found, version)))
        return;
    add(check, pair->wanted,
        pair->found ? mem_printf("it does not serve version %s, and crds.create is false", version)
                    : mem_strdup("it is not there, and crds.create is false"),
        mem_strdup("kubectl apply -f crds/, or set crds.create=true"));
}

/* ---- what would be deleted ---- */

static void judge_left_definition(struct check *check, const struct pair *pair,
                                  const struct pruner *pruner)
{
    CLEANUP(freep) char *kept = pruner_annotation(pruner, pair->found);

    add(check, pair->wanted,
        mem_printf("the release has it and the chart has not: %s would delete it, and with it "
                   "every object of that kind",
                   pruner->name),
        mem_printf("kubectl annotate crd %s %s (docs/moving.md)", name_of(pair->wanted), kept));
}

static void judge_left_daemon_set(struct check *check, const struct pair *pair,
                                  const struct pruner *pruner)
{
    const json_t *status = json_object_get(pair->found, "status");
    long long nodes = json_integer_value(json_object_get(status, "desiredNumberScheduled"));

    if (nodes == 0)
        return;
    add(check, pair->wanted,
        mem_printf("%s would delete it, %lld node%s it, and the chart has no node plug-in for "
                   "Windows",
                   pruner->name, nodes, nodes == 1 ? " uses" : "s use"),
        mem_strdup("leave that driver to the volumes of Windows nodes, and install this one beside "
                   "it (docs/install.md); or, if these have none: helm upgrade that driver with "
                   "windows.enabled=false first"));
}

/* ---- versions ---- */

static bool runs_our_controller(const json_t *deployment)
{
    const json_t *template = json_object_get(json_object_get(deployment, "spec"), "template");
    const json_t *containers = json_object_get(json_object_get(template, "spec"), "containers");
    const json_t *container;
    size_t i;

    json_array_foreach(containers, i, container) {
        if (has_text(json_object_get(container, "command"), "/bin/azdisk-controller"))
            return true;
    }
    return false;
}

/* Microsoft's charts count otherwise. */
static void judge_version(struct check *check, const struct pair *pair)
{
    char *wrong, *todo;

    if (runs_our_controller(pair->found) &&
        !upgrade_path_is_open(label_of(pair->found, LABEL_VERSION), text_of(check->plan, "version"),
                              &wrong, &todo))
        add(check, pair->wanted, wrong, todo);
}

/* ---- what cannot be changed ---- */

enum { MOST_FIXED = 4 };

struct fixed {
    const char *part;   /* "spec"; NULL: the member is one of the object's own */
    const char *member; /* NULL at the end */
    const char *unset;  /* what it is if nobody has said it */
};

struct kind {
    struct api_resource resource;
    struct fixed fixed[MOST_FIXED];
    const char *deleted; /* what follows from deleting the object, for something fixed to change */
    void (*judge)(struct check *check, const struct pair *pair); /* NULL: nothing else is wrong */
    /* The same of an object that would be deleted. */
    void (*judge_left)(struct check *check, const struct pair *pair, const struct pruner *pruner);
};

#define RBAC "rbac.authorization.k8s.io", "v1"
#define APPS "apps", "v1"
#define STORAGE "storage.k8s.io", "v1"
#define PERMISSIONS_LACK "helm makes it again, and until then its account lacks these permissions"
#define PODS_START_ANEW "helm makes it again; its pods start anew, and pods that use volumes run on"

static const struct kind kinds[] = {
    {.resource = {STORAGE, "csidrivers", "CSIDriver", false, NULL},
     .fixed = {{"spec", "attachRequired", "true"},
               {"spec", "volumeLifecycleModes", "[\"Persistent\"]"}},
     .deleted = "helm makes it again, and volumes are not affected",
     .judge = judge_driver},
    {.resource = {RBAC, "clusterrolebindings", "ClusterRoleBinding", false, NULL},
     .fixed = {{NULL, "roleRef", "null"}},
     .deleted = PERMISSIONS_LACK},
    {.resource = {RBAC, "rolebindings", "RoleBinding", true, NULL},
     .fixed = {{NULL, "roleRef", "null"}},
     .deleted = PERMISSIONS_LACK},
    {.resource = {STORAGE, "storageclasses", "StorageClass", false, NULL},
     .fixed = {{NULL, "provisioner", "null"},
               {NULL, "parameters", "{}"},
               {NULL, "reclaimPolicy", "\"Delete\""},
               {NULL, "volumeBindingMode", "\"Immediate\""}},
     .deleted = "helm makes it again, and volumes are not affected; or set another name in "
                "storageClasses.storageClassNames"},
    {.resource = {APPS, "deployments", "Deployment", true, NULL},
     .fixed = {{"spec", "selector", "null"}},
     .deleted = PODS_START_ANEW,
     .judge = judge_version},
    {.resource = {APPS, "daemonsets", "DaemonSet", true, NULL},
     .fixed = {{"spec", "selector", "null"}},
     .deleted = PODS_START_ANEW,
     .judge_left = judge_left_daemon_set},
    {.resource = {"", "v1", "namespaces", "Namespace", false, NULL}},
    {.resource = {"apiextensions.k8s.io", "v1", "customresourcedefinitions",
                  "CustomResourceDefinition", false, NULL},
     .judge = judge_definition,
     .judge_left = judge_left_definition},
    {.resource = {"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations",
                  "MutatingWebhookConfiguration", false, NULL},
     .judge = judge_webhook},
};

static const struct kind *kind_named(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        if (same_text(kinds[i].resource.kind, name))
            return &kinds[i];
    return NULL;
}

const struct api_resource *upgrade_check_resource(const char *kind)
{
    const struct kind *found = kind_named(kind);

    return found ? &found->resource : NULL;
}

/* json_decref() it. */
static json_t *fixed_value(const struct fixed *fixed, const json_t *object)
{
    const json_t *part = fixed->part ? json_object_get(object, fixed->part) : object;
    json_t *value = json_object_get(part, fixed->member);

    return value ? json_incref(value) : json_loads(fixed->unset, JSON_DECODE_ANY, NULL);
}

static void judge_fixed(struct check *check, const struct kind *kind, const struct fixed *fixed,
                        const struct pair *pair)
{
    const char *namespace_ = text_of(metadata_of(pair->wanted), "namespace");
    CLEANUP(json_decrefp) json_t *is = fixed_value(fixed, pair->found);
    CLEANUP(json_decrefp) json_t *wanted = fixed_value(fixed, pair->wanted);

    if (json_equal(is, wanted))
        return;
    CLEANUP(freep) char *is_text = json_to_text(is);
    CLEANUP(freep) char *wanted_text = json_to_text(wanted);
    add(check, pair->wanted,
        mem_printf("%s is %s, the chart wants %s, and Kubernetes does not let it be changed",
                   fixed->member, is_text, wanted_text),
        mem_printf("kubectl delete %s %s%s%s (%s)", kind->resource.plural, name_of(pair->wanted),
                   namespace_ ? " -n " : "", namespace_ ? namespace_ : "", kind->deleted));
}

/* Helm would change it and succeed, and a while later it would be gone all the same. */
static void judge_deleted(struct check *check, const struct kind *kind, const struct pair *pair)
{
    const char *namespace_ = text_of(metadata_of(pair->wanted), "namespace");

    if (is_left(pair) || !text_of(metadata_of(pair->found), "deletionTimestamp"))
        return;
    add(check, pair->wanted, mem_strdup("it is being deleted, and what is in it"),
        mem_printf("wait until it is gone: kubectl wait %s/%s%s%s --for=delete --timeout=5m",
                   kind->resource.plural, name_of(pair->wanted), namespace_ ? " -n " : "",
                   namespace_ ? namespace_ : ""));
}

static void judge(struct check *check, const struct pair *pair)
{
    const struct kind *kind = kind_named(text_of(pair->wanted, "kind"));

    if (!kind)
        return;
    for (size_t i = 0; pair->found && !is_left(pair) && i < MOST_FIXED && kind->fixed[i].member;
         i++)
        judge_fixed(check, kind, &kind->fixed[i], pair);
    if (kind->judge)
        kind->judge(check, pair);
    judge_deleted(check, kind, pair);
    if (!kind->judge_left || !is_left(pair) || !is_own(check, pair))
        return;
    const struct pruner *pruner = pruner_of(pair->found);
    if (pruner)
        kind->judge_left(check, pair, pruner);
}

/* ---- the document ---- */

bool upgrade_check_is_move(const json_t *plan, const json_t *found)
{
    const json_t *object;
    size_t i;

    json_array_foreach(found, i, object) {
        if (runs_our_controller(object))
            return false;
    }
    return text_of(plan, "driver") != NULL;
}

json_t *upgrade_check_document(const json_t *plan, const json_t *found,
                               const struct object_list *pvs)
{
    CLEANUP(json_decrefp) json_t *obstacles = json_array();
    struct check check = {.plan = plan, .obstacles = obstacles};
    const json_t *objects = json_object_get(plan, "objects"), *object;
    size_t i;

    json_array_foreach(objects, i, object) {
        const json_t *there = json_array_get(found, i);

        judge(&check, &(struct pair){object, json_is_object(there) ? there : NULL});
    }
    if (upgrade_check_is_move(plan, found))
        upgrade_volumes_judge(pvs, text_of(plan, "driver"), obstacles);
    return json_pack("{s:s?, s:s?, s:I, s:O}", "release", text_of(plan, "release"), "version",
                     text_of(plan, "version"), "compared", (json_int_t)json_array_size(objects),
                     "obstacles", obstacles);
}

bool upgrade_check_is_clean(const json_t *document)
{
    return json_array_size(json_object_get(document, "obstacles")) == 0;
}

void upgrade_check_text(const json_t *document, struct buffer *out)
{
    const json_t *list = json_object_get(document, "obstacles"), *one;
    long long compared = json_integer_value(json_object_get(document, "compared"));
    size_t i, n = json_array_size(list);

    json_array_foreach(list, i, one)
        buffer_printf(out, "%s\n  wrong:  %s\n  to do:  %s\n\n", text_of(one, "object"),
                      text_of(one, "wrong"), text_of(one, "todo"));
    if (n)
        buffer_printf(out,
                      "%zu obstacle%s to version %s of release %s, of which nothing has been "
                      "changed yet.\n",
                      n, n == 1 ? "" : "s", text_of(document, "version"),
                      text_of(document, "release"));
    else
        buffer_printf(
            out, "Nothing is in the way of version %s of release %s: %lld object%s compared.\n",
            text_of(document, "version"), text_of(document, "release"), compared,
            compared == 1 ? "" : "s");
}
