/* plan.h - the next step for the webhook's certificate, by what its Secret and the configuration of
 * the webhook say.
 *
 * A pure function; every step can be the last of a process, and the next one goes on from there. A
 * rotation is three steps, and at no time is there a certificate in use that the API server does
 * not trust: PREPARE puts a new certificate into the Secret, beside the one in use; TRUST has the
 * API server trust the authorities of both; PROMOTE puts the new one to use.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "controller/certificate/pair.h"

enum certificate_step {
    CERTIFICATE_KEEP,    /* all is well */
    CERTIFICATE_MAKE,    /* one to be used at once: there is none that could be */
    CERTIFICATE_PREPARE, /* one to be used next */
    CERTIFICATE_TRUST,   /* the authorities that the configuration lacks, and no others */
    CERTIFICATE_PROMOTE, /* what is next is used */
    N_CERTIFICATE_STEPS,
};

struct certificate_state {
    bool exists; /* anything of it */
    bool usable; /* certificate_pair_check; the others say nothing without */
    struct certificate_term term;
};

struct certificate_plan_input {
    struct certificate_state current, next;
    bool trusted; /* the bundle is authorities_wanted() */
    int64_t now_us;
    uint64_t duration_ms; /* that certificates are to last */
};

enum certificate_step certificate_plan(const struct certificate_plan_input *in);

/* How a log says it. */
const char *certificate_step_text(enum certificate_step step);
