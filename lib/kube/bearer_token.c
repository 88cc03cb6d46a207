#include "lib/kube/bearer_token.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/alloc.h"
#include "lib/base/file.h"
#include "lib/base/secret.h"
#include "lib/kube/exec_plugin.h"
#include "lib/rt/wait.h"

enum {
    LARGEST_FILE = 64 * 1024,
    FILE_LIFETIME_MS = 60 * 1000, /* how old a token from a file may be; client-go's figure */
    US_IN_MS = 1000,
};

struct bearer_token {
    unsigned references;
    struct loop *loop;
    char *text; /* NULL: none, or none yet */
    unsigned serial;
    uint64_t until; /* loop_now() time from which on it is old */

    char *file;                       /* NULL: none */
    const struct exec_plugin *plugin; /* NULL: none */
    bool asking;                      /* the plug-in */
    struct waiters answered;
};

/* ---- its life ---- */

struct bearer_token *bearer_token_new(struct loop *loop, const struct kube_config *config)
{
    struct bearer_token *token = mem_alloc(sizeof *token);

    *token = (struct bearer_token){
        .references = 1,
        .loop = loop,
        .text = mem_strdup(config->token),
        .file = mem_strdup(config->token_file),
        .plugin = config->plugin,
    };
    waiters_init(&token->answered);
    return token;
}

struct bearer_token *bearer_token_ref(struct bearer_token *token)
{
    token->references++;
    return token;
}

void bearer_token_unref(struct bearer_token *token)
{
    if (--token->references > 0)
        return;
    secret_free(token->text);
    free(token->file);
    free(token);
}

/* ---- the next one ---- */

/* Takes the text. */
static void replace(struct bearer_token *token, char *text, uint64_t until)
{
    secret_free(token->text);
    token->text = text;
    token->serial++;
    token->until = until;
}

/* One that was good a moment ago serves on if the file cannot be read just now. */
static struct err *read_file(struct bearer_token *token)
{
    uint64_t until = loop_deadline(token->loop, FILE_LIFETIME_MS);
    char *text;
    struct err *err = file_read(token->file, LARGEST_FILE, &text, NULL);

    if (err && !token->text)
        return err_wrap(err_as(err, ERR_DENIED), "token");
    if (err) {
        err_free(err);
        token->until = until;
        return NULL;
    }
    text[strcspn(text, "\r\n")] = '\0';
    replace(token, text, until);
    return NULL;
}

/* One that has expired already serves once, in case that it is the clock that is wrong. */
static uint64_t end_of(const struct bearer_token *token, int64_t expires_us)
{
    int64_t left_us = expires_us - loop_wall_us(token->loop);

    if (!expires_us)
        return TIMER_NEVER;
    return left_us > 0 ? loop_now(token->loop) + (uint64_t)left_us / US_IN_MS : 0;
}

static struct err *ask_plugin(struct task *self, struct bearer_token *token)
{
    struct exec_credential credential;

    token->asking = true;
    struct err *err = exec_plugin_run(self, token->plugin, &credential);
    token->asking = false;
    waiters_wake(&token->answered);
    if (!err)
        replace(token, credential.token, end_of(token, credential.expires_us));
    return err;
}

struct err *bearer_token_freshen(struct task *self, struct bearer_token *token)
{
    while (token->asking)
        TRY(wait_for_change(self, &token->answered, TIMER_NEVER));
    if (loop_now(token->loop) < token->until)
        return NULL;
    if (token->file)
        return read_file(token);
    return token->plugin ? ask_plugin(self, token) : NULL;
}

/* ---- its use ---- */

const char *bearer_token_text(const struct bearer_token *token)
{
    return token->text;
}

unsigned bearer_token_serial(const struct bearer_token *token)
{
    return token->serial;
}

bool bearer_token_refused(struct bearer_token *token, unsigned serial)
{
    if (token->serial == serial)
        token->until = 0;
    return token->file || token->plugin;
}
