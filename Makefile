# make                      the program (build/heddle) and the Verilated model of sys16
# make sim MODEL=digits     run a network; also HW= ENGINE= HOST= WAVES= INPUT= EXPECT= STATS= PROG=
# make regress              run tests/regress.json, compare with the runs before
# make unit | check | test | nightly | check-rtl | formal | coverage | lint | format | registers | synth-check | bench-host | install | docs | dist | setup | clean
# All building is CMake's, all running heddle's; this file only strings them together.

SHELL = /bin/bash
.DEFAULT_GOAL = all

# A variable that nothing here reads is a slip of the pen: `make sim ENGIN=func` would run the RTL.
VARIABLES = MODEL HW ENGINE HOST WAVES INPUT EXPECT STATS PROG VENV MODELS SEED PART LIMIT HOURS RECORD PREFIX DESTDIR CC CXX PATH HOME
GIVEN := $(foreach v,$(.VARIABLES),$(if $(filter command,$(firstword $(origin $v))),$v))
UNKNOWN := $(firstword $(filter-out $(VARIABLES) HEDDLE_% XDG_% MAKE% CMAKE_% CCACHE_% -%,$(GIVEN)))
$(if $(UNKNOWN),$(error unknown variable $(UNKNOWN)$(shell .ci/near '$(UNKNOWN)' $(VARIABLES)); there are: $(VARIABLES)))

# Where the caller is: `make -C tree` has changed directory, and $PWD is still the caller's. Flag w says so,
# but not with -s or --no-print-directory.
CHANGED := $(or $(findstring w,$(firstword -$(MAKEFLAGS))),$(shell tr '\0' '\n' </proc/$$PPID/cmdline 2>/dev/null | \
	grep -E -m1 '^(-[a-zA-Z]*C|--directory)'))
export CALLER := $(if $(CHANGED),$(PWD),$(CURDIR))

# One build at a time per tree, however many `make sim` run at once; our flags are not CMake's. Ninja sees in a tenth of a
# second that nothing changed; a tree that another generator made stays with it.
LOCKED = mkdir -p build && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL CMAKE_GENERATOR=Ninja flock build/.lock
# The first build shows its progress, later ones what compilers print.
QUIET = $(and $(wildcard build/heddle),$(wildcard build/build.ninja),-- --quiet)

all: program
	build/heddle build --hw=sys16

program: build/.setup-build build/CMakeCache.txt
	@$(LOCKED) cmake --build build -j $$(nproc) --target heddle gen $(QUIET)

sim: program
	@.ci/sim

build/.setup-%: .ci/packages
	@.ci/setup $*
	@mkdir -p build && touch $@

build/CMakeCache.txt: | build/.setup-build
	@$(LOCKED) cmake -S . -B build >build/.configure.log || { cat build/.configure.log; exit 1; }

# Whoever tests has no warnings; whoever only builds may have a compiler that knows more of them.
everything: build/.setup-test build/CMakeCache.txt
	@$(LOCKED) cmake -S . -B build -DHEDDLE_WERROR=ON >build/.configure.log || { cat build/.configure.log; exit 1; }
	@$(LOCKED) cmake --build build -j $$(nproc)

# Levels of tests (tests/README.md): unit; check adds quick, and the format; test adds slow; the rest is nightly.
TESTS = ctest --test-dir build --output-on-failure --no-tests=error -j $$(($$(nproc) + 1))

unit: everything
	$(TESTS) -L '^unit$$'

check: everything format-check
	$(TESTS) -L '^(unit|quick)$$'

test: everything
	$(TESTS) -LE '^nightly$$'

# Tests that are nightly, random layers and networks from a fresh seed (SEED= repeats a run), and what else takes hours. What
# passed is kept, and the next call goes on; HOURS= ends one. SEED=new: a fresh seed. PART=50: each step in short.
nightly:
	@.ci/nightly $(SEED)

SOURCES = git ls-files -co --exclude-standard -- '*.c' '*.h' '*.cpp' | xargs -d '\n' -r ls -d 2>/dev/null

lint: everything lint-rtl format-check cppcheck

lint-rtl: everything
	@bash tests/hw/lint_rtl.sh || [ $$? -eq 77 ]

format-check: build/.setup-test
	@$(SOURCES) | xargs -d '\n' -r clang-format --dry-run --Werror

format: build/.setup-test
	@$(SOURCES) | xargs -d '\n' -r clang-format -i

cppcheck: everything
	@.ci/cppcheck

# Emitted C against LiteRT, XNNPACK and tflite-micro; VENV= an environment that has them, MODELS= names.
bench-host: program
	@python3 tests/bench/bench_host.py --venv '$(VENV)' $(MODELS)

# Speed of the Verilated models, their build, the cost of waves; cycles against memory latency and bandwidth.
bench-sim: program
	@bash tests/bench/bench_sim.sh

bench-memory: program
	@bash tests/bench/bench_memory.sh $(MODEL)

# Cycles of each layer beside SCALE-Sim and Vela; VENV= with tests/bench/requirements-peers.txt, MODELS= names.
bench-peers: program
	@python3 tests/bench/bench_peers.py --venv '$(VENV)' $(MODELS) || [ $$? -eq 77 ]

# The networks of tests/models on the four configurations; the history is in build/regress.
regress: program
	@build/heddle regress tests/regress.json -j $$(nproc) -o build/regress

# Benches of the RTL modules that changed since they last passed.
check-rtl: program
	@bash tests/hw/check_rtl.sh

# Proofs of RTL modules by yosys, and planted bugs that each must reject (tests/formal); half a minute.
formal: build/.setup-test build/.setup-build build/CMakeCache.txt
	@$(LOCKED) cmake --build build --target gen
	@python3 tests/formal/prove.py || [ $$? -eq 77 ]

# Line and toggle coverage of hw/rtl: benches and random layers, about half an hour (tests/hw/coverage.sh).
coverage: everything
	@bash tests/hw/coverage.sh

registers: build/.setup-build build/CMakeCache.txt
	@$(LOCKED) cmake --build build --target registers

# Cells, multipliers, memories of HW (default: all configurations) by yosys, Fmax of tiny; two hours and more.
synth: build/.setup-test build/.setup-build build/CMakeCache.txt
	@$(LOCKED) cmake --build build --target gen
	@hw/synth.sh $(HW)

# Cells of tiny's and sys8's units and Fmax of tiny's, against hw/units.csv; RECORD=1 writes it. Ten minutes.
synth-check: build/.setup-test build/.setup-build build/CMakeCache.txt
	@$(LOCKED) cmake --build build --target gen
	@hw/synth_check.sh $(if $(RECORD),--record) $(HW) || [ $$? -eq 77 ]

# PREFIX (default /usr/local), DESTDIR; program, libheddle, headers, what they need at run time.
install: build/.setup-build build/CMakeCache.txt
	@$(LOCKED) cmake --build build -j $$(nproc) --target installable
	@cmake --install build --prefix '$(or $(PREFIX),/usr/local)'

# All pages, manual pages and the C interface as an offline book with a search, build/docs/html.
docs: program
	@.ci/docs || [ $$? -eq 77 ]

# build/heddle-VERSION.tar.gz, the tree of the last commit, and its SHA-256: the same bytes each time.
dist:
	@.ci/dist

setup: build/.setup-build build/.setup-test

clean:
	rm -rf build

.PHONY: all program sim regress everything install unit check test nightly lint lint-rtl format-check format cppcheck registers \
	check-rtl formal coverage synth synth-check setup clean dist docs bench-host bench-peers bench-sim bench-memory
