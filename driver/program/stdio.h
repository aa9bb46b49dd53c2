/* stdio.h - printing functions for a program of --prog on a processor without a C library
 * (program_print.c). */
#ifndef HD_PROGRAM_STDIO_H
#define HD_PROGRAM_STDIO_H

__attribute__((format(printf, 1, 2))) int printf(const char *format, ...);
int puts(const char *text);

#endif
