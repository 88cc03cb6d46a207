/* azdiskctl: shows where every volume, replica and operation is, and why it waits; and moves pods
 * to their replicas. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "azdiskctl/command.h"
#include "azdiskctl/complete_run.h"
#include "azdiskctl/printable.h"
#include "azdiskctl/usage.h"
#include "lib/base/alloc.h"
#include "lib/http/tls_memory.h"
#include "lib/json/parse.h"

#define ROW(name) &command_##name,
static const struct command *const commands[] = {COMMANDS(ROW)};

/* A flag that was given and has no effect; NULL if there is none. */
static const char *useless_flag(const struct command *command, const struct flags *flags)
{
    const struct {
        const char *name;
        bool given;
    } some[] = {
        {"to", flags->to[0] != '\0'},
        {"all", flags->all},
        {"dry-run", flags->dry_run},
        {"timeout", flags->timeout_ms != DEFAULT_TIMEOUT_MS},
        {"node", flags->node[0] != '\0'},
        {"since", flags->since_ms != 0},
        {"zone", flags->zone[0] != '\0'},
        {"pod", flags->pod[0] != '\0'},
        {"follow", flags->follow},
        {"namespace", flags->namespace_[0] != '\0'},
        {"prices", flags->prices[0] != '\0'},
    };

    for (size_t i = 0; i < COUNT_OF(some); i++)
        if (some[i].given && !command_takes(command, some[i].name))
            return some[i].name;
    return NULL;
}

/* False, with a line about it, if the command has no such form. */
static bool has_its_output(const struct command *command, const struct flags *flags)
{
    if (output_is_offered(&command->writers, flags->output))
        return true;
    CLEANUP(freep) char *offered = outputs_offered(&command->writers);
    fprintf(stderr, "%s: %s: --output %s is not for this command, which has %s\n", flags->program,
            command->name, output_names[flags->output], offered);
    return false;
}

/* What the command is about is said, and once. */
static bool has_its_subject(const struct command *command, const struct flags *flags)
{
    bool all = flags->all && command->takes & TAKES_ALL;

    if (flags->n_names && !(command->takes & TAKES_NAMES))
        return false;
    if (command->takes & TAKES_NO_SUBJECT && !flags->subject)
        return true;
    return !command->subject == (!flags->subject && !all) && !(all && flags->subject);
}

/* NULL, with a line about it, if the command line has none. */
static const struct command *find_command(const struct flags *flags)
{
    for (size_t i = 0; flags->command && i < COUNT_OF(commands); i++) {
        const struct command *command = commands[i];

        if (strcmp(command->name, flags->command) != 0)
            continue;
        if (has_its_subject(command, flags))
            return command;
        if (command->subject && !flags->subject)
            fprintf(stderr, "%s: %s: missing %s (see --help)\n", flags->program, flags->command,
                    command->subject);
        else
            fprintf(stderr, "%s: %s: unexpected argument \"%s\" (see --help)\n", flags->program,
                    flags->command,
                    command->subject && flags->n_names ? flags->names[0] : flags->subject);
        return NULL;
    }
    fprintf(stderr, "%s: %s (see --help)\n", flags->program,
            flags->command ? "unknown command" : "missing command");
    return NULL;
}

/* ---- the run ---- */

static struct err *print(const struct program *program, const json_t *document)
{
    CLEANUP(freep)
    char *text = output_text(&program->command->writers, program->flags.output, document);

    return output_print(stdout, text);
}

/* What the cluster has said may be part of it. */
static void complain(const struct err *err)
{
    CLEANUP(freep) char *text = printable_text(err_message(err));

    fprintf(stderr, "azdiskctl: %s\n", text);
}

static void finish(struct task *self, struct program *program)
{
    if (!program->command->offline)
        session_close(self, &program->session);
    loop_stop(loop_of(self));
}

static void run(struct task *self, void *arg)
{
    struct program *program = arg;
    CLEANUP(json_decrefp) json_t *document = NULL;
    CLEANUP(err_freep) struct err *err = program->command->run(self, program, &document);

    if (!err && document)
        err = print(program, document);
    if (err) {
        complain(err);
        program->status = STATUS_FAILED;
    } else if (document && program->command->is_well && !program->command->is_well(document)) {
        program->status = STATUS_FOUND;
    }
    finish(self, program);
}

static void give_up(struct task *self, void *arg)
{
    finish(self, arg);
}

static int run_program(int argc, char *argv[])
{
    static struct program program;
    CLEANUP(loop_freep) struct loop *loop = NULL;
    int status;

    output_reserve();
    tls_memory_clear_freed();
    json_clear_freed();
    signal(SIGPIPE, SIG_IGN);
    if (complete_is_asked(argc, argv))
        return complete_run(argc, argv, commands, COUNT_OF(commands));
    CLEANUP(freep) char *usage = usage_of_commands(commands, COUNT_OF(commands));
    if (!flags_parse(argc, argv, usage, &program.flags, &status))
        return status;
    program.command = find_command(&program.flags);
    if (!program.command)
        return STATUS_FAILED;
    const char *useless = useless_flag(program.command, &program.flags);
    if (useless) {
        fprintf(stderr, "%s: %s: --%s has no effect (see --help)\n", program.flags.program,
                program.flags.command, useless);
        return STATUS_FAILED;
    }
    if (!has_its_output(program.command, &program.flags))
        return STATUS_FAILED;
    log_flags_apply(&program.flags.log);
    loop = loop_new();
    CLEANUP(err_freep)
    struct err *err =
        program.command->offline ? NULL : session_open(loop, &program.flags, &program.session);
    if (err) {
        complain(err);
        program.status = STATUS_FAILED;
    }
    loop_spawn(loop, "main", err ? give_up : run, &program);
    loop_run(loop);
    return program.status;
}

/* Steps, lines and --help were printed as well. */
int main(int argc, char *argv[])
{
    int status = run_program(argc, argv);
    CLEANUP(err_freep)
    struct err *err = status == STATUS_FAILED ? NULL : output_print(stdout, "");

    if (!err)
        return status;
    complain(err);
    return STATUS_FAILED;
}
