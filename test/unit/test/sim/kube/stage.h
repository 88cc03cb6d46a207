/* stage.h - a simulated API server, a client of it and a task that is the test.
 */
#pragma once

#include "lib/kube/client.h"
#include "test/sim/kube/server.h"
#include "test/unit/expect.h"

struct stage {
    struct loop *loop;
    struct kube_server *server;
    struct kube *kube;
};

/* Runs the test on a virtual loop, to its end. */
void stage_play(void (*body)(struct task *self, struct stage *stage));

/* JSON with ' for "; the caller's. */
json_t *stage_json(const char *text);

/* Writes of the world that must succeed. */
void stage_create(struct stage *stage, const struct api_resource *resource, const char *namespace_,
                  const char *json);
void stage_patch(struct stage *stage, const struct api_resource *resource, const char *namespace_,
                 const char *name, const char *subresource, const char *json);

/* The value at a path ("metadata.name") of an object that is there, as text; "" if it has none. */
const char *stage_value(struct stage *stage, const struct api_resource *resource,
                        const char *namespace_, const char *name, const char *path);

/* One exchange of its own: status and body, which the caller frees. */
int stage_ask(struct task *self, struct stage *stage, const char *method, const char *path,
              const char *body, char **ret_body);
/* A watch of its own. */
struct http_stream *stage_watch(struct task *self, struct stage *stage, const char *path);
/* The next line of it must come within a minute and contain the text, which has ' for ". */
#define stage_expect_line(self, stage, stream, text)                                               \
    stage_expect_line_at((self), (stage), (stream), (text), __FILE__, __LINE__)
void stage_expect_line_at(struct task *self, struct stage *stage, struct http_stream *stream,
                          const char *text, const char *file, int line);
