#include "azdiskctl/flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/alloc.h"

static const char program[] = "azdiskctl";
static const char about[] =
    "Shows where every volume, replica and operation of the Azure disk driver is";
static const char commands[] =
    "\nCommands:\n"
    "  map               Volumes by nodes, and nodes by their places for disks\n"
    "  why KIND/NAME     Where it stands and what it waits for; KIND is pod, pvc, pv, azvolume,\n"
    "                    azvolumeattachment, node\n"
    "  timeline VOLUME   What has happened to a PersistentVolume or AzVolume, in order\n"
    "  check             Differences between records, Kubernetes and Azure; status 1 if any\n";

static const char *const log_formats[] = {"text", "json", NULL};
static const char *const outputs[] = {"text", "json", NULL};

static struct flags flags = {
    .kubeconfig = "",
    .driver_name = "disk.csi.azure.com",
    .object_namespace = "azure-disk-csi",
    .namespace_ = "default",
    .cloud_config = "",
    .prices = "",
    .output = OUTPUT_TEXT,
};

static const struct option_row rows[] = {
    {.name = "kubeconfig",
     .type = OPTION_STRING,
     .target = &flags.kubeconfig,
     .environment = "KUBECONFIG",
     .help = "Kubeconfig file; empty: ~/.kube/config, else the pod's own account"},
    {.name = "namespace",
     .type = OPTION_STRING,
     .target = &flags.namespace_,
     .help = "Namespace of the claim or pod that is asked about; also -n"},
    {.name = "output",
     .type = OPTION_CHOICE,
     .target = &flags.output,
     .choices = outputs,
     .help = "Form of what is printed; also -o"},
    {.name = "cloud-config",
     .type = OPTION_STRING,
     .target = &flags.cloud_config,
     .environment = "AZURE_CREDENTIAL_FILE",
     .help = "The azure.json file, to look at Azure as well; empty: the records only"},
    {.name = "prices",
     .type = OPTION_STRING,
     .target = &flags.prices,
     .help = "What disks cost a month, for check: P10_LRS=19.71,PremiumV2_LRS=0.08 (of a GiB)"},
    {.name = "object-namespace",
     .type = OPTION_STRING,
     .target = &flags.object_namespace,
     .help = "Namespace of the custom resources"},
    {.name = "driver-name",
     .type = OPTION_STRING,
     .target = &flags.driver_name,
     .help = "Name of the CSI driver"},
    {.name = "v",
     .type = OPTION_INT,
     .target = &flags.verbosity,
     .least = 0,
     .most = 10,
     .help = "Log level: 0 warnings, 2 information, 5 debug"},
    {.name = "log-format",
     .type = OPTION_CHOICE,
     .target = &flags.log_format,
     .choices = log_formats,
     .help = "Form of the log's lines"},
};

/* kubectl's short forms. */
static char *long_form(char *word)
{
    static char output[] = "--output", namespace_[] = "--namespace";

    if (strcmp(word, "-o") == 0)
        return output;
    return strcmp(word, "-n") == 0 ? namespace_ : word;
}

static bool stands_alone(const char *flag)
{
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

    if (!split(argc, argv, flag_words, &n)) {
        fprintf(stderr, "%s: one command at a time (see --help)\n", program);
        *ret_status = 2;
        return false;
    }
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
