/* completion.c - "heddle completion [bash|zsh|fish]" prints a shell's script; the script calls `heddle
 * completion words ...` with the words typed so far, so that options of targets from --target-dir
 * complete too. If no words are returned, the shell offers files. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

/* Bash treats the = of --engine=r as a separate word. */
static const char bash[] =
    "_heddle() {\n"
    "    local word words typed=()\n"
    "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD}\"; do\n"
    "        if [ \"$word\" = = ] || [[ ${typed[*]: -1} == *= ]]; then\n"
    "            typed[-1]+=$word\n"
    "        else\n"
    "            typed+=(\"$word\")\n"
    "        fi\n"
    "    done\n"
    "    words=$(\"${COMP_WORDS[0]}\" completion words \"${typed[@]}\" 2>/dev/null)\n"
    "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"${word#=}\")\n"
    "}\n"
    "complete -o default -F _heddle heddle\n";

/* No blank follows the = of an option with a value. */
static const char zsh[] =
    "#compdef heddle\n"
    "_heddle() {\n"
    "    local -a found\n"
    "    found=(${(f)\"$(\"$words[1]\" completion words \"${(@)words[2,CURRENT]}\" "
    "2>/dev/null)\"})\n"
    "    [[ $words[CURRENT] == --*=* ]] && compset -P '*='\n"
    "    if (( $#found )); then\n"
    "        compadd -S '' -- ${(M)found:#*=}\n"
    "        compadd -- ${found:#*=}\n"
    "    else\n"
    "        _files\n"
    "    fi\n"
    "}\n"
    "if [ \"$funcstack[1]\" = _heddle ]; then _heddle \"$@\"; else compdef _heddle heddle; fi\n";

/* Words that fish inserts are whole: --engine=func. Files are offered if there are no words. */
static const char fish[] =
    "function __heddle_words\n"
    "    set -l before (commandline -opc)\n"
    "    set -l last (commandline -ct)\n"
    "    set -l name (string match -r -- '^--[^=]*=' \"$last\")\n"
    "    for word in ($before[1] completion words $before[2..-1] \"$last\" 2>/dev/null)\n"
    "        echo -- \"$name$word\"\n"
    "    end\n"
    "end\n"
    "complete -c heddle -n 'count (__heddle_words) >/dev/null' -f\n"
    "complete -c heddle -a '(__heddle_words)'\n";

static const struct shell {
    const char *name, *script;
} shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

enum { N_SHELLS = sizeof shells / sizeof *shells };

/* Return the option whose value is being typed: the last word is --NAME=... */
static const struct heddle_option *value_wanted(const struct cli *p, const char *last)
{
    const char *equals = strchr(last, '=');

    return strncmp(last, "--", 2) == 0 && equals
               ? cli_row_of(p, last + 2, (size_t)(equals - last) - 2)
               : NULL;
}

static void print_words(const struct cli *p, int argc, char **argv)
{
    const struct heddle_option *o = value_wanted(p, argv[argc - 1]);

    for (size_t i = 0; o && o->words && o->words[i]; i++)
        puts(o->words[i]);
    if (o)
        return;
    for (const struct cli_command *c = cli_commands; argc == 4 && c->name; c++)
        puts(c->name);
    const struct cli_command *command = cli_typed_command(argc - 3, argv + 2);
    for (size_t i = 0; argv[argc - 1][0] == '-' && i < p->n_option; i++)
        if (command ? cli_shows(command, &p->option[i]) : !p->option[i].hidden)
            printf("--%s%s\n", p->option[i].name, p->option[i].value ? "=" : "");
}

int cli_asks_for_completion(struct cli *p, int argc, char **argv)
{
    if (argc < 2 || strcmp(argv[1], "completion") != 0)
        return 0;
    if (argc > 3 && strcmp(argv[2], "words") == 0) {
        print_words(p, argc, argv);
        return 1;
    }
    for (int i = 0; i < N_SHELLS; i++)
        if (strcmp(argc == 2 ? "bash" : argv[2], shells[i].name) == 0) {
            fputs(shells[i].script, stdout);
            return 1;
        }
    snprintf(p->wrong, sizeof p->wrong,
             "completion: found '%.60s', expected bash, zsh, fish or nothing", argv[2]);
    p->code = HEDDLE_USAGE;
    return 1;
}
