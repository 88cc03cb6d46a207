/* What happens to a request whose client does not wait for the answer. */
#include "lib/base/alloc.h"
#include "lib/rt/wait.h"
#include "test/azsim/model/disk.h"
#include "test/unit/expect.h"
#include "test/unit/test/azsim/arm/azure.h"

struct client {
    struct azure *azure;
    struct http_request request;
    struct http_response response;
    struct task *task;
    struct err *err;
    bool ended;
};

static void run_client(struct task *self, void *arg)
{
    struct client *client = arg;

    client->err = http_exchange(self, arm_transport_http(client->azure->transport),
                                &client->request, &client->response);
    client->ended = true;
}

static void start(struct azure *azure, struct client *client, struct http_request request)
{
    *client = (struct client){.azure = azure, .request = request};
    client->task = loop_spawn(azure->loop, "client", run_client, client);
    loop_advance(azure->loop, 0);
}

/* A PUT of disk "d"; it takes effect after 1 s and is answered after 2 s. What it was made of is
 * needed until it is sent, and no longer. */
static void put(struct azure *azure, struct client *client, uint64_t deadline)
{
    static const char body[] = "{\"location\": \"eastus\", \"properties\": {\"diskSizeGB\": 4, "
                               "\"creationData\": {\"createOption\": \"Empty\"}}}";
    CLEANUP(freep) char *authorization = mem_printf("Bearer %s", azure->token);
    struct http_header headers[] = {{"Authorization", authorization}};

    assert_ok(latencies_set(&azure->model->latencies, "accept=2s"));
    start(azure, client,
          (struct http_request){
              .method = "PUT",
              .url =
                  "https://azsim/subscriptions/" SUBSCRIPTION
                  "/resourceGroups/rg/providers/Microsoft.Compute/disks/d?api-version=2025-01-02",
              .headers = headers,
              .n_headers = 1,
              .body = body,
              .body_length = strlen(body),
              .deadline = deadline});
}

static void test_answers_take_their_time(void **state)
{
    struct azure *azure = azure_new(NULL);
    struct client client;

    (void)state;
    put(azure, &client, TIMER_NEVER);
    loop_advance(azure->loop, 999);
    assert_null(azure->model->disks);
    loop_advance(azure->loop, 1);
    assert_non_null(azure->model->disks);
    loop_advance(azure->loop, 999);
    assert_false(client.ended);
    loop_advance(azure->loop, 1);
    assert_true(client.ended);
    assert_ok(client.err);
    assert_int_equal(client.response.status, 202);
    http_response_fini(&client.response);
    azure_free(azure);
}

static void test_an_answer_that_comes_too_late_is_lost_and_its_effect_is_not(void **state)
{
    struct azure *azure = azure_new(NULL);
    struct client client;

    (void)state;
    put(azure, &client, loop_now(azure->loop) + 500);
    loop_advance(azure->loop, 500);
    assert_true(client.ended);
    assert_int_equal(err_kind(client.err), ERR_TIMEOUT);
    err_free(client.err);
    assert_null(azure->model->disks);
    loop_advance(azure->loop, 500);
    assert_non_null(azure->model->disks);
    loop_advance(azure->loop, 5000);
    azure_free(azure);
}

static void test_a_client_that_is_cancelled_does_not_take_the_request_back(void **state)
{
    struct azure *azure = azure_new(NULL);
    struct client client;

    (void)state;
    put(azure, &client, TIMER_NEVER);
    task_cancel(client.task);
    loop_advance(azure->loop, 0);
    assert_true(client.ended);
    assert_int_equal(err_kind(client.err), ERR_CANCELED);
    err_free(client.err);
    loop_advance(azure->loop, 5000);
    assert_non_null(azure->model->disks);
    azure_free(azure);
}

static void test_closing_ends_what_is_under_way(void **state)
{
    struct azure *azure = azure_new(NULL);
    struct client client;

    (void)state;
    put(azure, &client, loop_now(azure->loop) + 500);
    loop_advance(azure->loop, 500);
    err_free(client.err);
    struct model *model = azure->model;
    assert_null(model->disks);
    azure_free(azure); /* and nothing is left that could touch it */
}

static void test_bounds_and_places(void **state)
{
    struct azure *azure = azure_new(NULL);
    struct client client;

    (void)state;
    start(azure, &client,
          (struct http_request){.url = "https://azsim/metadata/endpoints?api-version=2019-05-01",
                                .deadline = TIMER_NEVER,
                                .max_response = 10});
    assert_int_equal(err_kind(client.err), ERR_EXHAUSTED);
    err_free(client.err);

    azure_move(azure, NULL);
    start(azure, &client,
          (struct http_request){.url = "http://169.254.169.254/metadata/versions",
                                .deadline = TIMER_NEVER});
    assert_int_equal(err_kind(client.err), ERR_UNAVAILABLE);
    err_free(client.err);
    azure_free(azure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_take_their_time),
        cmocka_unit_test(test_an_answer_that_comes_too_late_is_lost_and_its_effect_is_not),
        cmocka_unit_test(test_a_client_that_is_cancelled_does_not_take_the_request_back),
        cmocka_unit_test(test_closing_ends_what_is_under_way),
        cmocka_unit_test(test_bounds_and_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
