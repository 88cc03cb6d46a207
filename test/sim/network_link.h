/* network_link.h - the way from a process to a server that is on the world's loop, and what happens
 * on it.
 *
 * A request travels, is served whatever becomes of the one who sent it, and its answer travels
 * back. Either may be lost, be late, or break off. A link that is cut lets nothing more through in
 * either direction: the process behind it is dead. What chance decides is drawn from the world's
 * loop.
 */
#pragma once

#include "lib/http/transport.h"
#include "lib/rt/group.h"
#include "test/sim/process.h"

/* What happens on the links to one server; shared by them, changed by incidents. Chances are in
 * 10,000. */
struct network_conditions {
    uint64_t least_ms, most_ms; /* of a way, each direction */
    unsigned refuse;            /* the connection fails at once */
    unsigned lose_request;      /* nothing happens, and no answer comes */
    unsigned lose_answer;       /* it takes effect, and no answer comes */
    unsigned break_answer;      /* it takes effect, and the connection breaks */
    unsigned break_stream;      /* of each piece of a stream */
    uint64_t stream_delay_ms; /* most that a piece of a stream is on its way; others wait for it */
    uint64_t streams_late_until; /* loop_now: what is on one now comes then at the latest */
    bool away;                   /* nobody is there */
};

struct network_link;

/* `server` is a transport on the world's loop. What is pointed to must outlive the link. */
struct network_link *network_link_new(struct process *process, struct http_transport *server,
                                      const struct network_conditions *conditions);
struct http_transport *network_link_http(struct network_link *link);
void network_link_cut(struct network_link *link);
/* `self` is a task of the world; nobody may be waiting on the process's side. */
void network_link_close(struct task *self, struct network_link *link);
