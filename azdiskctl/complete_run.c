#include "azdiskctl/complete_run.h"

#include <stdlib.h>
#include <string.h>

#include "azdiskctl/complete.h"
#include "azdiskctl/plugin.h"
#include "azdiskctl/printable.h"
#include "lib/api/names.h"
#include "lib/base/alloc.h"
#include "lib/base/arena.h"
#include "lib/kube/kubeconfig_files.h"
#include "lib/kube/pages.h"

#define ASKED "__complete"

enum { PATIENCE_MS = 5 * 1000, PAGE = 500 };

struct work {
    struct session session;
    struct completion *completion;
    struct err *err;
};

/* ---- names ---- */

static void add_context_names(const json_t *kubeconfig, struct completion *completion)
{
    const json_t *contexts = json_object_get(kubeconfig, "contexts");

    for (size_t i = 0; i < json_array_size(contexts); i++) {
        const char *name = json_string_value(json_object_get(json_array_get(contexts, i), "name"));

        if (name)
            completion_add_name(completion, name);
    }
}

static struct err *add_contexts(const struct flags *flags, struct completion *completion)
{
    CLEANUP(kubeconfig_files_fini) struct kubeconfig_files files = {0};

    TRY(kubeconfig_files_read(flags->kubeconfig, &files));
    for (size_t i = 0; i < files.n; i++)
        add_context_names(files.items[i].document, completion);
    return NULL;
}

static void add_page(const json_t *page, struct completion *completion)
{
    const json_t *items = json_object_get(page, "items");

    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *metadata = json_object_get(json_array_get(items, i), "metadata");
        const char *name = json_string_value(json_object_get(metadata, "name"));

        if (name)
            completion_add_name(completion, name);
    }
}

static const char *namespace_of(const struct api_resource *resource, const struct session *session)
{
    if (!resource->namespaced)
        return NULL;
    return strcmp(resource->group, AZ_VOLUMES.group) == 0 ? session->flags->object_namespace
                                                          : session->namespace_;
}

static struct err *add_names(struct task *self, const struct session *session,
                             struct completion *completion)
{
    const struct completion_names *names = &completion->names;
    CLEANUP(freep)
    char *of_role = names->role ? mem_printf("%s=%s", LABEL_ROLE, names->role) : NULL;
    const struct kube_query query = {
        .label_selector = of_role, .metadata_only = true, .limit = PAGE};
    CLEANUP(kube_pages_fini) struct kube_pages pages;

    kube_pages_init(&pages, session->connection.kube, names->resource,
                    namespace_of(names->resource, session), &query);
    for (;;) {
        CLEANUP(json_decrefp) json_t *page = NULL;

        TRY(kube_pages_next(self, &pages, &page));
        if (!page)
            return NULL;
        add_page(page, completion);
    }
}

/* ---- the run ---- */

static void give_up(void *task)
{
    task_cancel(task);
}

static void ask_cluster(struct task *self, void *arg)
{
    struct work *work = arg;
    struct loop *loop = loop_of(self);
    struct timer patience = {0};

    loop_start_timer(loop, &patience, loop_deadline(loop, PATIENCE_MS), give_up, self);
    if (!work->err)
        work->err = add_names(self, &work->session, work->completion);
    loop_stop_timer(loop, &patience);
    session_close(self, &work->session);
    loop_stop(loop);
}

/* As the shell does before it runs the line: what it asks with is as it was typed. */
static void expand_home(struct arena *arena, char *words[], size_t n)
{
    const char *home = getenv("HOME");

    for (size_t i = 0; home && i < n; i++)
        if (strncmp(words[i], "~/", 2) == 0)
            words[i] = arena_printf(arena, "%s%s", home, words[i] + 1);
}

static struct err *add_what_there_is(struct completion *completion, char *argv[])
{
    CLEANUP(arena_freep) struct arena *arena = arena_new();
    struct work work = {.completion = completion};
    struct flags flags;

    if (!completion->names.resource && !completion->names.contexts)
        return NULL;
    expand_home(arena, argv + 1, completion->n_whole);
    TRY(flags_read((int)completion->n_whole + 1, argv, &flags));
    if (completion->names.contexts)
        return add_contexts(&flags, completion);
    flags.cloud_config = ""; /* Azure is not asked */
    CLEANUP(loop_freep) struct loop *loop = loop_new();
    work.err = session_open(loop, &flags, &work.session);
    loop_spawn(loop, "complete", ask_cluster, &work);
    loop_run(loop);
    return work.err;
}

bool complete_is_asked(int argc, char *const argv[])
{
    return plugin_completes(argv[0]) || (argc > 1 && strcmp(argv[1], ASKED) == 0);
}

int complete_run(int argc, char *argv[], const struct command *const *commands, size_t n)
{
    static char nothing[] = "";
    int skipped = plugin_completes(argv[0]) ? 0 : 1;
    char **words = argv + skipped + 1, *none[] = {nothing};
    int n_words = argc - skipped - 1;
    CLEANUP(completion_fini) struct completion completion;

    complete(commands, n, n_words ? words : none, n_words ? (size_t)n_words : 1, &completion);
    if (!freopen("/dev/null", "r", stdin))
        return STATUS_FAILED;
    CLEANUP(err_freep) struct err *err = add_what_there_is(&completion, argv + skipped);
    CLEANUP(freep) char *text = completion_text(&completion);
    fputs(text, stdout);
    if (!err)
        return STATUS_OK;
    CLEANUP(freep) char *message = printable_text(err_message(err));
    fprintf(stderr, "azdiskctl: %s\n", message);
    return STATUS_FAILED;
}
