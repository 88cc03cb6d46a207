/* `azdiskctl completion`: what makes a shell complete azdiskctl's command lines. The scripts know
 * no command and no flag: they ask `azdiskctl __complete` (complete_run.h). */
#include <string.h>

#include "azdiskctl/command.h"
#include "azdiskctl/document.h"

/* bash parts a line at some letters inside of words, too, and replaces what is behind the last. */
static const char bash[] =
    "# bash completion of azdiskctl; to switch it on: source <(azdiskctl completion bash)\n"
    "_azdiskctl()\n"
    "{\n"
    "    local IFS=$' \\t\\n' line=${COMP_LINE:0:COMP_POINT} words answer word current kept\n"
    "    read -ra words <<<\"$line\"\n"
    "    [[ $line != *[[:blank:]] ]] || words+=('')\n"
    "    current=${words[-1]}\n"
    "    kept=${current%\"$2\"}\n"
    "    answer=$(azdiskctl __complete \"${words[@]:1}\" 2>/dev/null </dev/null)\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r word; do\n"
    "        case $word in\n"
    "        :0) compopt -o default ;;\n"
    "        :6) compopt -o nospace ;;\n"
    "        :*) ;;\n"
    "        *) word=${word%%$'\\t'*}; COMPREPLY+=(\"${word#\"$kept\"}\") ;;\n"
    "        esac\n"
    "    done <<<\"$answer\"\n"
    "}\n"
    "complete -F _azdiskctl azdiskctl\n";

static const char zsh[] =
    "#compdef azdiskctl\n"
    "# zsh completion of azdiskctl; to switch it on: source <(azdiskctl completion zsh)\n"
    "_azdiskctl()\n"
    "{\n"
    "    local -a before answer words_found behind\n"
    "    local word tab=$'\\t'\n"
    "    before=(\"${(@Q)words[2,CURRENT-1]}\")\n"
    "    answer=(${(f)\"$(azdiskctl __complete \"${before[@]}\" \"$PREFIX\" 2>/dev/null "
    "</dev/null)\"})\n"
    "    for word in \"${answer[@]}\"; do\n"
    "        case $word in\n"
    "        :0) compset -P 1 '--*='; _files; return ;;\n"
    "        :6) behind=(-S '') ;;\n"
    "        :*) ;;\n"
    "        *) word=${word//:/\\\\:}; words_found+=(\"${word/$tab/:}\") ;;\n"
    "        esac\n"
    "    done\n"
    "    _describe azdiskctl words_found \"${behind[@]}\"\n"
    "}\n"
    "if [[ $funcstack[1] == _azdiskctl ]]; then _azdiskctl; else compdef _azdiskctl azdiskctl; "
    "fi\n";

/* fish itself adds no blank behind "/" and "=", and completes files where the condition fails. */
static const char fish[] =
    "# fish completion of azdiskctl; to switch it on: azdiskctl completion fish | source\n"
    "function __azdiskctl_names_no_file\n"
    "    set -l words (commandline -opc)\n"
    "    set -l current (commandline -ct)\n"
    "    set -e words[1]\n"
    "    set -g __azdiskctl_answer (azdiskctl __complete $words \"$current\" 2>/dev/null "
    "</dev/null)\n"
    "    not contains -- :0 $__azdiskctl_answer\n"
    "end\n"
    "complete -c azdiskctl -f -n __azdiskctl_names_no_file "
    "-a '(string match -rv \"^:\" -- $__azdiskctl_answer)'\n";

static const char *const shells[] = {"bash", "zsh", "fish", NULL};
static const char *const scripts[] = {bash, zsh, fish};

/* NULL: there is none. */
static const char *script_of(const char *shell)
{
    for (size_t i = 0; shells[i]; i++)
        if (strcmp(shells[i], shell) == 0)
            return scripts[i];
    return NULL;
}

static void write_script(const json_t *document, struct buffer *out)
{
    buffer_printf(out, "%s", script_of(text_of(document, "shell")));
}

static struct err *run(struct task *self, struct program *program, json_t **ret)
{
    const char *shell = program->flags.subject, *script = script_of(shell);

    (void)self;
    if (!script)
        return err_new(ERR_INVALID, "completion: \"%s\" is none of the shells bash, zsh and fish",
                       shell);
    *ret = json_pack("{s:s, s:s}", "shell", shell, "script", script);
    return NULL;
}

const struct command command_completion = {
    .name = "completion",
    .subject = "SHELL",
    .help = "Prints the completion script of a shell, bash, zsh or fish",
    .completes = {.words = shells},
    .offline = true,
    .run = run,
    .writers = TEXT_ONLY(write_script),
};
