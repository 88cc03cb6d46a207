/* bearer_token.h - the token by which a client is known to the API server, and where the next one
 * comes from.
 *
 * It is a fixed text, or the content of a file, which is read anew every minute, or what a
 * credential plug-in prints, which is run again when its token has expired. For client.c only,
 * whose clients of one account share one. Loop's thread.
 */
#pragma once

#include "lib/kube/config.h"
#include "lib/rt/loop.h"

struct bearer_token;

/* Of `config`, whose plug-in has to outlive it. */
struct bearer_token *bearer_token_new(struct loop *loop, const struct kube_config *config);
struct bearer_token *bearer_token_ref(struct bearer_token *token);
void bearer_token_unref(struct bearer_token *token);

/* Makes sure that the text is one that may be used now. DENIED if there is none to be had. Yields
 * where a plug-in is asked, which may take a person minutes; whoever else needs the token waits. */
struct err *bearer_token_freshen(struct task *self, struct bearer_token *token)
    __attribute__((warn_unused_result));
/* NULL: the account has none. Borrowed until the task yields. */
const char *bearer_token_text(const struct bearer_token *token);

/* Which of the texts it is that there have been, in order. */
unsigned bearer_token_serial(const struct bearer_token *token);
/* The server has refused that one. True if another one may be had: freshen it. */
bool bearer_token_refused(struct bearer_token *token, unsigned serial);
