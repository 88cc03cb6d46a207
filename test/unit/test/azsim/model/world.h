/* world.h - what the words of a script (script.h) work on. */
#pragma once

#include "lib/base/buffer.h"
#include "test/azsim/model/disk.h"
#include "test/unit/test/azsim/model/script.h"

enum { MAX_OPERATIONS = 32 };

struct world {
    struct loop *loop;
    struct model *model;
    json_t *snapshot;
    char *operations[MAX_OPERATIONS]; /* ids */
    size_t n_operations;
    struct buffer devices;
    char *broken;
};

/* A word acts or looks, with the words behind it; what Azure refuses is returned. */
typedef struct refusal *word_fn(struct world *world, char **words, size_t n);

struct disk *find_disk(struct world *world, const char *name); /* or NULL */
struct refusal *note_operation(struct world *world, struct refusal *refusal,
                               const struct operation *operation);
/* A number of the script's own, which is written in it. */
int number_of(const char *word);
/* The i-th word, unless it is missing or "-". */
const char *word_or(char **words, size_t n, size_t i, const char *fallback);
/* Fails the test if the words from `from` on are not what was found. */
void expect_words(const char *found, char **words, size_t from, size_t n);

/* snapshot_words.c */
word_fn do_snapshot, do_restore, do_grow, do_forget, look_snapshot, look_percent;
