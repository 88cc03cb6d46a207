/* complete.h - what may stand where a person has come to on the command line, from the tables of
 * commands, flags and kinds. Pure: names of the cluster's objects are added by who reads them.
 *
 * It is printed as programs with Go's cobra print it, which kubectl understands: a line for each
 * word, with a tab and a sentence about it if there is one, and at last ":" with a directive.
 */
#pragma once

#include "azdiskctl/command.h"
#include "lib/base/buffer.h"

enum complete_directive {
    COMPLETE_FILES = 0, /* paths of files, which the shell knows */
    COMPLETE_WORDS = 4,
    COMPLETE_STEMS = 6, /* words that go on: no blank behind them */
};

struct completion {
    const char *begun; /* of the word in question */
    struct buffer words;
    enum complete_directive directive;
    struct completion_names {
        const struct api_resource *resource; /* NULL: none of objects */
        const char *role;                    /* of attachments; NULL: all */
        bool contexts;                       /* of the kubeconfig */
    } names;
    char *before;   /* what the names begin with: "pv/", "--to=" */
    size_t n_whole; /* of the words, those before the one in question that are complete */
};

/* The last one of the words is in question, which are behind azdiskctl; there is one at least. */
void complete(const struct command *const *commands, size_t n, char *const words[], size_t n_words,
              struct completion *ret);
void completion_fini(struct completion *completion);

/* One of the names. What a shell might take for more than a word is left out. */
void completion_add_name(struct completion *completion, const char *name);
/* free() it. */
char *completion_text(const struct completion *completion) __attribute__((warn_unused_result));
