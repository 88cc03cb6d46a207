/* log_subject.h - whose logs `azdiskctl logs` reads, and which of their lines it shows.
 */
#pragma once

#include "azdiskctl/cluster.h"
#include "azdiskctl/log_line.h"
#include "lib/base/string_set.h"
#include "lib/kube/connection.h"

struct logs_config {
    const struct kube_connection *connection;
    struct cluster_query query;
    const char *volume; /* lines that mention it; NULL: all */
    const char *node;   /* whose plug-in is read; "": those that the volume is on */
    uint64_t since_ms;  /* lines of so long ago at most; 0: all */
};

struct log_subject {
    struct cluster cluster;  /* as it was at first */
    const char *volume;      /* as attachments spell it; NULL: none */
    struct log_names names;  /* of the lines; borrowed from the cluster and the config */
    struct string_set nodes; /* whose plug-ins are read */
};

/* A volume that is not on record may have been deleted: a warning, and its name is looked for. Call
 * log_subject_fini in any case. */
struct err *log_subject_find(struct task *self, const struct logs_config *config,
                             struct log_subject *ret) __attribute__((warn_unused_result));
void log_subject_fini(struct log_subject *subject);

/* Adds the nodes that the volume is attached to by now. */
struct err *log_subject_look_again(struct task *self, const struct logs_config *config,
                                   struct log_subject *subject) __attribute__((warn_unused_result));

/* The containers to read, as log_source.h has them. NOT_FOUND if there is no pod of the driver, or
 * no plug-in on the node of the config. */
struct err *log_subject_sources(struct task *self, const struct logs_config *config,
                                const struct log_subject *subject, json_t **ret)
    __attribute__((warn_unused_result));
