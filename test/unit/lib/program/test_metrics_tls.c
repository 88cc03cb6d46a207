/* --metrics-address with certificates that are in files: what is wrong with them, and what becomes
 * of a listener when they change. */
#include <stdlib.h>

#include "lib/base/alloc.h"
#include "lib/program/monitoring.h"
#include "test/unit/captured_stderr.h"
#include "test/unit/lib/http/authority.h"
#include "test/unit/lib/http/on_loop.h"
#include "test/unit/lib/http/strangers.h"

enum { RELOAD_MS = 20 };

static struct {
    struct authority first, second;
    struct credentials old, renewed;
    char folder[32];
    char *certificate, *key, *client_ca; /* paths */
} pki = {.folder = "/tmp/test_metrics_tls.XXXXXX"};

static int make_pki(void **state)
{
    (void)state;
    authority_init(&pki.first, "first");
    authority_init(&pki.second, "second");
    authority_issue(&pki.first, "old", &pki.old);
    authority_issue(&pki.second, "renewed", &pki.renewed);
    assert_non_null(mkdtemp(pki.folder));
    pki.certificate = mem_printf("%s/tls.crt", pki.folder);
    pki.key = mem_printf("%s/tls.key", pki.folder);
    pki.client_ca = mem_printf("%s/ca.crt", pki.folder);
    return 0;
}

static int drop_pki(void **state)
{
    char *paths[] = {pki.certificate, pki.key, pki.client_ca};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(paths); i++) {
        unlink(paths[i]);
        free(paths[i]);
    }
    rmdir(pki.folder);
    authority_fini(&pki.first);
    authority_fini(&pki.second);
    credentials_fini(&pki.old);
    credentials_fini(&pki.renewed);
    return 0;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void write_pair(const struct credentials *credentials)
{
    write_file(pki.certificate, credentials->certificate_pem);
    write_file(pki.key, credentials->key_pem);
}

/* ---- a program ---- */

struct scene {
    struct process process;
    struct monitoring monitoring;
    char *health, *metrics; /* addresses */
    void (*act)(struct task *self, struct scene *scene);
};

static struct metric turns = {.name = "test_turns", .help = "Turns.", .type = METRIC_GAUGE};
static struct metric *const table[] = {&turns};

static struct err *ready(void *ctx)
{
    (void)ctx;
    return NULL;
}

static struct err *start(struct scene *scene, const char *client_ca)
{
    const struct monitoring_config config = {
        .health_address = scene->health,
        .metrics_address = scene->metrics,
        .metrics_files = {"--metrics-", pki.certificate, pki.key, client_ca},
        .reload_interval_ms = RELOAD_MS,
        .table = table,
        .n_table = COUNT_OF(table),
        .ready = ready,
    };

    return monitoring_start(&scene->process, &config, &scene->monitoring);
}

static void run(struct task *self, void *arg)
{
    struct scene *scene = arg;

    scene->act(self, scene);
    monitoring_close(self, &scene->monitoring);
    process_stop(&scene->process, false);
}

static void play(void (*act)(struct task *self, struct scene *scene))
{
    static const struct log_flags quiet = {.verbosity = 0};
    struct scene scene = {.health = free_address(), .metrics = free_address(), .act = act};

    process_init(&scene.process, "test", &quiet);
    assert_int_equal(process_run(&scene.process, run, &scene), 0);
    free(scene.health);
    free(scene.metrics);
}

/* By a client of its own, and so by a new connection. The status; 0: there was no answer. */
static int status_of(struct task *self, struct scene *scene, const char *url,
                     const struct http_client_config *config)
{
    CLEANUP(http_response_finip) struct http_response response = {0};
    struct loop *loop = scene->process.loop;
    struct http_request request = {.url = url, .deadline = loop_deadline(loop, 20 * 1000)};
    struct http_client *client;

    assert_ok(http_client_new(loop, config, &client));
    CLEANUP(err_freep)
    struct err *err = http_exchange(self, http_client_transport(client), &request, &response);
    http_client_free(client);
    return err ? 0 : response.status;
}

static bool is_trusted_by(struct task *self, struct scene *scene, const struct authority *authority)
{
    CLEANUP(freep) char *url = mem_printf("https://%s/metrics", scene->metrics);
    const struct http_client_config config = {
        .proxy = "",
        .ca_pem = authority->pem,
        .certificate_pem = pki.old.certificate_pem, /* for who asks for one */
        .key_pem = pki.old.key_pem,
    };

    return status_of(self, scene, url, &config) == 200;
}

static void until_trusted_by(struct task *self, struct scene *scene,
                             const struct authority *authority)
{
    while (!is_trusted_by(self, scene, authority))
        assert_ok(task_sleep(self, RELOAD_MS));
}

/* ---- files that cannot be used ---- */

static void expect_fault(struct task *self, struct scene *scene, const char *client_ca,
                         const char *flag, const char *reason)
{
    CLEANUP(err_freep) struct err *err = start(scene, client_ca);

    assert_non_null(err);
    assert_ptr_equal(strstr(err_message(err), flag), err_message(err));
    assert_non_null(strstr(err_message(err), reason));
    monitoring_close(self, &scene->monitoring);
    scene->monitoring = (struct monitoring){0};
}

static void name_faults(struct task *self, struct scene *scene)
{
    unlink(pki.certificate);
    expect_fault(self, scene, "", "--metrics-tls-cert-file: ", "No such file or directory");
    write_file(pki.certificate, pki.old.certificate_pem);
    unlink(pki.key); /* as of a Secret without tls.key */
    expect_fault(self, scene, "", "--metrics-tls-key-file: ", "No such file or directory");
    write_file(pki.key, "no key");
    expect_fault(self, scene, "", "--metrics-tls-cert-file ", "no PEM private key can be read");
    write_file(pki.key, pki.renewed.key_pem);
    expect_fault(self, scene, "", "--metrics-tls-cert-file ", "does not belong to the certificate");
    write_file(pki.key, pki.old.key_pem);
    write_file(pki.client_ca, "nobody");
    expect_fault(self, scene, pki.client_ca, "--metrics-client-ca-file ",
                 "no PEM certificate can be read");
}

static void test_faults_name_the_flag(void **state)
{
    (void)state;
    play(name_faults);
}

/* ---- what is shown where ---- */

static void look_at_both(struct task *self, struct scene *scene)
{
    static const struct http_client_config plain = {.proxy = ""};
    CLEANUP(freep) char *health = mem_printf("http://%s/readyz", scene->health);
    CLEANUP(freep) char *behind = mem_printf("http://%s/metrics", scene->health);
    CLEANUP(freep) char *metrics = mem_printf("http://%s/metrics", scene->metrics);

    write_pair(&pki.old);
    assert_ok(start(scene, ""));
    assert_true(is_trusted_by(self, scene, &pki.first));
    assert_int_equal(status_of(self, scene, metrics, &plain), 0);
    assert_int_equal(status_of(self, scene, health, &plain), 200);
    assert_int_equal(status_of(self, scene, behind, &plain), 404);
}

static void test_health_stays_plain_and_shows_no_metrics(void **state)
{
    (void)state;
    play(look_at_both);
}

/* ---- new files ---- */

static struct captured_stderr capture;

static bool was_said(const char *words)
{
    CLEANUP(freep) char *text = mem_alloc(MOST_CAPTURED);

    assert_in_range(pread(capture.file, text, MOST_CAPTURED - 1, 0), 0, MOST_CAPTURED - 2);
    return strstr(text, words) != NULL;
}

static void change_them(struct task *self, struct scene *scene)
{
    write_pair(&pki.old);
    assert_ok(start(scene, ""));
    assert_true(is_trusted_by(self, scene, &pki.first));

    write_file(pki.certificate, pki.renewed.certificate_pem); /* its key is not there yet */
    while (!was_said("does not belong to the certificate; continuing with the certificates read "
                     "before"))
        assert_ok(task_sleep(self, RELOAD_MS));
    assert_true(is_trusted_by(self, scene, &pki.first));
    write_file(pki.key, pki.renewed.key_pem);
    until_trusted_by(self, scene, &pki.second);
    assert_false(is_trusted_by(self, scene, &pki.first));
}

static void test_new_files_are_used_from_the_next_connection_on(void **state)
{
    (void)state;
    capture = capture_stderr();
    play(change_them);
    CLEANUP(freep) char *said = captured_text(capture);
    assert_null(strstr(said, "PRIVATE KEY"));
}

static void change_readers(struct task *self, struct scene *scene)
{
    write_pair(&pki.old);
    write_file(pki.client_ca, pki.second.pem);
    assert_ok(start(scene, pki.client_ca));
    assert_false(is_trusted_by(self, scene, &pki.first)); /* who shows one of the first */
    write_file(pki.client_ca, pki.first.pem);
    until_trusted_by(self, scene, &pki.first);
    write_file(pki.client_ca, pki.second.pem);
    while (is_trusted_by(self, scene, &pki.first))
        assert_ok(task_sleep(self, RELOAD_MS));
}

static void test_so_is_a_new_authority_of_readers(void **state)
{
    (void)state;
    play(change_readers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faults_name_the_flag),
        cmocka_unit_test(test_health_stays_plain_and_shows_no_metrics),
        cmocka_unit_test(test_new_files_are_used_from_the_next_connection_on),
        cmocka_unit_test(test_so_is_a_new_authority_of_readers),
    };

    return cmocka_run_group_tests(tests, make_pki, drop_pki);
}
