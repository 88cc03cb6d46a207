#include "lib/http/connections.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/list.h"

enum phase {
    PHASE_REQUEST, /* waits for its client */
    PHASE_HANDLER,
    PHASE_REPLY, /* waits for its client */
    PHASE_ENDED, /* is about to be removed; takes no place any more */
};

struct connection {
    struct list link; /* in the order in which they began to wait */
    int fd;
    struct in6_addr address; /* of IPv4 the mapped one */
    enum phase phase;
    size_t bytes; /* of its request, in memory; libmicrohttpd's thread */
    uint64_t limit_ms,
        deadline; /* of the phase; the loop's time; 0: the loop has not seen it yet */
};

struct connections {
    struct connections_config config;
    struct timer timer; /* the loop's */

    pthread_mutex_t lock; /* of what follows */
    struct list all;
    bool posted; /* the loop is about to look */
};

/* ---- on the loop: deadlines ---- */

/* The client sees the end at once, libmicrohttpd as soon as it gets to it. */
static void end(struct connection *connection)
{
    shutdown(connection->fd, SHUT_RDWR);
    connection->phase = PHASE_ENDED;
}

static bool waits_for_client(const struct connection *connection)
{
    return connection->phase == PHASE_REQUEST || connection->phase == PHASE_REPLY;
}

/* Gives deadlines to those that have none yet, ends what is over; the next that is due. */
static uint64_t keep_deadlines(struct connections *connections)
{
    uint64_t next = TIMER_NEVER;

    LIST_FOREACH(&connections->all, link) {
        struct connection *connection = CONTAINER_OF(link, struct connection, link);

        if (!waits_for_client(connection))
            continue;
        if (!connection->deadline)
            connection->deadline = loop_deadline(connections->config.loop, connection->limit_ms);
        if (connection->deadline <= loop_now(connections->config.loop))
            end(connection);
        else if (connection->deadline < next)
            next = connection->deadline;
    }
    return next;
}

static void look(void *arg)
{
    struct connections *connections = arg;

    pthread_mutex_lock(&connections->lock);
    connections->posted = false;
    uint64_t next = keep_deadlines(connections);
    pthread_mutex_unlock(&connections->lock);
    if (next != TIMER_NEVER)
        loop_start_timer(connections->config.loop, &connections->timer, next, look, connections);
}

/* The lock is held. */
static void begin_phase(struct connections *connections, struct connection *connection,
                        enum phase phase, uint64_t limit_ms)
{
    connection->phase = phase;
    connection->limit_ms = limit_ms;
    connection->deadline = 0;
    list_remove(&connection->link);
    list_append(&connections->all, &connection->link);
    if (!waits_for_client(connection) || connections->posted)
        return;
    connections->posted = true;
    loop_post(connections->config.loop, look, connections);
}

static void change_phase(struct connections *connections, struct connection *connection,
                         enum phase phase, uint64_t limit_ms)
{
    pthread_mutex_lock(&connections->lock);
    if (connection->phase != PHASE_ENDED)
        begin_phase(connections, connection, phase, limit_ms);
    pthread_mutex_unlock(&connections->lock);
}

void connections_await_request(struct connections *connections, struct connection *connection)
{
    connection->bytes = 0;
    change_phase(connections, connection, PHASE_REQUEST, connections->config.request_ms);
}

void connections_give_to_handler(struct connections *connections, struct connection *connection)
{
    change_phase(connections, connection, PHASE_HANDLER, 0);
}

void connections_await_reply(struct connections *connections, struct connection *connection,
                             uint64_t more_ms)
{
    change_phase(connections, connection, PHASE_REPLY, connections->config.reply_ms + more_ms);
}

/* ---- room ---- */

static struct in6_addr address_of(const struct sockaddr *address)
{
    struct in6_addr result = IN6ADDR_ANY_INIT;

    if (address->sa_family == AF_INET6)
        return ((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    if (address->sa_family == AF_INET) {
        result.s6_addr[10] = result.s6_addr[11] = 0xff;
        memcpy(&result.s6_addr[12], &((const struct sockaddr_in *)(const void *)address)->sin_addr,
               4);
    }
    return result;
}

/* Those that take a place, of an address or, if it is NULL, in all; and which of them has waited
 * longest for its client. */
static unsigned count(const struct connections *connections, const struct in6_addr *address,
                      struct connection **ret_longest)
{
    unsigned n = 0;

    *ret_longest = NULL;
    LIST_FOREACH(&connections->all, link) {
        struct connection *connection = CONTAINER_OF(link, struct connection, link);

        if (connection->phase == PHASE_ENDED ||
            (address && memcmp(&connection->address, address, sizeof *address) != 0))
            continue;
        n++;
        if (!*ret_longest && waits_for_client(connection))
            *ret_longest = connection;
    }
    return n;
}

/* The newcomer is in the list already, so that it is the one that goes if no other can. */
static void make_room(struct connections *connections, const struct in6_addr *address)
{
    struct connection *longest;

    if (count(connections, address, &longest) > connections->config.most_of_address ||
        count(connections, NULL, &longest) > connections->config.most)
        end(longest);
}

/* Bytes of all requests; and which request other than `own` has waited longest for its client. */
static size_t count_bytes(const struct connections *connections, const struct connection *own,
                          struct connection **ret_longest)
{
    size_t bytes = 0;

    *ret_longest = NULL;
    LIST_FOREACH(&connections->all, link) {
        struct connection *connection = CONTAINER_OF(link, struct connection, link);

        if (connection->phase == PHASE_ENDED || !connection->bytes)
            continue;
        bytes += connection->bytes;
        if (!*ret_longest && connection != own && waits_for_client(connection))
            *ret_longest = connection;
    }
    return bytes;
}

bool connections_hold(struct connections *connections, struct connection *connection, size_t bytes)
{
    struct connection *longest;
    bool room;

    pthread_mutex_lock(&connections->lock);
    while (!(room = count_bytes(connections, connection, &longest) + bytes <=
                    connections->config.most_bytes) &&
           longest)
        end(longest);
    if (room)
        connection->bytes += bytes;
    pthread_mutex_unlock(&connections->lock);
    return room;
}

/* ---- their life ---- */

struct connection *connections_add(struct connections *connections, int fd,
                                   const struct sockaddr *address)
{
    struct connection *connection = mem_alloc(sizeof *connection);

    connection->fd = fd;
    connection->address = address_of(address);
    list_init(&connection->link);
    pthread_mutex_lock(&connections->lock);
    begin_phase(connections, connection, PHASE_REQUEST, connections->config.request_ms);
    make_room(connections, &connection->address);
    pthread_mutex_unlock(&connections->lock);
    return connection;
}

void connections_remove(struct connections *connections, struct connection *connection)
{
    pthread_mutex_lock(&connections->lock);
    list_remove(&connection->link);
    pthread_mutex_unlock(&connections->lock);
    free(connection);
}

struct connections *connections_new(const struct connections_config *config)
{
    struct connections *connections = mem_alloc(sizeof *connections);

    connections->config = *config;
    list_init(&connections->all);
    pthread_mutex_init(&connections->lock, NULL);
    return connections;
}

void connections_free(struct connections *connections)
{
    if (!connections)
        return;
    loop_stop_timer(connections->config.loop, &connections->timer);
    pthread_mutex_destroy(&connections->lock);
    free(connections);
}
