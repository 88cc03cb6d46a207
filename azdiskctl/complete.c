#include "azdiskctl/complete.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"

/* So many bytes of names are more than a person looks through; what else is added is short. */
enum { ENOUGH = 8 * 1024 * 1024, LARGEST = 2 * ENOUGH, LONGEST_NAME = 1024 };

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                              "-_./:@=+%,";

/* Values that are names of something, or files. */
static const struct {
    const char *flag;
    enum complete_directive directive;
    struct completion_names names;
} values[] = {
    {"kubeconfig", COMPLETE_FILES, {0}},
    {"cloud-config", COMPLETE_FILES, {0}},
    {"context", COMPLETE_WORDS, {.contexts = true}},
    {"namespace", COMPLETE_WORDS, {.resource = &NAMESPACES}},
    {"object-namespace", COMPLETE_WORDS, {.resource = &NAMESPACES}},
    {"to", COMPLETE_WORDS, {.resource = &NODES}},
    {"node", COMPLETE_WORDS, {.resource = &NODES}},
    {"pod", COMPLETE_WORDS, {.resource = &PODS}},
};

static bool begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* With what the help says up to its first semicolon. */
static void add(struct completion *completion, const char *word, const char *help)
{
    if (!begins_with(word, completion->begun))
        return;
    buffer_printf(&completion->words, "%s", word);
    if (help)
        buffer_printf(&completion->words, "\t%.*s", (int)strcspn(help, ";"), help);
    buffer_printf(&completion->words, "\n");
}

void completion_add_name(struct completion *completion, const char *name)
{
    size_t length = strlen(name);

    if (!length || *name == '-' || strspn(name, letters) != length)
        return;
    if (length > LONGEST_NAME || completion->words.length > ENOUGH)
        return;
    CLEANUP(freep) char *word = mem_printf("%s%s", completion->before, name);
    add(completion, word, NULL);
}

/* ---- flags ---- */

static void set_before(struct completion *completion, const char *text, size_t length)
{
    free(completion->before);
    completion->before = mem_strndup(text, length);
}

/* A table's words; of the forms of output those of the command. */
static void add_choices(struct completion *completion, const struct option_row *row,
                        const struct command *command)
{
    for (int i = 0; row->choices[i]; i++)
        if (row->choices != output_names || !command ||
            output_is_offered(&command->writers, (enum output)i))
            completion_add_name(completion, row->choices[i]);
}

/* `before` is what of the word in question is no part of the value. */
static void complete_value(struct completion *completion, const struct option_row *row,
                           const struct command *command)
{
    static const char *const truths[] = {"true", "false"};

    if (row->type == OPTION_CHOICE)
        add_choices(completion, row, command);
    for (size_t i = 0; row->type == OPTION_BOOL && i < COUNT_OF(truths); i++)
        completion_add_name(completion, truths[i]);
    for (size_t i = 0; i < COUNT_OF(values); i++)
        if (strcmp(values[i].flag, row->name) == 0) {
            completion->directive = values[i].directive;
            completion->names = values[i].names;
        }
}

static void complete_flag(struct completion *completion, const struct command *command)
{
    size_t n;
    const struct option_row *rows = flags_rows(&n);

    for (size_t i = 0; i < n; i++) {
        CLEANUP(freep) char *word = mem_printf("--%s", rows[i].name);

        if (!command || command_takes(command, rows[i].name))
            add(completion, word, rows[i].help);
    }
    add(completion, "--help", "Print this and exit");
    add(completion, "--version", "Print the version and exit");
}

/* ---- words ---- */

static void complete_command(struct completion *completion, const struct command *const *commands,
                             size_t n)
{
    for (size_t i = 0; i < n; i++)
        add(completion, commands[i]->name, commands[i]->help);
}

/* Names behind the kind are words of their own where several may be given. */
static void complete_kind(struct completion *completion, const struct command *command)
{
    bool apart = command->takes & TAKES_NAMES;
    struct named_kind kind;

    if (!apart)
        completion->directive = COMPLETE_STEMS;
    for (size_t i = 0; command->completes.kind(i, &kind); i++) {
        CLEANUP(freep) char *stem = mem_printf("%s%s", kind.words[0], apart ? "" : "/");

        add(completion, stem, NULL);
    }
}

static bool is_word_of(const struct named_kind *kind, const char *word, size_t length)
{
    for (size_t i = 0; kind->words[i]; i++)
        if (strlen(kind->words[i]) == length && strncasecmp(kind->words[i], word, length) == 0)
            return true;
    return false;
}

static void complete_names_of_kind(struct completion *completion, const struct command *command,
                                   const char *word, size_t length)
{
    struct named_kind kind;

    for (size_t i = 0; command->completes.kind(i, &kind); i++)
        if (is_word_of(&kind, word, length))
            completion->names =
                (struct completion_names){.resource = kind.resource, .role = kind.role};
}

/* What the command is about; what follows it if `subject` is said. */
static void complete_subject(struct completion *completion, const struct command *command,
                             const char *subject)
{
    const char *slash = strchr(completion->begun, '/');

    for (size_t i = 0; !subject && command->completes.words && command->completes.words[i]; i++)
        completion_add_name(completion, command->completes.words[i]);
    if (!subject)
        completion->names.resource = command->completes.resource;
    if (!command->completes.kind)
        return;
    if (subject && command->takes & TAKES_NAMES) {
        complete_names_of_kind(completion, command, subject, strlen(subject));
    } else if (!subject && slash) {
        size_t length = (size_t)(slash - completion->begun);

        set_before(completion, completion->begun, length + 1);
        complete_names_of_kind(completion, command, completion->begun, length);
    } else if (!subject) {
        complete_kind(completion, command);
    }
}

/* ---- the line ---- */

struct line {
    const char *words[2]; /* command and subject, as far as they are said */
    size_t n;
    const struct option_row *open; /* the flag whose value is in question; NULL: none */
};

static struct line read_line(char *const words[], size_t n)
{
    struct line line = {0};

    for (size_t i = 0; i < n; i++) {
        char *value = NULL;
        const struct option_row *row = flags_row(words[i], &value);

        if (row && !value && row->type != OPTION_BOOL)
            line.open = ++i == n ? row : NULL;
        else if (words[i][0] && words[i][0] != '-' && line.n < COUNT_OF(line.words))
            line.words[line.n++] = words[i];
    }
    return line;
}

static const struct command *find_command(const struct command *const *commands, size_t n,
                                          const char *name)
{
    for (size_t i = 0; name && i < n; i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

void complete(const struct command *const *commands, size_t n, char *const words[], size_t n_words,
              struct completion *ret)
{
    char *begun = words[n_words - 1], *value = NULL;
    const struct line line = read_line(words, n_words - 1);
    const struct command *command = find_command(commands, n, line.words[0]);
    const struct option_row *row = line.open ? line.open : flags_row(begun, &value);

    *ret = (struct completion){.begun = begun,
                               .directive = COMPLETE_WORDS,
                               .before = mem_strdup(""),
                               .n_whole = n_words - 1 - (line.open != NULL)};
    buffer_init(&ret->words, LARGEST);
    if (value)
        set_before(ret, begun, (size_t)(value - begun));
    if (row && (line.open || value))
        complete_value(ret, row, command);
    else if (begun[0] == '-')
        complete_flag(ret, command);
    else if (line.n == 0)
        complete_command(ret, commands, n);
    else if (command)
        complete_subject(ret, command, line.words[1]);
}

void completion_fini(struct completion *completion)
{
    buffer_fini(&completion->words);
    free(completion->before);
    *completion = (struct completion){0};
}

char *completion_text(const struct completion *completion)
{
    return mem_printf("%s:%d\n", completion->words.data ? completion->words.data : "",
                      (int)completion->directive);
}
