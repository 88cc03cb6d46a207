"""Mutants of how a program comes to a cluster: which kubeconfig's word counts, and who makes the requests."""

from .mutant import Mutant

FILES = "lib/kube/kubeconfig_files.c"
CONFIG = "lib/kube/config.c"
IMPERSONATION = "lib/kube/impersonation.c"
CLIENT = "lib/kube/client.c"

KUBECONFIG_MUTANTS = [
    Mutant("the last kubeconfig wins", FILES,
           "TRY(find_in(&files->items[i], kind, name, &entry));",
           "TRY(find_in(&files->items[files->n - 1 - i], kind, name, &entry));"),
    Mutant("an empty current context is one", FILES,
           "if (!name || !*name)\n            continue;", "if (!name)\n            continue;"),
    Mutant("a kubeconfig that cannot be read is passed over", FILES,
           "if (err && err_kind(err) == ERR_NOT_FOUND)", "if (err)"),
    Mutant("what a kubeconfig cannot mean is passed over", FILES, "    TRY(check(document));\n", ""),
    Mutant("one of two entries of a name is taken", FILES, "        if (*ret)\n", "        if (!*name)\n"),
    Mutant("paths count from the first kubeconfig", FILES,
           ".path = files->items[i].path,", ".path = files->items[0].path,"),
    Mutant("an error lists all contexts there are", FILES, "if (n < MOST_NAMES)", "if (n + 1 > 0)"),
    Mutant("a member that is empty is one", "lib/kube/kubeconfig_member.c",
           "json_string_length(value) ? json_string_value(value) : NULL", "json_string_value(value)", test="config"),
    Mutant("the environment's proxy is asked for this machine", CONFIG,
           'http_is_loopback(config->server) ? mem_strdup("") : NULL', "NULL"),
    Mutant("a context is passed over where there is no kubeconfig", CONFIG,
           "    if (context)\n", "    if (context && config->server)\n"),
    Mutant("groups without a user are passed over where there is no kubeconfig", CONFIG,
           "    TRY(impersonation_check(&config->impersonation));\n    return load_account(",
           "    return load_account("),
    Mutant("a flag is repeated more often than there is room", "lib/base/options.c",
           "if (list->n == OPTION_LIST_MOST)", "if (list->n > OPTION_LIST_MOST)"),
    Mutant("a user that is blank for the server is impersonated", IMPERSONATION, "!is_blank(value[0]) && ", ""),
    Mutant("a blank at the end is not seen", IMPERSONATION, " && !is_blank(value[length - 1])", ""),
    Mutant("an empty group is impersonated", IMPERSONATION, "return length > 0 && ", "return "),
    Mutant("a group's name has headers in it", IMPERSONATION,
           "if ((unsigned char)value[i] < ' ' || ", "if ("),
    Mutant("groups without a user are passed over", IMPERSONATION,
           "if (impersonation->n == 0 || has(impersonation, USER))", "if (impersonation)"),
    Mutant("the kubeconfig's user is impersonated besides the chosen one", IMPERSONATION,
           "if (!value || has(impersonation, header))", "if (!value)"),
    Mutant("the kubeconfig's groups are added to the chosen ones", IMPERSONATION,
           "if (!has(impersonation, GROUP))", "if (user)"),
    Mutant("a key has a header in it", IMPERSONATION, 'as_it_is ? "%c"', 'as_it_is || c ? "%c"'),
    Mutant("an urgent request is one's own", CLIENT,
           "bearer_token_ref(kube->token), kube->impersonation);",
           "bearer_token_ref(kube->token), (struct impersonation){0});"),
    Mutant("a group gets lost", CLIENT, "i < impersonation->n; i++", "i + 1 < impersonation->n; i++"),
]
