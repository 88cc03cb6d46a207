/* Lists and watches of the API server: the first line is what a list is answered, the rest is the
 * stream of the watch. It must not matter in which pieces the stream comes. */
#include "lib/api/resources.h"
#include "lib/base/list.h"
#include "lib/kube/reflector.h"
#include "lib/rt/wait.h"
#include "test/fuzz/answers.h"

enum { LONG_ENOUGH_MS = 2000, MANY_MS = 60 * 1000 };

struct server {
    struct http_transport transport;
    struct http_stream stream;
    const char *list, *watch, *end;
    size_t piece; /* bytes at once */
    unsigned watches;
};

static struct err *answer_list(struct http_transport *transport, struct task *self,
                               const struct http_request *request, struct http_response *ret)
{
    struct server *server = CONTAINER_OF(transport, struct server, transport);

    (void)request;
    TRY(task_sleep(self, 1));
    *ret = (struct http_response){.status = 200, .body = mem_strdup(server->list)};
    ret->body_length = strlen(ret->body);
    return NULL;
}

/* After the end of what there is nothing comes any more. */
static struct err *read_stream(struct http_stream *stream, struct task *self, uint64_t deadline,
                               const char **ret_data, size_t *ret_length)
{
    struct server *server = CONTAINER_OF(stream, struct server, stream);
    size_t left = (size_t)(server->end - server->watch);

    (void)deadline;
    if (left == 0) {
        TRY(task_sleep(self, MANY_MS));
        return err_new(ERR_TIMEOUT, "nothing comes");
    }
    *ret_data = server->watch;
    *ret_length = left < server->piece ? left : server->piece;
    server->watch += *ret_length;
    return NULL;
}

static void close_stream(struct http_stream *stream)
{
    (void)stream;
}

static struct err *open_stream(struct http_transport *transport, struct task *self,
                               const struct http_request *request,
                               struct http_response *ret_response, struct http_stream **ret_stream)
{
    struct server *server = CONTAINER_OF(transport, struct server, transport);

    (void)request;
    TRY(task_sleep(self, 1));
    *ret_response = (struct http_response){.status = 200, .body = mem_strdup("")};
    if (server->watches++ > 0) /* what is left was of the one before */
        server->watch = server->end;
    *ret_stream = &server->stream;
    return NULL;
}

static void close_group(struct task *self, void *group)
{
    group_close(self, group);
}

/* A store that has seen all of it. */
static struct store *read_all(const char *list, const char *watch, size_t length, size_t piece)
{
    static char url[] = "https://server";
    struct server server = {
        .transport = {.exchange = answer_list, .open = open_stream},
        .stream = {.read = read_stream, .close = close_stream},
        .list = list,
        .watch = watch,
        .end = watch + length,
        .piece = piece,
    };
    struct loop *loop = loop_new_virtual(1);
    struct kube *kube = kube_new(loop, &server.transport, &(struct kube_config){.server = url});
    struct store *store = store_new(&AZ_VOLUMES);
    struct task_group group;

    group_init(&group, loop);
    reflector_start(&group, &(struct reflector_config){.kube = kube, .store = store});
    loop_advance(loop, LONG_ENOUGH_MS);
    MUST(task_returns(loop, close_group, &group, MANY_MS));
    kube_free(kube);
    loop_free(loop);
    return store;
}

static void compare(const struct store *a, const struct store *b)
{
    MUST(store_count(a) == store_count(b));
    STORE_FOREACH(a, object) {
        const struct kube_object *same = store_get(b, object->key);

        MUST(same && same->version == object->version);
        MUST(object->metadata->name);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *end = memchr(data, '\n', size);
    size_t head = end ? (size_t)(end - text) + 1 : size;
    CLEANUP(freep) char *list = mem_strndup(text, head);
    CLEANUP(store_freep) struct store *whole = read_all(list, text + head, size - head, size);
    CLEANUP(store_freep) struct store *parts = read_all(list, text + head, size - head, 7);

    if (store_is_synced(whole))
        compare(whole, parts);
    return 0;
}
