# The front door: verbs only. Everything real is in CMakeLists.txt and tools/.
T ?=
ALL ?=
PREFIX ?= /usr/local
SECONDS ?= 60

help: ## this list
	@sed -n 's/^\([a-z]*\):[^#]*## /\1	/p' Makefile | expand -t 12

build: ## the program, for developing (build/dev)
	@tools/setup.sh build test
	@[ -f build/dev/build.ninja ] || cmake --preset dev >/dev/null
	@cmake --build --preset dev

check: ## installs what tests need, builds, runs the tests twice (gcc; clang with ASan and UBSan); T=x: those that match x, once; ALL=1: all versions of all runtimes
	@tools/setup.sh build test $(if $(T),,live)
	@tools/check.py $(if $(T),--only '$(T)') $(if $(ALL),--all)

asan: ## the tests that match T under ASan and UBSan alone
	@tools/setup.sh build test
	@tools/check.py --preset asan $(if $(T),--only '$(T)')

fuzz: ## the fuzz target T=x for SECONDS=60
	@tools/fuzz.sh '$(T)' '$(SECONDS)'

lint: ## format, clang-tidy, shellcheck, layers, house rules
	@tools/setup.sh build test lint
	@tools/lint.py

fmt: ## formats the C files in place
	@git ls-files -co --exclude-standard '*.[ch]' | xargs clang-format -i

bench: ## measures against perf (docs/BENCH.md); T=x: the case x
	@tools/setup.sh build bench
	@bench/run $(T)

install: ## program, man pages, completion; PREFIX=/usr/local, DESTDIR
	@tools/setup.sh build
	@cmake --preset release >/dev/null
	@cmake --build --preset release
	@cmake --install build/release --prefix '$(PREFIX)'

clean: ## removes build/
	@rm -rf build

.PHONY: help build check asan fuzz lint fmt bench install clean
.DEFAULT_GOAL := build
