/* lease_world.h - candidates for one lease, an API server that keeps it, and time.
 *
 * Each candidate is a process of its own: a virtual loop whose clock starts when it does, so that
 * no two candidates agree about the time of day. world_step moves them all together; one that is
 * paused stands still, and finds its clock moved when it goes on, as after SIGSTOP. The server acts
 * when a request reaches it, whatever has become of the one who sent it.
 */
#pragma once

#include "lib/http/transport.h"
#include "lib/kube/lease.h"
#include "lib/rt/random.h"

enum { WORLD_CANDIDATES = 3, WORLD_REQUESTS = 64 };

/* What becomes of a request. */
enum fate {
    ANSWERED,
    REFUSED,       /* the connection fails at once */
    REQUEST_LOST,  /* nothing happens, and no answer comes */
    ANSWER_LOST,   /* it takes effect, and no answer comes */
    ANSWER_BROKEN, /* it takes effect, and the connection breaks */
};

struct world;

struct candidate {
    struct http_transport transport;
    struct world *world;
    unsigned index;
    char identity[32];
    struct loop *loop; /* NULL: there is no such process */
    struct kube *kube;
    struct lease *lease;
    bool paused, ended;
    uint64_t behind; /* by how much its clock has stood still */

    unsigned acquired, lost, failed; /* calls of its callbacks */
    char last_failure[256];
};

struct request {
    bool used, arrived, answered, sender_gone;
    uint64_t arrives, answers; /* world's time; answers 0: never */
    bool breaks;
    char *method, *body;
    struct http_response response;
};

struct world {
    uint64_t now;
    struct random random;
    struct candidate candidates[WORLD_CANDIDATES];
    unsigned started[WORLD_CANDIDATES]; /* how many processes of each there have been */
    struct request requests[WORLD_REQUESTS];

    /* The object; NULL: there is none. */
    json_t *object;
    uint64_t version;
    unsigned writes;

    /* Decides about each request; default: answered within 20 ms. */
    enum fate (*fate)(struct world *world, const struct candidate *from, const char *method);
    uint64_t most_delay_ms;
};

void world_init(struct world *world, uint64_t seed);
void world_fini(struct world *world); /* kills who still runs */

void candidate_start(struct world *world, unsigned index);
void candidate_kill(struct world *world, unsigned index); /* SIGKILL */
/* SIGTERM; waits for its end. Whoever releases has ended its work before, so it holds nothing. */
void candidate_release(struct world *world, unsigned index);
bool candidate_holds(const struct world *world, unsigned index);

/* Moves time on by `ms` in small steps, and looks after each that at most one holds the lease. */
void world_run(struct world *world, uint64_t ms);
/* The same until the condition holds; at most `ms`, whether it holds then. */
bool world_run_until(struct world *world, uint64_t ms,
                     bool (*condition)(const struct world *world));
unsigned world_holders(const struct world *world);

/* A member of the object's spec; "" if there is none. */
const char *world_spec(const struct world *world, const char *member);
/* Somebody else's change of the object. */
void world_touch(struct world *world);
void world_delete(struct world *world);
