#include "lib/program/monitoring.h"

#include "lib/base/alloc.h"
#include "lib/http/listen.h"
#include "test/unit/expect.h"

static struct err *always_ready(void *ctx)
{
    (void)ctx;
    return NULL;
}

struct scene {
    struct loop *loop;
    int taken; /* a listening socket */
    char *taken_address;
};

static struct err *start(const struct scene *scene, const char *health, const char *metrics,
                         bool patient, struct monitoring *ret)
{
    return monitoring_start(scene->loop,
                            &(struct monitoring_config){.health_address = health,
                                                        .metrics_address = metrics,
                                                        .metrics_patient = patient,
                                                        .ready = always_ready},
                            ret);
}

static void expect_fault(struct task *self, const struct scene *scene, const char *health,
                         const char *metrics, bool patient, const char *flag)
{
    struct monitoring monitoring = {0};
    CLEANUP(err_freep) struct err *err = start(scene, health, metrics, patient, &monitoring);

    assert_non_null(err);
    assert_ptr_equal(strstr(err_message(err), flag), err_message(err));
    monitoring_close(self, &monitoring);
}

static void body(struct task *self, void *arg)
{
    const struct scene *scene = arg;
    struct monitoring monitoring = {0};

    expect_fault(self, scene, scene->taken_address, NULL, true, "--health-address: ");
    expect_fault(self, scene, "127.0.0.1:0", scene->taken_address, false, "--metrics-address: ");
    assert_ok(start(scene, NULL, NULL, false, &monitoring));
    assert_null(monitoring.health);
    assert_null(monitoring.metrics);
    assert_ok(start(scene, "127.0.0.1:0", scene->taken_address, true, &monitoring));
    assert_non_null(monitoring.health);
    assert_non_null(monitoring.metrics);
    monitoring_close(self, &monitoring);
}

static void test_listeners_and_their_faults(void **state)
{
    struct scene scene = {.loop = loop_new()};

    (void)state;
    assert_ok(listen_on("127.0.0.1:0", &scene.taken));
    scene.taken_address = mem_printf("127.0.0.1:%u", listen_port(scene.taken));
    loop_spawn(scene.loop, "test", body, &scene);
    loop_run(scene.loop);
    loop_free(scene.loop);
    close(scene.taken);
    free(scene.taken_address);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listeners_and_their_faults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
