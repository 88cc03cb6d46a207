/* What is in the way of an upgrade, as a document and as text. */
#include "azdiskctl/upgrade_check.h"

#include "test/unit/azdiskctl/cluster_of.h"

#define OF(release)                                                                                \
    "'annotations':{'meta.helm.sh/release-name':'" release "','meta.helm.sh/release-namespace':"   \
    "'kube-system'}"
#define ROLE(name) "'roleRef':{'kind':'ClusterRole','name':'" name "'}"

/* What the plan says of one object, what the cluster has of it, and what is wrong, if anything. */
static char *wrong(const char *wanted, const char *found)
{
    CLEANUP(freep)
    char *plan_text = mem_printf("{'release':'kube-system/azuredisk','version':'0.3.0',"
                                 "'objects':[%s]}",
                                 wanted);
    CLEANUP(freep) char *found_text = mem_printf("[%s]", found);
    CLEANUP(json_decrefp) json_t *plan = json_of(plan_text), *all = json_of(found_text);
    CLEANUP(json_decrefp)
    json_t *document = upgrade_check_document(plan, all, &(struct object_list){0});
    struct buffer out;

    buffer_init(&out, 1 << 16);
    upgrade_check_text(document, &out);
    CLEANUP(freep) char *text = buffer_take(&out);
    if (upgrade_check_is_clean(document)) {
        assert_string_equal(text, "Nothing is in the way of version 0.3.0 of release "
                                  "kube-system/azuredisk: 1 object compared.\n");
        return mem_strdup("");
    }
    char *begin = strstr(text, "wrong:  "), *end = strstr(text, "\n\n");
    assert_non_null(begin);
    assert_non_null(end);
    return mem_printf("%.*s", (int)(end - begin - 8), begin + 8);
}

struct row {
    const char *wanted, *found, *wrong;
};

static void check_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        CLEANUP(freep) char *said = wrong(rows[i].wanted, rows[i].found);

        assert_string_equal(said, rows[i].wrong);
    }
}

#define DRIVER_WANTED                                                                              \
    "{'kind':'CSIDriver','metadata':{'name':'disk.csi.azure.com'},'spec':{'attachRequired':true}}"
#define DRIVER_FOUND(metadata, spec)                                                               \
    "{'metadata':{'name':'disk.csi.azure.com'," metadata "},'spec':{" spec "}}"
#define DRIVER_TODO                                                                                \
    "\n  to do:  uninstall that driver (on AKS: az aks update --disable-disk-driver), or set "     \
    "driver.name to another name; if this object is all that is left of it: kubectl delete "       \
    "csidriver disk.csi.azure.com"
#define DRIVER_ANEW                                                                                \
    "\n  to do:  kubectl delete csidrivers disk.csi.azure.com (helm makes it again, and volumes "  \
    "are not affected)"

static void test_the_driver_object(void **state)
{
    static const struct row rows[] = {
        {DRIVER_WANTED, "null", ""},
        {DRIVER_WANTED, DRIVER_FOUND(OF("azuredisk"), "'attachRequired':true"), ""},
        {DRIVER_WANTED,
         DRIVER_FOUND(OF("azuredisk"),
                      "'volumeLifecycleModes':['Persistent'],'podInfoOnMount':true"),
         ""},
        {DRIVER_WANTED,
         DRIVER_FOUND("'labels':{'app.kubernetes.io/instance':'azuredisk'}",
                      "'attachRequired':true"),
         ""},
        {DRIVER_WANTED, DRIVER_FOUND(OF("other"), ""),
         "it belongs to release kube-system/other" DRIVER_TODO},
        {DRIVER_WANTED, DRIVER_FOUND("'labels':{'addonmanager':'x'}", ""),
         "it is not of this release, nor of any other of Helm's" DRIVER_TODO},
        {DRIVER_WANTED, DRIVER_FOUND(OF("azuredisk"), "'attachRequired':false"),
         "attachRequired is false, the chart wants true, and Kubernetes does not let it be "
         "changed" DRIVER_ANEW},
        {DRIVER_WANTED,
         DRIVER_FOUND(OF("azuredisk"), "'volumeLifecycleModes':['Persistent','Ephemeral']"),
         "volumeLifecycleModes is [\"Persistent\",\"Ephemeral\"], the chart wants "
         "[\"Persistent\"], and Kubernetes does not let it be changed" DRIVER_ANEW},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows));
}

#define BINDING(more) "{'kind':'RoleBinding','metadata':{'name':'b','namespace':'n'}," more "}"
#define CLASS(more) "{'kind':'StorageClass','metadata':{'name':'c'}," more "}"
#define SELECTED(kind, app)                                                                        \
    "{'kind':'" kind "','metadata':{'name':'w','namespace':'n'},"                                  \
    "'spec':{'selector':{'matchLabels':{'app':'" app "'}}}}"

static void test_what_cannot_be_changed(void **state)
{
    static const struct row rows[] = {
        {BINDING(ROLE("one")), "null", ""},
        {BINDING(ROLE("one")), "{'roleRef':{'name':'one','kind':'ClusterRole'}}", ""},
        {BINDING(ROLE("one")), "{" ROLE("two") "}",
         "roleRef is {\"kind\":\"ClusterRole\",\"name\":\"two\"}, the chart wants "
         "{\"kind\":\"ClusterRole\",\"name\":\"one\"}, and Kubernetes does not let it be changed\n"
         "  to do:  kubectl delete rolebindings b -n n (helm makes it again, and until then its "
         "account lacks these permissions)"},
        {CLASS("'provisioner':'d','volumeBindingMode':'Immediate'"),
         "{'provisioner':'d','parameters':{},'reclaimPolicy':'Delete'}", ""},
        {CLASS("'provisioner':'d','parameters':{'a':'1','b':'2'}"),
         "{'provisioner':'d','parameters':{'b':'2','a':'1'}}", ""},
        {CLASS("'provisioner':'d'"), "{'provisioner':'d','reclaimPolicy':'Retain'}",
         "reclaimPolicy is \"Retain\", the chart wants \"Delete\", and Kubernetes does not let it "
         "be changed\n  to do:  kubectl delete storageclasses c (helm makes it again, and volumes "
         "are not affected; or set another name in storageClasses.storageClassNames)"},
        {SELECTED("DaemonSet", "one"), SELECTED("DaemonSet", "one"), ""},
        {SELECTED("DaemonSet", "one"), SELECTED("DaemonSet", "two"),
         "selector is {\"matchLabels\":{\"app\":\"two\"}}, the chart wants "
         "{\"matchLabels\":{\"app\":\"one\"}}, and Kubernetes does not let it be changed\n"
         "  to do:  kubectl delete daemonsets w -n n (helm makes it again; its pods start anew, "
         "and pods that use volumes run on)"},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows));
}

#define DEFINITION(left)                                                                           \
    "{'kind':'CustomResourceDefinition','metadata':{'name':'d'},'versions':['v1beta2','v1beta3']," \
    "'storage':'v1beta3','left':" left "}"
#define STORED(versions) "{'status':{'storedVersions':[" versions "]}}"
#define SERVED(version, served) "{'spec':{'versions':[{'name':'" version "','served':" served "}]}}"
#define APPLY "\n  to do:  kubectl apply -f crds/, or set crds.create=true"

static void test_definitions(void **state)
{
    static const struct row rows[] = {
        {DEFINITION("false"), "null", ""},
        {DEFINITION("false"), STORED("'v1beta2','v1beta3'"), ""},
        {DEFINITION("false"), STORED("'v1beta1','v1beta2'"),
         "objects may be stored in version v1beta1, which the chart's definition lacks\n"
         "  to do:  kubectl get d -A -o json | kubectl replace -f - && kubectl patch crd d "
         "--subresource=status --type=merge -p '{\"status\":{\"storedVersions\":[\"v1beta3\"]}}' "
         "(docs/upgrading.md)"},
        {DEFINITION("true"), SERVED("v1beta3", "true"), ""},
        {DEFINITION("true"), SERVED("v1beta3", "false"),
         "it does not serve version v1beta3, and crds.create is false" APPLY},
        {DEFINITION("true"), SERVED("v1beta2", "true"),
         "it does not serve version v1beta3, and crds.create is false" APPLY},
        {DEFINITION("true"), "null", "it is not there, and crds.create is false" APPLY},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows));
}

#define SNAPSHOTS "{'kind':'CustomResourceDefinition','metadata':{'name':'s'},'left':true}"
#define MADE_FOR(release) "{'metadata':{" OF(release) "}}"
#define KEPT                                                                                       \
    "{'metadata':{'annotations':{'meta.helm.sh/release-name':'azuredisk',"                         \
    "'meta.helm.sh/release-namespace':'kube-system','helm.sh/resource-policy':'keep'}}}"
#define WOULD_GO                                                                                   \
    "the release has it and the chart has not: Helm would delete it, and with it every object of " \
    "that kind\n  to do:  kubectl annotate crd s helm.sh/resource-policy=keep (docs/moving.md)"

#define TRACKED(application, more)                                                                 \
    "{'metadata':{'annotations':{'argocd.argoproj.io/tracking-id':'" application ":x/y:/s'" more   \
    "}}}"
#define OPTIONS ",'argocd.argoproj.io/sync-options':"
#define WOULD_BE_PRUNED(annotation)                                                                \
    "the release has it and the chart has not: whatever applies the chart and prunes, as Argo CD " \
    "does, would delete it, and with it every object of that kind\n  to do:  kubectl annotate "    \
    "crd "                                                                                         \
    "s argocd.argoproj.io/sync-options=" annotation " (docs/moving.md)"

#define WINDOWS                                                                                    \
    "{'kind':'DaemonSet','metadata':{'name':'win','namespace':'kube-system'},'left':true}"
#define ON_NODES(release, nodes)                                                                   \
    "{'metadata':{" OF(release) "},'spec':{'selector':{'matchLabels':{'app':'win'}}},'status':{"   \
                                "'desiredNumberScheduled':" nodes "}}"
#define NO_WINDOWS                                                                                 \
    ", and the chart has no node plug-in for Windows\n  to do:  leave that driver to the volumes " \
    "of Windows nodes, and install this one beside it (docs/install.md); or, if these have none: " \
    "helm upgrade that driver with windows.enabled=false first"

/* What Microsoft's charts have and this one has not. */
static void test_what_would_be_deleted(void **state)
{
    static const struct row rows[] = {
        {SNAPSHOTS, "null", ""},
        {SNAPSHOTS, "{'metadata':{}}", ""},
        {SNAPSHOTS, MADE_FOR("other"), ""},
        {SNAPSHOTS, KEPT, ""},
        {SNAPSHOTS, MADE_FOR("azuredisk"), WOULD_GO},
        {SNAPSHOTS, "{'metadata':{'labels':{'app.kubernetes.io/instance':'azuredisk'}}}",
         WOULD_BE_PRUNED("Prune=false")},
        {SNAPSHOTS, "{'metadata':{'labels':{'app.kubernetes.io/instance':'snapshots'}}}", ""},
        {SNAPSHOTS, TRACKED("azuredisk", ""), WOULD_BE_PRUNED("Prune=false")},
        {SNAPSHOTS, TRACKED("azuredisk-crds", ""), ""},
        {SNAPSHOTS, TRACKED("azuredisk", ",'helm.sh/resource-policy':'keep'"),
         WOULD_BE_PRUNED("Prune=false")},
        {SNAPSHOTS, TRACKED("azuredisk", OPTIONS "'Delete=false'"),
         WOULD_BE_PRUNED("Delete=false,Prune=false --overwrite")},
        {SNAPSHOTS, TRACKED("azuredisk", OPTIONS "'Delete=false,Prune=false'"), ""},
        {WINDOWS, "null", ""},
        {WINDOWS, ON_NODES("azuredisk", "0"), ""},
        {WINDOWS, ON_NODES("other", "2"), ""},
        {WINDOWS, ON_NODES("azuredisk", "1"), "Helm would delete it, 1 node uses it" NO_WINDOWS},
        {WINDOWS, ON_NODES("azuredisk", "2"), "Helm would delete it, 2 nodes use it" NO_WINDOWS},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows));
}

#define CONTROLLER "{'kind':'Deployment','metadata':{'name':'c','namespace':'n'}}"
#define DELETED(more) "{'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z'}" more "}"
#define IS_DELETED                                                                                 \
    "it is being deleted, and what is in it\n  to do:  wait until it is gone: kubectl wait "

/* As version 2 leaves them for a while when it is uninstalled. */
static void test_what_is_being_deleted(void **state)
{
    static const struct row rows[] = {
        {"{'kind':'Namespace','metadata':{'name':'n'}}", "{'metadata':{}}", ""},
        {"{'kind':'Namespace','metadata':{'name':'n'}}", DELETED(""),
         IS_DELETED "namespaces/n --for=delete --timeout=5m"},
        {DEFINITION("false"), DELETED(",'status':{'storedVersions':['v1beta3']}"),
         IS_DELETED "customresourcedefinitions/d --for=delete --timeout=5m"},
        {CONTROLLER, DELETED(""), IS_DELETED "deployments/c -n n --for=delete --timeout=5m"},
        {SNAPSHOTS, DELETED(""), ""},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows));
}

#define INSTALLED(program, version)                                                                \
    "{'metadata':{'labels':{'app.kubernetes.io/version':'" version "'}},'spec':{'template':{"      \
    "'spec':{'containers':[{'name':'sidecar'},{'command':['/bin/" program "']}]}}}}"
#define OURS(version) INSTALLED("azdisk-controller", version)

/* Those of Microsoft's charts have other programs, and count otherwise. */
static void test_versions(void **state)
{
    static const struct row rows[] = {
        {CONTROLLER, "null", ""},
        {CONTROLLER, OURS("0.3.0"), ""},
        {CONTROLLER, OURS("v0.3.7-rc.1"), ""},
        {CONTROLLER, OURS("0.2.9"), ""},
        {CONTROLLER, OURS("mine"), ""},
        {CONTROLLER, INSTALLED("azurediskplugin", "v1.30.0"), ""},
        {CONTROLLER, OURS("0.4.0"),
         "version 0.4.0 is installed, and this chart's is 0.3.0, which is older\n"
         "  to do:  use a chart of version 0.4 or later, or go back by helm rollback"},
        {CONTROLLER, OURS("1.0.0"),
         "version 1.0.0 is installed, and this chart's is 0.3.0, which is older\n"
         "  to do:  use a chart of version 1.0 or later, or go back by helm rollback"},
        {CONTROLLER, OURS("0.1.0"),
         "version 0.1.0 is installed, and this chart's is 0.3.0: a minor version must not be "
         "skipped\n  to do:  upgrade to a chart of version 0.2 first"},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows));
}

#define WEBHOOK                                                                                    \
    "{'kind':'MutatingWebhookConfiguration','metadata':{'name':'w'},"                              \
    "'service':{'namespace':'kube-system','name':'extender'}}"
#define CALLS(metadata, namespace_)                                                                \
    "{'metadata':{'name':'w'," metadata "},'webhooks':[{'clientConfig':{'service':"                \
    "{'namespace':'" namespace_ "','name':'extender','port':443}}}]}"

static void test_the_webhook(void **state)
{
    static const struct row rows[] = {
        {WEBHOOK, "null", ""},
        {WEBHOOK, CALLS(OF("azuredisk"), "before"), ""},
        {WEBHOOK, CALLS(OF("other"), "kube-system"), ""},
        {WEBHOOK, CALLS(OF("other"), "elsewhere"),
         "it belongs to release kube-system/other, and calls Service elsewhere/extender\n"
         "  to do:  uninstall what it belongs to, or set rbac.name to another name, which the "
         "names of roles and webhooks begin with"},
    };

    (void)state;
    check_rows(rows, COUNT_OF(rows));
}

static void test_all_of_it_is_said_at_once(void **state)
{
    CLEANUP(json_decrefp)
    json_t *plan = json_of("{'release':'kube-system/azuredisk','version':'0.3.0','objects':["
                           "{'kind':'ClusterRoleBinding','metadata':{'name':'b'}," ROLE(
                               "one") "}," DEFINITION("true") "," CONTROLLER "]}");
    CLEANUP(json_decrefp)
    json_t *found = json_of("[{" ROLE("two") "},null," OURS("0.3.0") "]");
    CLEANUP(json_decrefp)
    json_t *document = upgrade_check_document(plan, found, &(struct object_list){0});
    struct buffer out;

    (void)state;
    buffer_init(&out, 1 << 16);
    upgrade_check_text(document, &out);
    CLEANUP(freep) char *text = buffer_take(&out);
    assert_non_null(strstr(text, "ClusterRoleBinding b\n  wrong:  roleRef is "));
    assert_non_null(strstr(text, "CustomResourceDefinition d\n  wrong:  it is not there"));
    assert_non_null(strstr(text, "\n2 obstacles to version 0.3.0 of release kube-system/azuredisk, "
                                 "of which nothing has been changed yet.\n"));
}

#define BTRFS                                                                                      \
    "{'metadata':{'name':'pv-1'},'spec':{'csi':{'driver':'disk.csi.azure.com','volumeHandle':'x'," \
    "'fsType':'btrfs'}}}"
#define PLAN_OF(driver)                                                                            \
    "{'release':'kube-system/azuredisk','version':'0.3.0'," driver "'objects':[" CONTROLLER "]}"

/* Where this driver is installed already, they are nothing new. */
static void test_volumes_of_another_driver(void **state)
{
    static const struct {
        const char *plan, *found;
        bool is_in_the_way;
    } rows[] = {
        {PLAN_OF("'driver':'disk.csi.azure.com',"), "[null]", true},
        {PLAN_OF("'driver':'disk.csi.azure.com',"), "[" INSTALLED("azurediskplugin", "v1.30.0") "]",
         true},
        {PLAN_OF("'driver':'disk.csi.azure.com',"), "[" OURS("0.3.0") "]", false},
        {PLAN_OF("'driver':'other.example',"), "[null]", false},
        {PLAN_OF(""), "[null]", false},
    };
    CLEANUP(json_decrefp) json_t *cluster = json_of("{'pvs':[" BTRFS "]}");
    CLEANUP(object_list_free)
    struct object_list pvs = object_list_of(cluster, "pvs", &api__persistent_volume__descriptor);

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(json_decrefp) json_t *plan = json_of(rows[i].plan), *found = json_of(rows[i].found);
        CLEANUP(json_decrefp) json_t *document = upgrade_check_document(plan, found, &pvs);

        assert_int_equal(upgrade_check_is_clean(document), !rows[i].is_in_the_way);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_driver_object),
        cmocka_unit_test(test_what_cannot_be_changed),
        cmocka_unit_test(test_definitions),
        cmocka_unit_test(test_what_would_be_deleted),
        cmocka_unit_test(test_what_is_being_deleted),
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_the_webhook),
        cmocka_unit_test(test_volumes_of_another_driver),
        cmocka_unit_test(test_all_of_it_is_said_at_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
