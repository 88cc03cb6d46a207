"""Mutants of what the API server may say, and in which time, without keeping us from all else."""

from .mutant import Mutant

PAGES = "lib/kube/pages.c"

SERVER_MUTANTS = [
    Mutant("a page that comes too late is asked for again as it was", PAGES,
           "bool is_late = pages->kept && kind == ERR_TIMEOUT;", "bool is_late = false;", "reflector"),
    Mutant("who reads a list once waits longer than a call", PAGES,
           "bool is_late = pages->kept && kind == ERR_TIMEOUT;", "bool is_late = kind == ERR_TIMEOUT;", "client"),
    Mutant("a server that hangs is never told of", PAGES, "!is_late || ++*late < MOST_LATE",
           "!is_late || ++*late > 0", "reflector"),
    Mutant("pages grow until they come too late", PAGES, "began < QUICK_MS", "began < KUBE_CALL_TIMEOUT_MS",
           "reflector"),
    Mutant("each list begins with a page that is too much", PAGES,
           "        *pages->kept = pages->limit;\n", "        *pages->kept = 0;\n", "reflector"),
    Mutant("what comes too late as a whole is asked for as a whole for ever", "lib/kube/reflector.c",
           "(kind == ERR_TIMEOUT && !reflector->version)", "false"),
    Mutant("one number keeps a list from us", "lib/json/lenient.c", "    soften(text, length);\n", "    (void)soften;\n"),
    Mutant("a name that is too long for a URL is left out of it", "lib/kube/url.c",
           "&& buffer_append(url, escaped, strlen(escaped)))",
           "&& (buffer_append(url, escaped, strlen(escaped)) || true))", "client"),
    Mutant("what is no JSON is watched for again for ever", "lib/kube/reflector.c", " || kind == ERR_INVALID", ""),
]
