/* say.c - write the library's texts to the streams: colours on terminals, progress with seconds. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

#define GREEN          "\033[1;32m"
#define YELLOW         "\033[1;33m"
#define RED            "\033[1;31m"
#define PLAIN          "\033[0m"
#define SECONDS_A_LINE 10

static double now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* NO_COLOR of https://no-color.org: set and not empty disables colours. */
static int colours(int stream)
{
    const char *none = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(stream) && !(none && *none) && !(term && strcmp(term, "dumb") == 0);
}

void cli_say_init(struct cli_say *s)
{
    *s = (struct cli_say){.colour_out = colours(STDOUT_FILENO),
                          .colour_err = colours(STDERR_FILENO),
                          .terminal = isatty(STDERR_FILENO),
                          .last = now()};
}

/* Print a verdict with its first word highlighted. */
static void result(const struct cli_say *s, const char *text)
{
    static const char verdict[] = "verdict: ";
    const char *word = text + sizeof verdict - 1;

    if (!s->colour_out || strncmp(text, verdict, sizeof verdict - 1) != 0) {
        fputs(text, stdout);
    } else {
        const size_t n = strcspn(word, ":,. \n");
        const char *colour = strncmp(word, "match", n) == 0 || strncmp(word, "PASS", n) == 0 ? GREEN
                             : strncmp(word, "within", n) == 0 ? YELLOW
                                                               : RED;
        printf("%s%s%.*s%s%s", verdict, colour, (int)n, word, PLAIN, word + n);
    }
    fflush(stdout); /* so that a pipe receives each trial of tune as it ends */
}

static void progress(struct cli_say *s, const char *text)
{
    const size_t n = strlen(text);
    const int stays = n > 0 && text[n - 1] == '\n';

    if (s->terminal) {
        fprintf(stderr, "\r\033[K%s", text);
    } else if (n > 0 && (now() - s->last >= SECONDS_A_LINE || (stays && s->any))) {
        fprintf(stderr, "heddle: %s%s", text, stays ? "" : "\n");
        s->last = now();
        s->any = !stays;
    }
    fflush(stderr);
}

void cli_say(void *ctx, enum heddle_text kind, const char *text)
{
    struct cli_say *s = ctx;

    if (kind == HEDDLE_TEXT_RESULT)
        result(s, text);
    else if (kind == HEDDLE_TEXT_NOTE)
        fprintf(stderr, "heddle: %s\n", text);
    else
        progress(s, text);
}

void cli_say_error(const struct cli_say *s, const char *text)
{
    fprintf(stderr, "%sheddle:%s %s\n", s->colour_err ? RED : "", s->colour_err ? PLAIN : "", text);
}
