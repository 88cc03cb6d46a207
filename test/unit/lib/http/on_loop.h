/* on_loop.h - runs the body of a test as a task of a real loop, with an HTTP client.
 */
#pragma once

#include "lib/http/client.h"
#include "test/unit/expect.h"

struct on_loop {
    struct loop *loop;
    struct http_client *client;
    struct http_transport *transport;
    void (*body)(struct task *self, struct on_loop *env);
    void *ctx;
};

static inline struct http_request on_loop_request(struct on_loop *env, const char *method,
                                                  const char *url, uint64_t ms)
{
    return (struct http_request){
        .method = method, .url = url, .deadline = loop_deadline(env->loop, ms)};
}

static inline void on_loop_main(struct task *self, void *arg)
{
    struct on_loop *env = arg;

    env->body(self, env);
}

/* `config` NULL: plain HTTP, whatever the environment says about proxies. */
static inline void run_on_loop(const struct http_client_config *config,
                               void (*body)(struct task *self, struct on_loop *env), void *ctx)
{
    static const struct http_client_config plain = {.proxy = ""};
    struct on_loop env = {.loop = loop_new(), .body = body, .ctx = ctx};

    assert_ok(http_client_new(env.loop, config ? config : &plain, &env.client));
    env.transport = http_client_transport(env.client);
    loop_spawn(env.loop, "test", on_loop_main, &env);
    loop_run(env.loop);
    http_client_free(env.client);
    loop_free(env.loop);
}
