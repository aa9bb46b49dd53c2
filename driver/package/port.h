/* port.h - what main.c wants of its surroundings: files and text. Hosted: stdio (port_hosted.c);
 * bare metal: semihosting (bare/semihosting.c). */
#ifndef PORT_H
#define PORT_H

#include <stdint.h>

/* A file to read (write 0) or to write from its beginning; negative if it cannot be opened. */
int port_open(const char *name, int write);
void port_close(int file);
/* Bytes read or written: fewer than n at the end of a file, or when something failed. */
uint32_t port_read(int file, void *to, uint32_t n);
uint32_t port_write(int file, const void *from, uint32_t n);
void port_print(const char *text);
/* Bytes of stack used so far, at most; 0 where that is not known. */
uint32_t port_stack_bytes(void);
/* With HD_IRQ or cores: sleep until a device's interrupt; 1 if it is pending (struct hd_mmio). */
int port_interrupt(void *ctx);
/* A clock for --time; 0 where there is none. */
uint64_t port_nanoseconds(void);

/* main.c. Run all inferences that the input files hold; or, with rounds > 0, time that number of
 * inferences with inputs full of one value. Returns the exit status. */
int package_main(uint32_t rounds);

#endif
