/* reflector_scene.h - a reflector of Nodes against a scripted API server, in virtual time: what the
 * server says, and what became of it.
 */
#pragma once

#include "lib/api/resources.h"
#include "lib/base/alloc.h"
#include "lib/kube/reflector.h"
#include "test/unit/expect.h"
#include "test/unit/lib/kube/script.h"

enum { MINUTE = 60 * 1000, HOUR = 60 * MINUTE };

#define LIST "GET /api/v1/nodes?limit=500"
#define WATCH(version)                                                                             \
    "GET /api/v1/nodes?resourceVersion=" version                                                   \
    "&watch=true&allowWatchBookmarks=true&timeoutSeconds=*"
#define ITEM(name, version) "{'metadata':{'name':'" name "','resourceVersion':'" version "'}}"
#define ITEMS(version, ...)                                                                        \
    "{'metadata':{'resourceVersion':'" version "'},'items':[" __VA_ARGS__ "]}"
#define PAGE(version, next, ...)                                                                   \
    "{'metadata':{'resourceVersion':'" version "','continue':'" next "'},'items':[" __VA_ARGS__ "]}"
#define EVENT(type, name, version) "{'type':'" type "','object':" ITEM(name, version) "}\n"
/* A node whose spec is a list; it has a name and a version. */
#define SENSELESS(name, version)                                                                   \
    "{'metadata':{'name':'" name "','resourceVersion':'" version "'},'spec':[]}"
#define BOOKMARK(version)                                                                          \
    "{'type':'BOOKMARK','object':{'metadata':{'resourceVersion':'" version "'}}}\n"
#define ERROR_EVENT(code, reason)                                                                  \
    "{'type':'ERROR','object':{'kind':'Status','code':" code ",'reason':'" reason                  \
    "','message':'" reason "'}}\n"
#define EXPIRED "{'kind':'Status','reason':'Expired','message':'too old'}"
#define QUIET                                                                                      \
    {                                                                                              \
        24 * HOUR, ""                                                                              \
    }

struct scene {
    struct loop *loop;
    struct script script;
    struct kube *kube;
    struct store *store;
    struct task_group group;
    char content[256]; /* "a=1 b=2 " */
    char failures[1024];
    unsigned n_failures;
    unsigned changes; /* of the store */
    unsigned full;    /* of those, to an object with more than metadata */
};

/* Runs a reflector for `ms`, then ends it. `config` has only what is not the same everywhere.
 * Somebody catches up beside it after `catch_up_ms`; 0: nobody. */
void play_with(struct scene *scene, struct reflector_config config, const struct script_step *steps,
               size_t n, uint64_t catch_up_ms, uint64_t ms);
void play(struct scene *scene, const struct script_step *steps, size_t n, uint64_t ms);
