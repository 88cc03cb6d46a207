#include "azdiskctl/install_check.h"

#include "azdiskctl/check.h"
#include "azdiskctl/command.h"

/* Of the namespace that is named, or in which azdiskctl runs. */
static struct install_check_lease lease_for(const struct program *program)
{
    const char *subject = program->flags.subject;

    return (struct install_check_lease){.namespace_ = program->session.namespace_,
                                        .name = subject ? subject : DEFAULT_LEASE_NAME};
}

static struct err *read_lease(struct task *self, struct kube *kube,
                              struct install_check_lease *lease)
{
    return err_unless(kube_get(self, kube, &LEASES, lease->namespace_, lease->name, &lease->object),
                      ERR_NOT_FOUND);
}

static struct err *run(struct task *self, struct program *program, json_t **ret)
{
    struct kube *kube = program->session.connection.kube;
    const struct check_config config = {
        .kube = kube, .query = query_for(program, 0), .prices = program->flags.prices};
    CLEANUP(cluster_fini) struct cluster cluster = {0};
    struct install_check_lease lease = lease_for(program);
    json_t *check;

    TRY(read_lease(self, kube, &lease));
    CLEANUP(kube_object_unrefp) struct kube_object *object = lease.object;
    TRY(cluster_read(self, kube, &config.query, &cluster));
    read_heartbeat_limit(self, program, &cluster);
    TRY(check_json(self, &config, &check));
    *ret = install_check_document(&cluster, &lease, check);
    return NULL;
}

const struct command command_install_check = {
    .name = "install-check",
    .subject = "LEASE",
    .usage = "install-check [LEASE]",
    .help = "Whether the driver works: a controller holds its Lease, node plug-ins answer, and "
            "the records agree with Kubernetes; exits with status 1 if not",
    .takes = TAKES_NO_SUBJECT | TAKES_NAMESPACE,
    .run = run,
    .is_well = install_check_is_clean,
    .writers = TEXT_ONLY(install_check_text),
};
