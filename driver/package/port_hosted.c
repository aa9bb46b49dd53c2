/* port_hosted.c - run main.c on an operating system, in the current folder.
 *     net              run the inferences of in_0.bin, ..
 *     net --time 200   the best of 200 inferences */
#define _POSIX_C_SOURCE 199309L
#include "port.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static FILE *file[128];
static int n_file;

int port_open(const char *name, int write)
{
    if (n_file == 128)
        return -1;
    file[n_file] = fopen(name, write ? "wb" : "rb");
    return file[n_file] ? n_file++ : -1;
}

void port_close(int f)
{
    fclose(file[f]);
}

uint32_t port_read(int f, void *to, uint32_t n)
{
    return (uint32_t)fread(to, 1, n, file[f]);
}

uint32_t port_write(int f, const void *from, uint32_t n)
{
    return (uint32_t)fwrite(from, 1, n, file[f]);
}

void port_print(const char *text)
{
    fputs(text, stdout);
}

uint32_t port_stack_bytes(void)
{
    return 0;
}

uint64_t port_nanoseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--time") == 0 && atoi(argv[2]) > 0)
        return package_main((uint32_t)atoi(argv[2]));
    if (argc > 1) {
        fprintf(stderr, "usage: %s [--time ROUNDS]\n", argv[0]);
        return 2;
    }
    return package_main(0);
}
