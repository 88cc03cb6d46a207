/* incident.h - what can happen in a simulated cluster, as data: a scenario is a list of incidents.
 *
 * Each kind is a row of a table in the file that knows what it does; incident.c puts the tables
 * together, draws scenarios from a seed and a profile, and reads and writes them as JSON, so that
 * one can be shortened, kept and played again. An incident has its own stream of choices: leaving
 * out another one does not change what it does.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/err.h"

struct sim;

struct incident {
    uint64_t at_ms; /* since the beginning */
    const struct incident_kind *kind;
    uint64_t duration_ms; /* until its end; 0 for what has none */
    uint64_t choice;      /* seeds what it draws: which node, which volume, how much */
};

struct incident_kind {
    const char *name; /* "node-power-off" */
    void (*begin)(struct sim *sim, const struct incident *incident);
    void (*end)(struct sim *sim, const struct incident *incident); /* NULL: it has none */
    uint64_t least_ms, most_ms;                                    /* of its duration */
    bool bad; /* a fault, not work that people ask for: none after the scenario's quiet_ms */
};

struct incident_table {
    const struct incident_kind *kinds;
    size_t n;
};

extern const struct incident_table CONTROLLER_INCIDENTS; /* controller_incidents.c */
extern const struct incident_table NETWORK_INCIDENTS;  /* network_incidents.c: API server, links */
extern const struct incident_table AZURE_INCIDENTS;    /* azure_incidents.c */
extern const struct incident_table NODE_INCIDENTS;     /* node_incidents.c */
extern const struct incident_table KUBELET_INCIDENTS;  /* kubelet_incidents.c: and the plug-in */
extern const struct incident_table REFUSAL_INCIDENTS;  /* refused_disk.c */
extern const struct incident_table SILENCE_INCIDENTS;  /* silent_incidents.c: nodes, unheard of */
extern const struct incident_table VM_INCIDENTS;       /* vm_incidents.c: that cannot be changed */
extern const struct incident_table WORKLOAD_INCIDENTS; /* workload_incidents.c: pods come and go */

const struct incident_kind *incident_kind_find(const char *name);
/* One after the other; NULL begins and ends. */
const struct incident_kind *incident_kind_next(const struct incident_kind *previous);

/* How often incidents of a kind happen; a kind "azure-*" is all that begin so and are not named
 * themselves. */
struct profile_rate {
    const char *kind;
    double per_hour;
};

/* How often things happen in a scenario. */
struct profile {
    const char *name; /* "calm", "rolling", "node-deaths", "zone-loss", "azure-down", ... */
    uint64_t length_ms, quiet_ms;     /* of the busy part, and of the time to settle */
    const struct profile_rate *rates; /* ends with a NULL kind */
};

extern const struct profile PROFILES[]; /* ends with a NULL name */

const struct profile *profile_find(const char *name); /* NULL if there is none */
const struct profile *profile_of_seed(uint64_t seed);

/* The incidents of a scenario in the order of their times; the caller's, freed by free(). */
struct incident *scenario_draw(const struct profile *profile, uint64_t seed, size_t *ret_n);

/* Has incidents of this kind happen so often instead; not twice for one kind. */
void scenario_add(const struct profile *profile, uint64_t seed, const struct incident_kind *kind,
                  double per_hour, struct incident **incidents, size_t *n);

json_t *scenario_json(uint64_t seed, const struct incident *incidents, size_t n);
struct err *scenario_of_json(const json_t *json, uint64_t *ret_seed, struct incident **ret,
                             size_t *ret_n) __attribute__((warn_unused_result));
