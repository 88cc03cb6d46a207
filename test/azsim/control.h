/* control.h - the interface for tests and for people: what is in Azure, what was asked of it, and
 * how it behaves. Described in README.md.
 *
 * It is served on the port of Azure itself, below /azsim/, and wants a bearer key of its own, which
 * is in the file control.key of the state folder, so that no driver gets here by mistake. Loop's
 * thread.
 */
#pragma once

#include "test/azsim/arm/arm.h"
#include "test/azsim/journal.h"

struct control {
    struct arm *arm;
    struct journal *journal;
    const char *key; /* what the Authorization header has to carry */
};

/* A handler for everything below /azsim/; `ctx` is a struct control. */
http_handler control_handle;
