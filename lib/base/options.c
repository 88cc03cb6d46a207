#include "lib/base/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/alloc.h"
#include "lib/base/duration.h"

static struct err *set_bool(const struct option_row *row, const char *value)
{
    static const char *const spellings[][2] = {{"true", "false"}, {"1", "0"}, {"yes", "no"}};

    for (size_t i = 0; i < COUNT_OF(spellings); i++)
        for (int truth = 0; truth < 2; truth++)
            if (strcasecmp(value, spellings[i][1 - truth]) == 0) {
                *(bool *)row->target = truth;
                return NULL;
            }
    return err_new(ERR_INVALID, "\"%s\" is neither true nor false", value);
}

static struct err *set_int(const struct option_row *row, const char *value)
{
    char *end;

    errno = 0;
    int64_t number = strtoll(value, &end, 10);
    if (errno || end == value || *end || number < row->least || (row->most && number > row->most))
        return err_new(ERR_INVALID, "\"%s\" is not a whole number from %" PRId64 " to %" PRId64,
                       value, row->least, row->most ? row->most : INT64_MAX);
    *(int64_t *)row->target = number;
    return NULL;
}

static struct err *set_duration(const struct option_row *row, const char *value)
{
    uint64_t ms, least = (uint64_t)row->least, most = (uint64_t)row->most;
    char bound[DURATION_SIZE];

    TRY(duration_parse(value, &ms));
    if (ms < least || (most && ms > most)) {
        duration_format(ms < least ? least : most, bound);
        return err_new(ERR_INVALID, "\"%s\" is %s than %s", value,
                       ms < least ? "shorter" : "longer", bound);
    }
    *(uint64_t *)row->target = ms;
    return NULL;
}

static struct err *set_choice(const struct option_row *row, const char *value)
{
    CLEANUP(freep) char *allowed = mem_strdup(row->choices[0]);

    for (int i = 0; row->choices[i]; i++) {
        if (strcmp(value, row->choices[i]) == 0) {
            *(int *)row->target = i;
            return NULL;
        }
        if (i > 0) {
            char *longer = mem_printf("%s, %s", allowed, row->choices[i]);
            free(allowed);
            allowed = longer;
        }
    }
    return err_new(ERR_INVALID, "\"%s\" is not one of %s", value, allowed);
}

static struct err *add_word(const struct option_row *row, const char *value)
{
    struct option_list *list = row->target;

    if (list->n == OPTION_LIST_MOST)
        return err_new(ERR_INVALID, "given more than %d times", OPTION_LIST_MOST);
    list->words[list->n++] = value;
    return NULL;
}

static struct err *set_value(const struct option_row *row, const char *value)
{
    switch (row->type) {
    case OPTION_STRING:
        *(const char **)row->target = value;
        return NULL;
    case OPTION_BOOL:
        return set_bool(row, value);
    case OPTION_INT:
        return set_int(row, value);
    case OPTION_DURATION:
        return set_duration(row, value);
    case OPTION_CHOICE:
        return set_choice(row, value);
    case OPTION_LIST:
        return add_word(row, value);
    }
    abort();
}

static const struct option_row *find(const struct option_row *rows, size_t n, const char *name,
                                     size_t length)
{
    for (size_t i = 0; i < n; i++)
        if (strlen(rows[i].name) == length && strncmp(rows[i].name, name, length) == 0)
            return &rows[i];
    return NULL;
}

static struct err *parse_environment(const struct option_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *value = rows[i].environment ? getenv(rows[i].environment) : NULL;

        if (!value || !*value)
            continue;
        struct err *err = set_value(&rows[i], value);
        if (err)
            return err_wrap(err, "environment variable %s", rows[i].environment);
    }
    return NULL;
}

/* One flag, with the argument after it if the flag needs a value and has none; `i` moves on. */
static struct err *parse_flag(const struct option_row *rows, size_t n, char *const argv[], int *i)
{
    const char *name = argv[*i], *value;

    if (name[0] != '-' || !name[1])
        return err_new(ERR_INVALID, "unexpected argument \"%s\": flags are --name=value", name);
    name += name[1] == '-' ? 2 : 1;

    size_t length = strcspn(name, "=");
    const struct option_row *row = find(rows, n, name, length);
    if (!row)
        return err_new(ERR_INVALID, "unknown flag --%.*s (see --help)", (int)length, name);
    if (name[length] == '=')
        value = name + length + 1;
    else if (row->type == OPTION_BOOL)
        value = "true";
    else if (!(value = argv[++*i]))
        return err_new(ERR_INVALID, "--%s needs a value", row->name);

    struct err *err = set_value(row, value);
    return err ? err_wrap(err, "--%s", row->name) : NULL;
}

struct err *options_parse(const struct option_row *rows, size_t n, int argc, char *const argv[])
{
    TRY(parse_environment(rows, n));
    for (int i = 1; i < argc; i++)
        TRY(parse_flag(rows, n, argv, &i));
    return NULL;
}

static void print_default(const struct option_row *row)
{
    char text[DURATION_SIZE];

    switch (row->type) {
    case OPTION_STRING:
        printf("\"%s\"", *(const char **)row->target ? *(const char **)row->target : "");
        return;
    case OPTION_BOOL:
        printf("%s", *(bool *)row->target ? "true" : "false");
        return;
    case OPTION_INT:
        printf("%" PRId64, *(int64_t *)row->target);
        return;
    case OPTION_DURATION:
        duration_format(*(uint64_t *)row->target, text);
        printf("%s", text);
        return;
    case OPTION_CHOICE:
        printf("%s; one of", row->choices[*(int *)row->target]);
        for (int i = 0; row->choices[i]; i++)
            printf(" %s", row->choices[i]);
        return;
    case OPTION_LIST:
        printf("\"\"");
        return;
    }
}

void options_help(const struct option_row *rows, size_t n, const char *program, const char *about)
{
    printf("%s - %s\n\nUsage: %s [--flag=value ...]\n\n", program, about, program);
    for (size_t i = 0; i < n; i++) {
        printf("  --%s\n      %s (default ", rows[i].name, rows[i].help);
        print_default(&rows[i]);
        if (rows[i].environment)
            printf("; environment variable %s", rows[i].environment);
        printf(")\n");
    }
    printf("  --help\n      Print this and exit\n  --version\n      Print the version and exit\n");
}

bool options_start(const struct option_row *rows, size_t n, const char *program, const char *about,
                   int argc, char *const argv[], int *ret_status)
{
    *ret_status = 0;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--version") == 0) {
            printf("%s %s\n", program, VERSION);
            return false;
        }
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            options_help(rows, n, program, about);
            return false;
        }
    }
    CLEANUP(err_freep) struct err *err = options_parse(rows, n, argc, argv);
    if (!err)
        return true;
    return options_refuse(program, ret_status, "%s", err_message(err));
}

bool options_refuse(const char *program, int *ret_status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    CLEANUP(freep) char *text = mem_vprintf(format, args);
    va_end(args);
    fprintf(stderr, "%s: %s\n", program, text);
    *ret_status = 2;
    return false;
}
