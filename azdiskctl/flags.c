#include "azdiskctl/flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/alloc.h"

static const char program[] = "azdiskctl";
static const char about[] = "Shows the state of every volume, replica and operation of the Azure "
                            "disk driver, and moves pods "
                            "to their replicas";
static const char commands[] =
    "\nCommands:\n"
    "  map               On which nodes each volume is, and the disk slots of each node\n"
    "  why KIND/NAME     State of an object and what it is waiting for; KIND is pod, pvc, pv,\n"
    "                    azvolume, azvolumeattachment or node\n"
    "  timeline VOLUME   Events of a PersistentVolume or AzVolume in chronological order\n"
    "  check             Differences between records, Kubernetes and Azure; exits with status 1\n"
    "                    if there are any\n"
    "  failover CLAIM    Moves the pod that uses a PersistentVolumeClaim to a node with replicas\n"
    "  drain NODE        Cordons a node and moves its pods with volumes of the driver\n"
    "  ungate NAMESPACE/POD, ungate --all\n"
    "                    Removes the driver's scheduling gate from a pod, or from all pods\n";

static const char *const outputs[] = {"text", "json", NULL};

static struct flags flags = {
    .kubeconfig = "",
    .driver_name = DEFAULT_DRIVER_NAME,
    .object_namespace = DEFAULT_OBJECT_NAMESPACE,
    .namespace_ = "default",
    .cloud_config = "",
    .prices = "",
    .to = "",
    .timeout_ms = DEFAULT_TIMEOUT_MS,
    .output = OUTPUT_TEXT,
};

static const struct option_row rows[] = {
    {.name = "kubeconfig",
     .type = OPTION_STRING,
     .target = &flags.kubeconfig,
     .environment = "KUBECONFIG",
     .help = "Kubeconfig file; empty: ~/.kube/config if it exists, otherwise the pod's service "
             "account"},
    TEXT_FLAG("namespace", flags.namespace_, "Namespace of the claim or pod; short form -n"),
    CHOICE_FLAG("output", flags.output, outputs, "Output format; short form -o"),
    {.name = "cloud-config",
     .type = OPTION_STRING,
     .target = &flags.cloud_config,
     .environment = "AZURE_CREDENTIAL_FILE",
     .help = "Path of an azure.json file, with which Azure is read too; empty: only the records "
             "are read"},
    TEXT_FLAG("prices", flags.prices,
              "For check, the monthly prices of disks, or of one GiB for kinds of disks that are "
              "sold by size: P10_LRS=19.71,PremiumV2_LRS=0.08"),
    TEXT_FLAG(
        "to", flags.to,
        "For failover, the node that the pod is to move to; empty: the best one with replicas"),
    BOOL_FLAG("all", flags.all, "For ungate: of all pods of the cluster"),
    BOOL_FLAG("dry-run", flags.dry_run,
              "For failover, drain and ungate: only say what would be done; nothing is changed"),
    {.name = "timeout",
     .type = OPTION_DURATION,
     .target = &flags.timeout_ms,
     .least = 1000,
     .most = 24 * 60 * 60 * 1000,
     .help = "For failover and drain, how long all of it may take"},
    OBJECT_NAMESPACE_FLAG(flags.object_namespace),
    DRIVER_NAME_FLAG(flags.driver_name),
    LOG_FLAGS(flags.log),
};

/* kubectl's short forms. */
static char *long_form(char *word)
{
    static char output[] = "--output", namespace_[] = "--namespace";

    if (strcmp(word, "-o") == 0)
        return output;
    return strcmp(word, "-n") == 0 ? namespace_ : word;
}

/* No value follows it. */
static bool stands_alone(const char *flag)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (rows[i].type == OPTION_BOOL && strncmp(flag, "--", 2) == 0 &&
            strcmp(flag + 2, rows[i].name) == 0)
            return true;
    return strchr(flag, '=') || strcmp(flag, "--help") == 0 || strcmp(flag, "-h") == 0 ||
           strcmp(flag, "--version") == 0;
}

/* Words and flags may come in any order. Puts the flags into `ret_flags`; false if there are too
 * many words. */
static bool split(int argc, char *const argv[], char **ret_flags, int *ret_n)
{
    const char **words[] = {&flags.command, &flags.subject};
    size_t n_words = 0;

    *ret_n = 0;
    ret_flags[(*ret_n)++] = argv[0];
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-') {
            if (n_words == COUNT_OF(words))
                return false;
            *words[n_words++] = argv[i];
            continue;
        }
        ret_flags[(*ret_n)++] = long_form(argv[i]);
        if (!stands_alone(argv[i]) && i + 1 < argc)
            ret_flags[(*ret_n)++] = argv[++i];
    }
    return true;
}

static const char *own_kubeconfig(void)
{
    static char path[4096];
    const char *home = getenv("HOME");

    if (!home || getenv("KUBERNETES_SERVICE_HOST"))
        return "";
    snprintf(path, sizeof path, "%s/.kube/config", home);
    return access(path, R_OK) == 0 ? path : "";
}

bool flags_parse(int argc, char *const argv[], struct flags *ret, int *ret_status)
{
    CLEANUP(freep) char **flag_words = mem_alloc(((size_t)argc + 1) * sizeof(char *));
    int n;

    if (!split(argc, argv, flag_words, &n))
        return options_refuse(program, ret_status, "more than one command (see --help)");
    if (!options_start(rows, COUNT_OF(rows), program, about, n, flag_words, ret_status)) {
        if (*ret_status == 0 && strcmp(flag_words[n - 1], "--version") != 0)
            fputs(commands, stdout);
        return false;
    }
    if (!flags.kubeconfig[0])
        flags.kubeconfig = own_kubeconfig();
    *ret = flags;
    return true;
}
