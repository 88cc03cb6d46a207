"""The mutants of the webhook's certificate, which the leader makes and replaces."""

from .mutant import Mutant

PLAN = "controller/certificate/plan.c"
PAIR = "controller/certificate/pair.c"
AUTHORITIES = "controller/certificate/authorities.c"
OBJECTS = "controller/certificate/objects.c"

CERTIFICATE_MUTANTS = [
    # ---- the next step ----
    Mutant("one that is broken is used on", PLAN, "if (!in->current.usable)", "if (!in->current.exists)"),
    Mutant("one is used before it is trusted", PLAN, "if (!in->trusted)", "if (in->duration_ms == 0)"),
    Mutant("the next one is used although its time is over", PLAN,
           "if (in->next.usable && is_in_its_time(&in->next, in))", "if (in->next.usable)"),
    Mutant("the next one is used although it is broken", PLAN,
           "if (in->next.usable && is_in_its_time(&in->next, in))", "if (in->next.exists && (in->next.usable || in->trusted))"),
    Mutant("a next one that is broken stays", PLAN, "if (in->next.exists || !is_in_its_time", "if (!is_in_its_time"),
    Mutant("none is replaced", PLAN, "if (in->next.exists || !is_in_its_time(&in->current, in))", "if (in->next.exists)"),
    Mutant("it is replaced when it ends", PLAN, "left_us >= duration_us / LAST_PART", "left_us >= 0"),
    Mutant("Helm's stays for ten years", PLAN, "left_us <= duration_us + CERTIFICATE_SKEW_MS * INT64_C(1000)", "duration_us > 0"),
    Mutant("clocks that differ replace it all the time", PLAN, "duration_us + CERTIFICATE_SKEW_MS * INT64_C(1000)",
           "duration_us"),
    Mutant("one that is not valid yet is kept", PLAN, "state->term.begins_us <= in->now_us", "state->usable"),
    # ---- certificates ----
    Mutant("it is no server's", PAIR, '{NID_ext_key_usage, "serverAuth"}', '{NID_ext_key_usage, "clientAuth"}', "pair"),
    Mutant("its authority issues authorities", PAIR, "critical,CA:TRUE,pathlen:0", "critical,CA:TRUE", "pair"),
    Mutant("clocks that are behind refuse it", PAIR, "now_us - CERTIFICATE_SKEW_MS * INT64_C(1000),", "now_us,", "pair"),
    Mutant("a name brings other names along", PAIR, "host[i] != '-' && host[i] != '.')", "host[i] < ' ')", "pair"),
    Mutant("a server without a name is one", PAIR, "return length > 0 && length <= 253;", "return length <= 253;", "pair"),
    Mutant("a key of another certificate will do", PAIR,
           'TRY(certificates_check_pair(pair->certificate, pair->key ? pair->key : ""));', "(void)certificates_check_pair;", "pair"),
    Mutant("a certificate of another server will do", PAIR, "X509_VERIFY_PARAM_set1_host(wanted, host, 0)", "host", "pair"),
    Mutant("one of an authority that has not issued it will do", PAIR, "bool accepted = X509_verify_cert(context) == 1;",
           "bool accepted = X509_check_host(certificate, host, 0, 0, NULL) == 1;", "pair"),
    # ---- whom the API server trusts ----
    Mutant("what extenders still show is trusted no more", AUTHORITIES, "    if (before) {", "    if (!before && bundle == current) {",
           "authorities"),
    Mutant("three are trusted", AUTHORITIES, "wanted.n < MOST_AUTHORITIES ?", "wanted.n <= MOST_AUTHORITIES ?", "authorities"),
    Mutant("one that is over is trusted on", AUTHORITIES, "x509_time_us(X509_get0_notAfter(each)) > now_us", "now_us > 0",
           "authorities"),
    Mutant("any predecessor will do", AUTHORITIES, "began(each) > began(latest))", "began(each) > now_us)", "authorities"),
    Mutant("one is trusted twice", AUTHORITIES, "!has(wanted, each) && ", "wanted && ", "authorities"),
    Mutant("all that a Secret has is trusted", AUTHORITIES, "add(&wanted, current, 1);", "add(&wanted, current, SIZE_MAX);",
           "authorities"),
    Mutant("more than what is wanted will do", AUTHORITIES, "if (there.n != those.n)", "if (there.n < those.n)", "authorities"),
    Mutant("others than those that are wanted will do", AUTHORITIES, "if (!has(&there, those.items[i]))",
           "if (!has(&those, those.items[i]))", "authorities"),
    # ---- the objects ----
    Mutant("a configuration that somebody has changed is overwritten", OBJECTS, '"/metadata/resourceVersion", "value",', '"/metadata/generateName", "value",', "objects"),
    Mutant("a Secret that somebody has changed is overwritten", OBJECTS,
           'return if_unchanged(object, json_pack("{s:o}", "data", data));', 'return (void)object, json_pack("{s:o}", "data", data);',
           "objects"),
    Mutant("what was next stays next", OBJECTS, "    set_pair(data, CERTIFICATE_NEXT, NULL);\n", "", "objects"),
    Mutant("the Secret is nobody's", OBJECTS, '"metadata", "name", name, "ownerReferences",\n                     owners(webhook), ',
           '"metadata", "name", name, "ownerReferences",\n                     webhook ? json_array() : NULL, ', "objects"),
    Mutant("a webhook without a Service is ours", OBJECTS,
           "return service && service->name && service->namespace_ ? service : NULL;", "return service;", "objects"),
]
