#include "azdiskctl/flags.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "azdiskctl/plugin.h"
#include "lib/base/alloc.h"

static const char about[] = "Shows the state of every volume, replica and operation of the Azure "
                            "disk driver, and moves pods "
                            "to their replicas";
static struct flags flags = {
    .kubeconfig = "",
    .context = "",
    .as = "",
    .as_uid = "",
    .driver_name = DEFAULT_DRIVER_NAME,
    .object_namespace = DEFAULT_OBJECT_NAMESPACE,
    .namespace_ = "",
    .cloud_config = "",
    .prices = "",
    .to = "",
    .node = "",
    .zone = "",
    .pod = "",
    .timeout_ms = DEFAULT_TIMEOUT_MS,
    .output = OUTPUT_TEXT,
};

static const struct option_row rows[] = {
    {.name = "kubeconfig",
     .type = OPTION_STRING,
     .target = &flags.kubeconfig,
     .environment = "KUBECONFIG",
     .help = "Kubeconfig files, separated by colons; empty: ~/.kube/config if it exists, otherwise "
             "the pod's service account"},
    TEXT_FLAG("context", flags.context, "Context of the kubeconfig; empty: the current one"),
    TEXT_FLAG("as", flags.as,
              "User to impersonate; empty: the one that the kubeconfig names, if any"),
    LIST_FLAG("as-group", flags.as_groups,
              "Group to impersonate, together with a user; may be repeated"),
    TEXT_FLAG("as-uid", flags.as_uid, "UID to impersonate, together with a user"),
    TEXT_FLAG("namespace", flags.namespace_,
              "Namespace of the claim or pod, for get and describe of the volumes' claims if it is "
              "given; empty: that of the context, or of the pod that azdiskctl runs in; short form "
              "-n"),
    CHOICE_FLAG("output", flags.output, output_names,
                "Output format; short form -o. All commands have text, json and yaml; get has all"),
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
    TEXT_FLAG("node", flags.node,
              "For get, the node that objects are on; empty: any. For logs, the node whose plug-in "
              "is read; empty: those that the volume is on"),
    TEXT_FLAG("zone", flags.zone, "For get, the zone that objects are in; empty: any"),
    TEXT_FLAG("pod", flags.pod,
              "For get, the pod that uses the volumes; empty: any. Its namespace is that of "
              "--namespace"),
    {.name = "since",
     .type = OPTION_DURATION,
     .target = &flags.since_ms,
     .most = 365 * 24 * 60 * 60 * 1000ULL,
     .help = "For logs, how old a line may be; 0: no limit"},
    BOOL_FLAG("follow", flags.follow,
              "For logs: go on with new lines as they come, until Ctrl-C; short form -f"),
    BOOL_FLAG("all", flags.all,
              "For ungate: of all pods of the cluster, or of --namespace if it is given"),
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

const struct option_row *flags_rows(size_t *ret_n)
{
    *ret_n = COUNT_OF(rows);
    return rows;
}

/* By its name, up to a "="; NULL if there is none. */
static const struct option_row *find_row(const char *word)
{
    size_t length = strcspn(word, "=");

    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (strlen(rows[i].name) == length && strncmp(rows[i].name, word, length) == 0)
            return &rows[i];
    return NULL;
}

/* kubectl's short forms, "-o json", "-o=json" and "-ojson", and "-f", which has no value; NULL if
 * it is none, as flags may have one dash. `ret_value` stays if the value is another word. */
static char *long_form(char *word, char **ret_value)
{
    static char output[] = "--output", namespace_[] = "--namespace", follow[] = "--follow";

    if (strcmp(word, "-f") == 0)
        return follow;
    char *flag = word[1] == 'o' ? output : word[1] == 'n' ? namespace_ : NULL;

    if (!flag || find_row(word + 1))
        return NULL;
    if (word[2])
        *ret_value = word + (word[2] == '=' ? 3 : 2);
    return flag;
}

const struct option_row *flags_row(char *word, char **ret_value)
{
    *ret_value = NULL;
    if (word[0] != '-' || !word[1])
        return NULL;
    const char *flag = long_form(word, ret_value);
    if (flag)
        return find_row(flag + 2);
    char *equals = strchr(word, '=');
    *ret_value = equals ? equals + 1 : NULL;
    return find_row(word + (word[1] == '-' ? 2 : 1));
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

enum { MOST_WORDS = 1024 };
static const char *words[MOST_WORDS];

/* Words and flags may come in any order. Puts the flags into `ret_flags`; false if there are too
 * many words. */
static bool split(int argc, char *const argv[], char **ret_flags, int *ret_n)
{
    size_t n_words = 0;

    *ret_n = 0;
    ret_flags[(*ret_n)++] = argv[0];
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-') {
            if (n_words == MOST_WORDS)
                return false;
            words[n_words++] = argv[i];
            continue;
        }
        char *value = NULL, *flag = long_form(argv[i], &value);

        ret_flags[(*ret_n)++] = flag ? flag : argv[i];
        if (!value && !stands_alone(flag ? flag : argv[i]) && i + 1 < argc)
            value = argv[++i];
        if (value)
            ret_flags[(*ret_n)++] = value;
    }
    flags.command = n_words > 0 ? words[0] : NULL;
    flags.subject = n_words > 1 ? words[1] : NULL;
    flags.names = words + 2;
    flags.n_names = n_words > 2 ? n_words - 2 : 0;
    return true;
}

/* Also in a pod, as kubectl does it: otherwise commands would go to the cluster that a person works
 * in, not to the one that they work on. One that cannot be read is an error later. */
static const char *own_kubeconfig(void)
{
    static char path[4096];
    const char *home = getenv("HOME");

    if (!home)
        return "";
    snprintf(path, sizeof path, "%s/.kube/config", home);
    return access(path, F_OK) == 0 ? path : "";
}

/* All but what the flags say. */
static void fill_in(const char *called, struct flags *ret)
{
    *ret = flags;
    if (!flags.kubeconfig[0])
        ret->kubeconfig = own_kubeconfig();
    ret->program = plugin_spoken(called);
}

bool flags_parse(int argc, char *const argv[], const char *usage, struct flags *ret,
                 int *ret_status)
{
    CLEANUP(freep) char **flag_words = mem_alloc((2 * (size_t)argc + 1) * sizeof(char *));
    const char *program = plugin_spoken(argv[0]);
    int n;

    if (!split(argc, argv, flag_words, &n))
        return options_refuse(program, ret_status, "more than %d words (see --help)", MOST_WORDS);
    if (!options_start(rows, COUNT_OF(rows), program, about, n, flag_words, ret_status)) {
        if (*ret_status == 0 && strcmp(flag_words[n - 1], "--version") != 0)
            fputs(usage, stdout);
        return false;
    }
    fill_in(argv[0], ret);
    return true;
}

struct err *flags_read(int argc, char *const argv[], struct flags *ret)
{
    CLEANUP(freep) char **flag_words = mem_alloc((2 * (size_t)argc + 1) * sizeof(char *));
    int n;

    if (!split(argc, argv, flag_words, &n))
        return err_new(ERR_INVALID, "more than %d words", MOST_WORDS);
    TRY(options_parse(rows, COUNT_OF(rows), n, flag_words));
    fill_in(argv[0], ret);
    return NULL;
}
