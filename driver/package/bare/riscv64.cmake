# cmake -DCMAKE_TOOLCHAIN_FILE=bare/riscv64.cmake: GCC for 64-bit RISC-V, without a C library.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_FLAGS_INIT "-march=rv64gc -mabi=lp64d -mcmodel=medany")
set(CMAKE_ASM_FLAGS_INIT "-march=rv64gc -mabi=lp64d -mcmodel=medany")
set(NET_BARE riscv)
