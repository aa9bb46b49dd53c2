/* riscv.c - start-up for one RISC-V hart of 32 or 64 bits in machine mode, the semihosting
 * sequence, and waiting for the external interrupt. */
#include "../port.h"
#include "bare.h"

/* Control registers, which plain -march=rv32im does not enable. */
#define ZICSR ".option arch, +zicsr\n\t"

extern uint32_t bss_start[], bss_end[];

/* The three instructions must be uncompressed and within one page. */
intptr_t bare_call(uintptr_t operation, const void *argument)
{
    register uintptr_t a0 __asm__("a0") = operation;
    register const void *a1 __asm__("a1") = argument;

    __asm__ volatile(".option push\n\t.option norvc\n\t.balign 16\n\t"
                     "slli x0, x0, 0x1f\n\tebreak\n\tsrai x0, x0, 7\n\t.option pop"
                     : "+r"(a0)
                     : "r"(a1)
                     : "memory");
    return (intptr_t)a0;
}

#if defined(HD_IRQ) || defined(HD_CORE_REGISTERS)
#define EXTERNAL (1u << 11) /* bit of mie and mip */

/* wfi also ends while mstatus.MIE is 0, so no trap is taken. The accelerator's line is the hart's
 * external interrupt; an interrupt controller in between must be enabled here. */
int port_interrupt(void *ctx)
{
    uintptr_t pending;

    (void)ctx;
    __asm__ volatile(ZICSR "csrs mie, %1\n\twfi\n\tcsrr %0, mip"
                     : "=&r"(pending)
                     : "r"(EXTERNAL)
                     : "memory");
    return (pending & EXTERNAL) != 0;
}
#endif

void prepare(void);
void prepare(void)
{
    for (uint32_t *to = bss_start; to != bss_end;)
        *to++ = 0;
    bare_main();
}

/* Set the stack, enable floating point, let traps end the run; other harts wait. */
__asm__(ZICSR ".section .text.start, \"ax\"\n"
              ".global start\n"
              "start:\n"
              "    csrr t0, mhartid\n"
              "    bnez t0, 2f\n"
              "    la t0, trap\n"
              "    csrw mtvec, t0\n"
              "    li t0, 0x6000\n"
              "    csrs mstatus, t0\n"
              "    la sp, stack_top\n"
              "    call prepare\n"
              "2:  wfi\n"
              "    j 2b\n"
              ".text\n");

void trap(void);
__attribute__((aligned(4))) void trap(void)
{
    const uintptr_t crashed[2] = {0x20023u, 1};

    bare_call(0x20, crashed);
    for (;;) {
    }
}
