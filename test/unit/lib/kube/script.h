/* script.h - an API server that is a list: what must be asked next, and what it answers.
 *
 * A request that is not the next one fails the test. After the last step requests get no answer
 * until they are cancelled or their time is up, so that a reflector or a lease comes to rest.
 * Texts are written with ' for ", and * in a request stands for anything. Virtual loops.
 */
#pragma once

#include "lib/http/transport.h"
#include "lib/kube/client.h"
#include "lib/rt/loop.h"

#define SCRIPT_SERVER "https://server"

enum { SCRIPT_MAX_STEPS = 64 };

/* A part of a stream. "" ends the body, NULL breaks the connection; one of them comes last. */
struct script_piece {
    uint64_t after_ms; /* since the piece before */
    const char *text;
};

struct script_step {
    const char *request; /* "PATCH /api/v1/nodes/a?x=y {'the':'body'}" */
    int status;          /* 0: the connection breaks before an answer */
    bool too_large;      /* instead of an answer: EXHAUSTED */
    uint64_t takes_ms;   /* to answer; TIMEOUT if a call may not take as long; 0: a moment */
    const char *answer;
    const struct script_piece *pieces; /* of a stream, with status 200 */
    const char *header, *value;        /* of the answer; NULL: none */
    const char *token;                 /* that the request must carry; NULL: not looked at */
    const char *accept;                /* the same; what the request says it takes */
    const char *as;                    /* the same; "Impersonate-User: u, Impersonate-Group: g" */
};

#define SCRIPT_ANSWER(request_, status_, answer_)                                                  \
    {                                                                                              \
        .request = (request_), .status = (status_), .answer = (answer_)                            \
    }
#define SCRIPT_STREAM(request_, ...)                                                               \
    {                                                                                              \
        .request = (request_), .status = 200, .pieces = (const struct script_piece[])              \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define SCRIPT_BREAK(request_)                                                                     \
    {                                                                                              \
        .request = (request_)                                                                      \
    }

struct script {
    struct http_transport transport;
    struct loop *loop;
    const struct script_step *steps;
    size_t n, next;
    uint64_t times[SCRIPT_MAX_STEPS]; /* when each step was asked for */
    unsigned unanswered;              /* requests after the last step */
};

void script_init(struct script *script, struct loop *loop, const struct script_step *steps,
                 size_t n);
/* A client of it, with no credentials unless `config` has some. */
struct kube *script_client(struct script *script, const struct kube_config *config);

/* With " for '. free() it. */
char *script_text(const char *text);
bool script_matches(const char *pattern, const char *text);
