/* port.h - what main.c needs from its environment: files and text. Hosted: stdio (port_hosted.c);
 * bare metal: semihosting (bare/semihosting.c). */
#ifndef PORT_H
#define PORT_H

#include <stdint.h>

/* Open a file to read (write 0) or to write from its beginning; negative if it cannot be opened. */
int port_open(const char *name, int write);
void port_close(int file);
/* Return the bytes read or written: fewer than n at the end of a file or after an error. */
uint32_t port_read(int file, void *to, uint32_t n);
uint32_t port_write(int file, const void *from, uint32_t n);
void port_print(const char *text);
/* Return the maximum stack bytes used so far; 0 if unknown. */
uint32_t port_stack_bytes(void);
/* With HD_IRQ or cores: sleep until a device's interrupt; return 1 if it is pending (struct
 * hd_mmio). */
int port_interrupt(void *ctx);
/* Return a clock for --time; 0 if there is none. */
uint64_t port_nanoseconds(void);

/* main.c: run all inferences in the input files; or, with rounds > 0, time that many inferences
 * with constant inputs. Returns the exit status. */
int package_main(uint32_t rounds);

#endif
