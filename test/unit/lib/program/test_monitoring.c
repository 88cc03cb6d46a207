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
    struct process process;
    int taken; /* a listening socket */
    char *taken_address;
};

static struct err *start(struct scene *scene, const char *health, const char *metrics, bool patient,
                         struct monitoring *ret)
{
    return monitoring_start(&scene->process,
                            &(struct monitoring_config){.health_address = health,
                                                        .metrics_address = metrics,
                                                        .metrics_patient = patient,
                                                        .metrics_files = {"--metrics-", "", "", ""},
                                                        .ready = always_ready},
                            ret);
}

static void expect_fault(struct task *self, struct scene *scene, const char *health,
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
    struct scene *scene = arg;
    struct monitoring monitoring = {0};

    monitoring_close(self, &monitoring); /* of a program that has failed before */
    expect_fault(self, scene, scene->taken_address, NULL, true, "--health-address: ");
    expect_fault(self, scene, "127.0.0.1:0", scene->taken_address, false, "--metrics-address: ");
    assert_ok(start(scene, NULL, NULL, false, &monitoring));
    assert_null(monitoring.health);
    assert_null(monitoring.metrics);
    assert_ok(start(scene, "127.0.0.1:0", scene->taken_address, true, &monitoring));
    assert_non_null(monitoring.health);
    assert_non_null(monitoring.metrics);
    monitoring_close(self, &monitoring);
    process_stop(&scene->process, false);
}

static void test_listeners_and_their_faults(void **state)
{
    static const struct log_flags quiet = {.verbosity = 0};
    struct scene scene = {.taken = -1};

    (void)state;
    assert_ok(listen_on("127.0.0.1:0", &scene.taken));
    scene.taken_address = mem_printf("127.0.0.1:%u", listen_port(scene.taken));
    process_init(&scene.process, "test", &quiet);
    assert_int_equal(process_run(&scene.process, body, &scene), 0);
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
