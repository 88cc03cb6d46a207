/* Writes that hang: until their limit, or until the very moment in which the lease runs out or its
 * candidate gives up. */
#include "lib/kube/lease.h"

#include "lib/base/alloc.h"
#include "lib/json/parse.h"
#include "lib/rt/wait.h"
#include "test/unit/expect.h"

enum { RENEW_DEADLINE_MS = 10 * 1000, RETRY_PERIOD_MS = 2000 };

/* It answers a renewal when the test says so, and the first write if it is to. */
struct scene {
    struct http_transport transport;
    struct loop *loop;
    struct kube *kube;
    struct lease *lease;
    struct waiters writes;
    struct timer answering;
    bool first_waits;
    unsigned written, answered; /* those that waited */
    unsigned acquired, lost;
    bool released;
};

static void answer_with(struct http_response *response, int status, const json_t *json)
{
    *response = (struct http_response){.status = status, .body = json_to_text(json)};
    response->body_length = strlen(response->body);
}

/* What was written is what is there now. */
static void answer_written(struct http_response *response, const char *body)
{
    CLEANUP(json_decrefp) json_t *object = NULL;

    assert_ok(json_parse_here(body, strlen(body), &object));
    json_object_set_new(json_object_get(object, "metadata"), "resourceVersion", json_string("1"));
    answer_with(response, 200, object);
}

static struct err *exchange(struct http_transport *transport, struct task *self,
                            const struct http_request *request, struct http_response *ret)
{
    struct scene *scene = CONTAINER_OF(transport, struct scene, transport);
    CLEANUP(json_decrefp) json_t *none = json_pack("{s:s}", "reason", "NotFound");

    if (strcmp(request->method, "GET") == 0) {
        answer_with(ret, 404, none);
        return NULL;
    }
    scene->written++;
    if (strcmp(request->method, "PATCH") == 0 ? !scene->released : scene->first_waits) {
        TRY(wait_for_change(self, &scene->writes, request->deadline));
        scene->answered++;
    }
    answer_written(ret, request->body);
    return NULL;
}

static void on_acquired(void *ctx)
{
    ((struct scene *)ctx)->acquired++;
}

static void on_lost(void *ctx)
{
    ((struct scene *)ctx)->lost++;
}

static void answer_write(void *ctx)
{
    waiters_wake(&((struct scene *)ctx)->writes);
}

static void release(struct task *self, void *arg)
{
    struct scene *scene = arg;

    scene->released = true;
    answer_write(scene);
    lease_release(self, scene->lease);
}

static void play(struct scene *scene)
{
    char server[] = "http://server";

    scene->transport.exchange = exchange;
    scene->loop = loop_new_virtual(1);
    waiters_init(&scene->writes);
    scene->kube = kube_new(scene->loop, &scene->transport, &(struct kube_config){.server = server});
    scene->lease = lease_new(scene->loop, &(struct lease_config){
                                              .kube = scene->kube,
                                              .namespace_ = "ns",
                                              .name = "leader",
                                              .identity = "me",
                                              .duration_ms = 15 * 1000,
                                              .renew_deadline_ms = RENEW_DEADLINE_MS,
                                              .retry_period_ms = RETRY_PERIOD_MS,
                                              .acquired = on_acquired,
                                              .lost = on_lost,
                                              .ctx = scene,
                                          });
}

static void end(struct scene *scene)
{
    kube_free(scene->kube);
    loop_free(scene->loop);
}

static void test_an_answer_at_the_last_moment(void **state)
{
    struct scene scene = {.answered = 0};

    (void)state;
    play(&scene);
    loop_advance(scene.loop, 1);
    assert_true(lease_is_held(scene.lease));
    loop_start_timer(scene.loop, &scene.answering, RENEW_DEADLINE_MS, answer_write, &scene);
    loop_advance(scene.loop, RENEW_DEADLINE_MS - 2);
    assert_true(lease_is_held(scene.lease));
    loop_advance(scene.loop, 10);
    assert_int_equal(scene.answered, 1);
    assert_int_equal(scene.acquired, 1);
    /* Nobody would renew it any more, so it is lost, and its owner knows. */
    assert_int_equal(scene.lost, 1);
    assert_false(lease_is_held(scene.lease));
    loop_spawn(scene.loop, "release", release, &scene);
    loop_run(scene.loop);
    assert_int_equal(scene.lost, 1);
    end(&scene);
}

/* The lease is good for three more seconds when the limit is reached. */
static void test_a_renewal_that_hung_is_tried_again_at_once(void **state)
{
    struct scene scene = {.answered = 0};

    (void)state;
    play(&scene);
    loop_advance(scene.loop, RETRY_PERIOD_MS + RENEW_DEADLINE_MS / 2 - 1);
    assert_int_equal(scene.written, 2); /* the object, and the renewal */
    loop_advance(scene.loop, 10);
    assert_int_equal(scene.written, 3);
    answer_write(&scene);
    loop_advance(scene.loop, RENEW_DEADLINE_MS / 2);
    assert_int_equal(scene.answered, 1);
    assert_int_equal(scene.lost, 0);
    assert_true(lease_is_held(scene.lease));
    loop_spawn(scene.loop, "release", release, &scene);
    loop_run(scene.loop);
    end(&scene);
}

/* It is given back, and whoever has ended does not begin to lead. */
static void test_a_lease_that_is_got_while_it_is_given_up(void **state)
{
    struct scene scene = {.first_waits = true};

    (void)state;
    play(&scene);
    loop_advance(scene.loop, 1);
    assert_false(lease_is_held(scene.lease));
    loop_spawn(scene.loop, "release", release, &scene);
    loop_run(scene.loop);
    assert_int_equal(scene.answered, 1);
    assert_int_equal(scene.written, 2);
    assert_int_equal(scene.acquired, 0);
    assert_int_equal(scene.lost, 0);
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_answer_at_the_last_moment),
        cmocka_unit_test(test_a_renewal_that_hung_is_tried_again_at_once),
        cmocka_unit_test(test_a_lease_that_is_got_while_it_is_given_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
