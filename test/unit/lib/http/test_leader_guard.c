/* The guard between a client and a transport that only counts. */
#include "lib/http/leader_guard.h"

#include "lib/base/alloc.h"
#include "lib/base/list.h"
#include "lib/rt/loop.h"
#include "test/unit/expect.h"

struct counter {
    struct http_transport transport;
    unsigned exchanges, streams;
    bool guarded; /* whether the last request would be asked about again */
};

static struct err *count_exchange(struct http_transport *transport, struct task *self,
                                  const struct http_request *request, struct http_response *ret)
{
    struct counter *counter = (struct counter *)(void *)transport;

    (void)self;
    counter->exchanges++;
    counter->guarded = request->may_send;
    ret->status = 200;
    return NULL;
}

static struct err *count_stream(struct http_transport *transport, struct task *self,
                                const struct http_request *request, struct http_response *response,
                                struct http_stream **ret_stream)
{
    (void)self, (void)request, (void)ret_stream;
    ((struct counter *)(void *)transport)->streams++;
    response->status = 410;
    return NULL;
}

static bool is_set(void *flag)
{
    return *(bool *)flag;
}

static void body(struct task *self, void *arg)
{
    struct counter counter = {.transport = {.exchange = count_exchange, .open = count_stream}};
    bool allowed = false;
    struct leader_guard guard;
    struct http_response response = {0};
    struct http_stream *stream;
    const struct {
        const char *method, *fault;
        bool changes_nothing;
    } rows[] = {
        {NULL, NULL, false},
        {"GET", NULL, false},
        {"POST", NULL, true},
        {"POST", "POST was not sent: this process is no longer the leader", false},
        {"PATCH", "PATCH was not sent: this process is no longer the leader", false},
        {"DELETE", "DELETE was not sent: this process is no longer the leader", false},
    };

    (void)arg;
    leader_guard_init(&guard, &counter.transport, is_set, &allowed);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct http_request request = {.method = rows[i].method,
                                       .url = "http://x/",
                                       .changes_nothing = rows[i].changes_nothing};

        allowed = false;
        counter.exchanges = 0;
        struct err *err = http_exchange(self, &guard.transport, &request, &response);
        if (rows[i].fault)
            assert_fails(err, ERR_CANCELED, rows[i].fault);
        else
            assert_ok(err);
        assert_int_equal(counter.exchanges, rows[i].fault ? 0 : 1);

        allowed = true;
        assert_ok(http_exchange(self, &guard.transport, &request, &response));
        assert_int_equal(counter.exchanges, rows[i].fault ? 1 : 2);
        assert_int_equal(counter.guarded, rows[i].fault != NULL);
    }
    allowed = false;
    assert_ok(guard.transport.open(&guard.transport, self,
                                   &(struct http_request){.url = "http://x/"}, &response, &stream));
    assert_int_equal(counter.streams, 1);
}

static void test_only_reads_pass_while_it_is_closed(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);

    (void)state;
    loop_spawn(loop, "body", body, NULL);
    loop_run(loop);
}

/* ---- while it waits for a connection ---- */

struct connecting {
    struct http_transport transport;
    bool leads, leads_then; /* when it has a connection */
    bool wanted_then;       /* by who made the request */
};

static struct err *connect_slowly(struct http_transport *transport, struct task *self,
                                  const struct http_request *request, struct http_response *ret)
{
    struct connecting *connecting = CONTAINER_OF(transport, struct connecting, transport);

    (void)self;
    connecting->leads = connecting->leads_then;
    if (!request->may_send(request->may_send_ctx))
        return err_new(ERR_CANCELED, "not sent");
    ret->status = 200;
    return NULL;
}

static void ask_again(struct task *self, void *arg)
{
    static const struct {
        bool leads_then, own, wanted_then, sent;
    } rows[] = {
        {true, false, false, true}, {false, false, false, false}, {true, true, true, true},
        {true, true, false, false}, {false, true, true, false},
    };

    (void)arg;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct connecting connecting = {.transport = {.exchange = connect_slowly},
                                        .leads = true,
                                        .leads_then = rows[i].leads_then,
                                        .wanted_then = rows[i].wanted_then};
        struct http_request request = {.method = "PATCH", .url = "http://x/"};
        struct http_response response = {0};
        struct leader_guard guard;

        if (rows[i].own) {
            request.may_send = is_set;
            request.may_send_ctx = &connecting.wanted_then;
        }
        leader_guard_init(&guard, &connecting.transport, is_set, &connecting.leads);
        struct err *err = http_exchange(self, &guard.transport, &request, &response);
        if (rows[i].sent)
            assert_ok(err);
        else
            assert_fails(err, ERR_CANCELED, "not sent");
    }
}

static void test_it_is_asked_again_when_there_is_a_connection(void **state)
{
    CLEANUP(loop_freep) struct loop *loop = loop_new_virtual(0);

    (void)state;
    loop_spawn(loop, "ask again", ask_again, NULL);
    loop_run(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_only_reads_pass_while_it_is_closed),
        cmocka_unit_test(test_it_is_asked_again_when_there_is_a_connection),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
