#include "test/sim/run.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/alloc.h"
#include "test/sim/coverage.h"

enum { MOST_CPU_S = 120, MOST_ERRORS = 8000 };

#define CRASH "I0 the program lives"
#define CRASH_LOSS "The controller ends, and begins anew, and ends."

/* ---- in the process ---- */

static void limit_cpu(void)
{
    struct rlimit limit = {MOST_CPU_S, MOST_CPU_S + 1};

    setrlimit(RLIMIT_CPU, &limit);
}

/* exit() also looks for leaks, where that is built in. */
__attribute__((noreturn)) static void play(const struct run *run)
{
    struct verdict verdict = {0};

    limit_cpu();
    if (!run->config.trace)
        dup2(run->errors, STDERR_FILENO);
    coverage_forget(); /* what the process that began this one has added up */
    sim_run(&run->config, &verdict);
    json_t *json =
        json_pack("{s:o, s:o}", "verdict", verdict_json(&verdict), "coverage", coverage_json());
    int failed = json_dumpfd(json, run->result, JSON_COMPACT);
    json_decref(json);
    coverage_forget();
    verdict_fini(&verdict);
    fflush(stdout);
    exit(failed ? 1 : 0);
}

/* ---- outside ---- */

void run_start(struct run *run, const struct sim_config *config)
{
    *run = (struct run){.config = *config};
    run->result = memfd_create("result", MFD_CLOEXEC);
    run->errors = memfd_create("errors", MFD_CLOEXEC);
    fflush(stdout);
    run->pid = fork();
    if (run->result < 0 || run->errors < 0 || run->pid < 0) {
        perror("azdisk-sim");
        exit(1);
    }
    if (run->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody would wait for it */
        play(run);
    }
}

/* The end of what it wrote to stderr: why it died. */
static char *last_errors(const struct run *run)
{
    off_t size = lseek(run->errors, 0, SEEK_END);
    off_t from = size > MOST_ERRORS ? size - MOST_ERRORS : 0;
    char *text = mem_alloc(MOST_ERRORS + 1);
    ssize_t length = pread(run->errors, text, MOST_ERRORS, from);

    text[length > 0 ? length : 0] = '\0';
    return text;
}

static void note_crash(const struct run *run, int status, struct verdict *verdict)
{
    verdict_fini(verdict);
    verdict->invariant = mem_strdup(CRASH);
    verdict->loss = mem_strdup(CRASH_LOSS);
    verdict->what = WIFSIGNALED(status) ? mem_printf("ended by %s", strsignal(WTERMSIG(status)))
                                        : mem_printf("ended with status %d", WEXITSTATUS(status));
    verdict->notes = last_errors(run);
}

static void read_result(struct run *run, int status, struct outcome *ret)
{
    lseek(run->result, 0, SEEK_SET);
    json_t *json = json_loadfd(run->result, 0, NULL);

    if (json)
        verdict_of_json(&ret->verdict, json_object_get(json, "verdict"));
    ret->coverage = json_incref(json_object_get(json, "coverage"));
    if (!json || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
        note_crash(run, status, &ret->verdict);
    json_decref(json);
    close(run->result);
    close(run->errors);
    run->pid = 0;
}

static double seconds(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

struct run *run_wait(struct run *runs, size_t n, struct outcome *ret)
{
    struct rusage usage;
    int status;
    pid_t pid = wait4(-1, &status, 0, &usage);

    *ret = (struct outcome){.cpu_s = seconds(&usage.ru_utime) + seconds(&usage.ru_stime)};
    for (size_t i = 0; pid > 0 && i < n; i++)
        if (runs[i].pid == pid) {
            read_result(&runs[i], status, ret);
            return &runs[i];
        }
    return NULL;
}

void run_once(const struct sim_config *config, struct outcome *ret)
{
    struct run run;

    run_start(&run, config);
    run_wait(&run, 1, ret);
}

void outcome_fini(struct outcome *outcome)
{
    verdict_fini(&outcome->verdict);
    json_decref(outcome->coverage);
    outcome->coverage = NULL;
}
