# cmake -DCMAKE_TOOLCHAIN_FILE=bare/riscv32.cmake: GCC for RV32IM, without a C library.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR riscv32)
set(CMAKE_C_COMPILER riscv64-unknown-elf-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
set(CMAKE_C_FLAGS_INIT "-march=rv32im -mabi=ilp32")
set(CMAKE_ASM_FLAGS_INIT "-march=rv32im -mabi=ilp32")
set(NET_BARE riscv)
