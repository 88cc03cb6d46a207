/* leader_guard.h - a transport that lets changes through only while they are allowed.
 *
 * What a leader does on behalf of all goes through a guard that asks whether it still leads, right
 * before each request is sent. A process that slept through the end of its lease is thereby held
 * back from its next write. Reading is always allowed.
 */
#pragma once

#include "lib/http/transport.h"

struct leader_guard {
    struct http_transport transport; /* what to hand to clients */
    struct http_transport *inner;
    bool (*allowed)(void *ctx);
    void *ctx;
};

void leader_guard_init(struct leader_guard *guard, struct http_transport *inner,
                       bool (*allowed)(void *ctx), void *ctx);
