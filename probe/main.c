/* azdisk-probe: checks the health of another program in the pod, for kubelet's exec probes. */

#include <stdio.h>

#include "lib/base/alloc.h"
#include "lib/base/options.h"
#include "lib/http/exec_probe.h"

static const char program[] = "azdisk-probe";
static const char about[] =
    "checks the health of another program in the pod, for kubelet's exec probes";

static const char *address = "unix:///csi/health.sock", *path = "/healthz";

static const struct option_row rows[] = {
    TEXT_FLAG("address", address, "The --health-address of that program, a Unix socket"),
    TEXT_FLAG("path", path, "What to request: /healthz or /readyz"),
};

int main(int argc, char *argv[])
{
    int status;

    if (!options_start(rows, COUNT_OF(rows), program, about, argc, argv, &status))
        return status;
    return exec_probe(address, path);
}
