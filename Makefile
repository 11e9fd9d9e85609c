# attention.cpp. `make` lists what can be done; everything built goes to build/, everything made to out/.
#
# One tree of rules serves every flavour of the build: VARIANT=double|debug|san|tsan|pic compiles the
# same sources with other flags into build/VARIANT/. Sources are found by pattern: a new file needs no edit here.

VARIANT ?= release
ifeq ($(filter $(VARIANT),release double debug san tsan pic),)
  $(error VARIANT=$(VARIANT): there are release, double, debug, san, tsan and pic)
endif
B := build$(if $(filter-out release,$(VARIANT)),/$(VARIANT))
O := $(B)/obj

ifneq ($(filter $(VARIANT),tsan),)
  CXX := clang++
endif
CPPFLAGS := -I. -MMD -MP
CXXFLAGS := -std=c++20 -fno-math-errno -fno-trapping-math -Wall -Wextra -Wpedantic -fopenmp \
            -ffunction-sections -fdata-sections
GCC      := $(if $(findstring clang,$(shell $(CXX) --version 2>/dev/null)),,yes)
# g++ 12 takes "a" + std::string for overlapping memory, and a vector in a list for one without: not ours, and not true.
CXXFLAGS += $(if $(GCC),-Wno-restrict -Wno-free-nonheap-object)
comma    := ,
# A program gets the functions that it calls, and need not be linked with what the others would call.
LDLIBS   := $(if $(filter Darwin,$(shell uname)),-dead_strip,-Wl$(comma)--gc-sections) -lfmt -lutf8proc
# What the numbers go through, core/, is worth the optimizer's time. The rest is -Og: three quarters of what -O1 takes,
# and the programs are no slower.
COLD     := -Og
HOT      := -O3
OPTIMIZE := $(COLD)
ifeq ($(VARIANT),double)
  CPPFLAGS += -DATTN_DOUBLE
endif
ifeq ($(VARIANT),debug)
  HOT      := $(COLD)
  CXXFLAGS += -g
endif
ifeq ($(VARIANT),san)
  # With sanitizers g++ takes parts of <regex> for uninitialized: not ours, and not true.
  HOT      := $(COLD)
  CXXFLAGS += -g1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer \
              -Wno-maybe-uninitialized
endif
ifeq ($(VARIANT),tsan)
  HOT      := $(COLD)
  CXXFLAGS += -g1 -fsanitize=thread
endif
ifeq ($(VARIANT),pic)
  CXXFLAGS += -fPIC
endif

# The kernels are compiled once per instruction set and chosen at start: see core/kernels.hpp.
ifneq ($(filter x86_64%,$(shell uname -m)),)
  TARGETS := baseline v3 v4
endif
TARGETS ?= baseline
# Of these, what a program needs that runs on this machine only: the widest that core/kernels.cpp will choose, if the
# system tells.
CPU     := $(shell grep -m1 ^flags /proc/cpuinfo 2>/dev/null)
cpu_has  = $(if $(filter-out $(CPU),$(1)),,yes)
HERE    := $(or $(if $(wildcard /proc/cpuinfo),,$(TARGETS)),$(filter $(TARGETS),$(if $(call cpu_has,avx2 fma bmi2), \
             $(if $(call cpu_has,avx512f avx512vl avx512bw avx512dq),v4,v3))),baseline)
# Where there are the others, this one is for processors from before 2013.
TARGET_FLAGS_baseline := $(if $(filter v3,$(TARGETS)),-O1)
TARGET_FLAGS_v3 := -march=x86-64-v3
TARGET_FLAGS_v4 := -march=x86-64-v4 -mprefer-vector-width=512

# g++ parses the headers of the standard library and of fmt once and not for every source, which is half of a build.
# (What is hot needs so little of them that it compiles sooner without.)
H       := $(if $(filter double,$(VARIANT)),build/obj,$(O))
HEADERS := $(if $(GCC),$(H)/standard.hpp.gch)
COMPILE  = $(CXX) $(CPPFLAGS) $(if $(GCC),$(if $(filter $(COLD),$(OPTIMIZE)),-include $(H)/standard.hpp)) $(CXXFLAGS) $(OPTIMIZE)
# By default ccache leaves alone what is compiled with precompiled headers.
export CCACHE_SLOPPINESS ?= pch_defines,time_macros

# What a program is made of follows from what its sources include, and which sources are compiled together: .ci/needs.
SOURCES := $(shell find -H core nn optim lessons notebooks_cpp tests -name '*.[ch]pp')
build/needs.mk: .ci/needs $(SOURCES)
	@mkdir -p $(@D)
	@awk -f .ci/needs $(SOURCES) >$@
include build/needs.mk
ifneq ($(sort $(KNOWN)),$(sort $(SOURCES)))
  $(shell rm -f build/needs.mk)  # a source is gone: make writes it again
endif
# $(call objects_of,SOURCES). Parts that never see `real` are compiled once for both float and double. Under tsan every
# source is a part, so that somebody notices a forgotten include.
parts_of    = $(sort $(if $(filter tsan,$(VARIANT)),$(1:.cpp=),$(foreach source,$(1),$(PART_$(source)))))
SHARED     := $(if $(filter double,$(VARIANT)),$(call parts_of,$(PLAIN)))
objects_of  = $(patsubst %,$(O)/%.o,$(filter-out $(SHARED),$(call parts_of,$(1)))) \
              $(patsubst %,build/obj/%.o,$(filter $(SHARED),$(call parts_of,$(1))))
# The source of a part includes those that are in it. It is written again only if these are others.
$(sort $(PARTS:%=build/parts/%.cpp)): build/parts/%.cpp: build/needs.mk
	@mkdir -p $(@D)
	@printf '#include "%s"\n' $(sort $(SOURCES_$*)) | cmp -s - $@ || printf '#include "%s"\n' $(sort $(SOURCES_$*)) >$@
# $(call objects,MAIN_SOURCE): all that this program needs.
objects     = $(call objects_of,$(filter-out core/kernels/%,$(NEEDS_$(1)))) \
              $(if $(filter core/kernels.cpp,$(NEEDS_$(1))),$(KERNEL_OBJECTS))
# $(call objects_here,MAIN_SOURCE): the same, with no more kernels than this machine will use.
objects_here = $(filter-out $(O)/core/kernels.o $(KERNEL_OBJECTS),$(call objects,$(1))) \
               $(if $(filter core/kernels.cpp,$(NEEDS_$(1))),$(O)/core/kernels.for_$(lastword $(HERE)).o $(HERE:%=$(O)/core/kernels.%.o))

LIB_SOURCES    := $(sort $(wildcard core/*.cpp core/viz/*.cpp nn/*.cpp nn/text/*.cpp optim/*.cpp))
KERNEL_SOURCES := $(sort $(wildcard core/kernels/*.cpp))
KERNEL_OBJECTS := $(TARGETS:%=$(O)/core/kernels.%.o)
LIB_OBJECTS    := $(call objects_of,$(LIB_SOURCES)) $(KERNEL_OBJECTS)
LIB            := $(B)/libattn.a
PRESS_SOURCES  := $(filter-out %main.cpp,$(sort $(wildcard notebooks_cpp/press/*.cpp)))
# What lessons, notebooks and the press share.
SUPPORT_SOURCES := $(filter-out %main.cpp,$(sort $(wildcard lessons/support/*.cpp)))
SUPPORT_OBJECTS := $(call objects_of,$(SUPPORT_SOURCES))
# Lesson 13 and the press are tested like the library: all of them but their mains.
UNIT_SOURCES   := $(sort $(wildcard tests/unit/*.cpp tests/unit/*/*.cpp)) $(SUPPORT_SOURCES) \
                  lessons/coach/mistakes.cpp lessons/coach/mutants.cpp \
                  $(filter-out %/lesson.cpp,$(wildcard lessons/13_translator/*.cpp)) \
                  $(PRESS_SOURCES) $(filter-out %main.cpp,$(wildcard notebooks_cpp/check/*.cpp)) \
                  notebooks_cpp/notebook.cpp notebooks_cpp/live/live.cpp
ifeq ($(VARIANT),double)
  # Tests of what has no `real`, and of lessons and pages, which have no gradients of their own, run once, with floats.
  UNIT_SOURCES := $(filter-out $(PLAIN),$(filter tests/unit/core/% tests/unit/ops/% tests/unit/nn/% tests/unit/text/% \
                    tests/unit/optim/%,$(UNIT_SOURCES))) tests/unit/main.cpp
endif
UNIT_OBJECTS   := $(call objects_of,$(UNIT_SOURCES))
LESSON_NAMES   := $(notdir $(patsubst %/lesson.cpp,%,$(sort $(wildcard lessons/[0-9]*/lesson.cpp))))
LESSONS        := $(LESSON_NAMES:%=$(B)/lessons/%)
LESSON_NUMBERS := $(foreach l,$(LESSON_NAMES),$(firstword $(subst _, ,$(l))))

include lessons/coach/coach.mk
include lessons/mine/mine.mk
include notebooks_cpp/press/press.mk
include notebooks_cpp/check/check.mk
include notebooks_cpp/kernel/kernel.mk
include notebooks_cpp/live/live.mk

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-print-directory
ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
  MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif

# What measures or trains runs one after the other, also as `make lessons notebooks book`.
ifeq ($(MAKELEVEL),0)
ifneq ($(word 2,$(filter test lessons notebooks live book check-pages bench $(LESSON_NUMBERS),$(MAKECMDGOALS))),)
.NOTPARALLEL:
endif
endif
# Threads that wait for each other soon sleep: it costs a little on a quiet machine and saves most of the time on a
# busy one, where g++'s OpenMP would spin while its partner has no core. Benchmarks keep the default, like their peers.
test-all lessons notebooks book $(LESSON_NUMBERS): export GOMP_SPINCOUNT ?= 1000

.PHONY: help
help:  ## list what can be done
	@awk -F ':.*## ' '/^[a-zA-Z0-9_%-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' $(filter-out %.d,$(MAKEFILE_LIST))

# --- packages: checked once, remembered in build/packages.ok ---
build/packages.ok: .ci/packages
	@sh .ci/packages
	@mkdir -p build && touch $@

.PHONY: all
all: build/packages.ok  ## build everything, run nothing
	@$(MAKE) build-all

.PHONY: build-all
build-all: $(LIB) $(B)/tests/unit $(LESSONS) build/gallery build/coach $(GRADING) $(MINE) build/check_pages

# --- the library ---
# It converts between numbers only where it says so. Signs may change: Index, which is signed, also indexes the containers
# of the standard library.
$(H)/standard.hpp.gch: .ci/standard.hpp | build/packages.ok
	@mkdir -p $(@D)
	@cp $< $(@:.gch=)
	$(CXX) $(CXXFLAGS) $(COLD) -x c++-header $< -o $@

define object_rules
$(1)/%.o: %.cpp | build/packages.ok $$(HEADERS)
	@mkdir -p $$(@D)
	$$(COMPILE) -c $$< -o $$@
$(1)/%.o: build/parts/%.cpp | build/packages.ok $$(HEADERS)
	@mkdir -p $$(@D)
	$$(COMPILE) -c $$< -o $$@
$(1)/core/%.o $(1)/nn/%.o $(1)/optim/%.o: CXXFLAGS += -Wconversion -Wno-sign-conversion
$(1)/core/%.o: OPTIMIZE := $$(HOT)
$(1)/core/viz/%.o $(1)/core/plain.o: OPTIMIZE := $$(COLD)
endef
$(foreach o,$(O) $(if $(SHARED),build/obj),$(eval $(call object_rules,$(o))))

define kernel_rule
$(O)/core/kernels.$(1).o: build/parts/core/kernels/all.cpp | build/packages.ok
	@mkdir -p $$(@D)
	$$(CXX) $$(CPPFLAGS) $$(CXXFLAGS) $$(HOT) -DATTN_TARGET=$(1) $$(TARGET_FLAGS_$(1)) -c $$< -o $$@
endef
$(foreach t,$(TARGETS),$(eval $(call kernel_rule,$(t))))

$(O)/core/kernels.o: CPPFLAGS += $(TARGETS:%=-DATTN_HAS_%)
$(O)/core/kernels.for_$(lastword $(HERE)).o: CPPFLAGS += $(HERE:%=-DATTN_HAS_%)
$(O)/core/kernels.for_$(lastword $(HERE)).o: core/kernels.cpp | build/packages.ok $(HEADERS)
	@mkdir -p $(@D)
	$(COMPILE) -c $< -o $@

$(LIB): $(LIB_OBJECTS)
	@rm -f $@ && ar rcs $@ $^

# --- several processes: a library that programs load under mpirun, see optim/mpi/mpi_group.cpp ---
.PHONY: mpi check-mpi
mpi: build/packages.ok  ## join processes and machines: installs Open MPI; then `mpirun -n 4 build/lessons/13_translator …`
	@sh .ci/packages libopenmpi-dev openmpi-bin
	@$(MAKE) build/libattn_mpi.so
build/libattn_mpi.so: optim/mpi/mpi_group.cpp core/real.cpp optim/group.hpp core/error.hpp core/kernels.hpp
	@mkdir -p $(@D)
	OMPI_CXX="$(CXX)" mpicxx -I. $(CXXFLAGS) -fPIC -shared $(filter %.cpp,$^) -lfmt -o $@
check-mpi: build/packages.ok  ## the same bits on 1, 2, 3 and 4 processes, and after 20 of them were killed
	@$(MAKE) mpi build/lessons/13_translator
	@tests/run tests/mpi

# --- the library for other programs: pkg-config and CMake find it under PREFIX ---
PREFIX  ?= /usr/local
VERSION := 1.0
PUBLIC  := $(wildcard core/*.hpp core/viz/*.hpp nn/*.hpp nn/text/*.hpp optim/*.hpp)
.PHONY: install
install: build/packages.ok  ## install headers and library: `make install PREFIX=$$HOME/.local`
	@$(MAKE) build/libattn.a
	@for header in $(PUBLIC); do install -D -m 644 $$header $(DESTDIR)$(PREFIX)/include/attention/$$header || exit 1; done
	@install -D -m 644 build/libattn.a $(DESTDIR)$(PREFIX)/lib/libattn.a
	@mkdir -p $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/lib/cmake/attention
	@sed 's|@PREFIX@|$(abspath $(PREFIX))|; s|@VERSION@|$(VERSION)|' .ci/attention.pc.in >$(DESTDIR)$(PREFIX)/lib/pkgconfig/attention.pc
	@cp .ci/attention-config.cmake $(DESTDIR)$(PREFIX)/lib/cmake/attention/attention-config.cmake
	@echo "Installed under $(DESTDIR)$(PREFIX): pkg-config --cflags --libs attention"

# --- tests ---
$(B)/tests/unit: $(UNIT_OBJECTS) $(LIB)
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@

.PHONY: test
test: build/packages.ok  ## build and run every test (float and double); last line: N passed, N failed
	@sh .ci/packages clang-format
	@$(MAKE) test-all

.PHONY: test-all
test-all:
	@$(MAKE) $(B)/tests/unit $(B)/tests/fuzzer $(B)/tests/kill $(B)/tests/watch $(B)/tests/make_weights $(LESSONS) build/coach build/tests/coach $(ANSWERS) $(MINE)
	@$(MAKE) VARIANT=double build/double/tests/unit
	@# The longest first, so that no core waits at the end.
	@tests/run build/tests/coach tests/lessons "build/coach check-course" tests/mine build/double/tests/unit $(B)/tests/unit \
	           tests/readme $(B)/tests/fuzzer $(B)/tests/kill $(B)/tests/watch tests/commands tests/weights/run \
	           tests/install/run tests/format

.PHONY: san tsan
san: build/packages.ok  ## the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@$(MAKE) VARIANT=san build/san/tests/unit
	@tests/run build/san/tests/unit
tsan: build/packages.ok  ## the tests under ThreadSanitizer (clang++, libomp with Archer)
	@sh .ci/packages clang libclang-rt-dev libomp-dev
	@$(MAKE) VARIANT=tsan build/tsan/tests/unit
	@TSAN_OPTIONS="ignore_noninstrumented_modules=1 allocator_may_return_null=1" \
	  OMP_TOOL_LIBRARIES=$$(clang++ -print-resource-dir)/../../libarcher.so tests/run build/tsan/tests/unit

# --- lessons: compiled with their prose as calls, see lessons/support/prose.hpp ---
build/make_prose: $(call objects,lessons/support/prose_main.cpp)
	$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@
$(LESSON_NAMES:%=$(B)/prose/%.cpp): $(B)/prose/%.cpp: lessons/%/lesson.cpp build/make_prose
	@mkdir -p $(@D)
	@build/make_prose $< $@
$(LESSON_NAMES:%=$(O)/lessons/%/lesson.o): $(O)/lessons/%/lesson.o: $(B)/prose/%.cpp | $(HEADERS)
	@mkdir -p $(@D)
	$(COMPILE) -c $< -o $@
# Lesson 03 measures the kernels of all instruction sets, and its own loops.
$(foreach l,$(LESSON_NAMES),$(eval $(B)/lessons/$(l): \
  $(call objects$(if $(filter 03_%,$(l)),,_here),lessons/$(l)/lesson.cpp)))
$(LESSONS):
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@
$(O)/lessons/03_fast_matmul/%.o: OPTIMIZE := $(HOT)

.PHONY: lessons gallery readme-pictures $(LESSON_NUMBERS)
NN:  ## build and run lesson NN, for example `make 06 ARGS="--seed 2"`
$(LESSON_NUMBERS): build/packages.ok
	@$(MAKE) build/lessons/$(filter $@_%,$(LESSON_NAMES))
	@build/lessons/$(filter $@_%,$(LESSON_NAMES)) $(ARGS)
SHORT_NUMBERS := $(patsubst 0%,%,$(filter 0%,$(LESSON_NUMBERS)))  # make 6 is make 06
.PHONY: $(SHORT_NUMBERS)
$(SHORT_NUMBERS): %: 0%
lessons: build/packages.ok  ## run all lessons in order and make the gallery of their pictures
	@$(MAKE) $(LESSONS)
	@for lesson in $(LESSON_NAMES); do build/lessons/$$lesson $(ARGS) </dev/null || exit 1; done
	@echo && echo "All pictures: out/index.html"
readme-pictures: 13  ## make the pictures of the README again
	cp out/13_translator/en-fr-attention.png lessons/13_translator/cross_attention.png
gallery: build/packages.ok  ## make out/index.html again from the pictures that are there
	@$(MAKE) build/gallery
	@build/gallery
build/gallery: $(call objects,lessons/support/gallery_main.cpp)
	$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@

# --- benchmarks: the peers are compared with if they are installed ---
ifneq ($(filter bench%,$(MAKECMDGOALS)),)
  hash := \#
  # yes, if the header is there and declares what we call (another BLAS has a cblas.h, too)
  has = $(shell printf '$(hash)include <$(1)>\n$(2)' | $(CXX) -fsyntax-only -x c++ $(TORCH_INCLUDE) - 2>/dev/null && echo yes)
  TORCH_INCLUDE := -isystem /usr/include/torch/csrc/api/include
  ifneq ($(call has,cblas.h,using ::openblas_set_num_threads;),)
    GEMM_PEERS += -DATTN_BENCH_OPENBLAS
    GEMM_LIBS  += -lopenblas
  endif
  ifneq ($(call has,dnnl.h,using ::dnnl_sgemm;),)
    GEMM_PEERS += -DATTN_BENCH_ONEDNN
    GEMM_LIBS  += -ldnnl
  endif
  ifneq ($(call has,blis.h,auto* gemm = bli_sgemm;),)
    GEMM_PEERS += -DATTN_BENCH_BLIS
    GEMM_LIBS  += -lblis
  endif
  ifneq ($(call has,torch/version.h),)
    TORCH_PEER := -DATTN_BENCH_TORCH $(TORCH_INCLUDE)
    TORCH_LIBS := -ltorch -ltorch_cpu -lc10
  endif
endif
$(O)/tests/bench/%.o: OPTIMIZE := $(HOT)
$(O)/tests/bench/gemm_bench.o: CPPFLAGS += $(GEMM_PEERS)
$(O)/tests/bench/torch_peer.o $(O)/tests/bench/model_bench.o $(O)/tests/bench/overhead_bench.o: CPPFLAGS += $(TORCH_PEER)
BENCHES := $(patsubst %,build/tests/bench/%,gemm_bench model_bench overhead_bench growth_bench ranks_bench report)
build/tests/bench/gemm_bench: BENCH_LIBS = $(GEMM_LIBS)
build/tests/bench/model_bench build/tests/bench/overhead_bench: BENCH_LIBS = $(TORCH_LIBS)
$(foreach b,$(BENCHES),$(eval $(b): $(call objects,tests/bench/$(notdir $(b)).cpp)))
$(BENCHES):
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $^ $(LDLIBS) $(BENCH_LIBS) -o $@

.PHONY: bench bench-build bench-peers
bench: build/packages.ok  ## compare with OpenBLAS, oneDNN, BLIS and libtorch; CASES="step-tiny growth" chooses, ISA=avx2 holds all to AVX2
	@$(MAKE) bench-build
	@ISA=$(ISA) tests/bench/run build/tests/bench out/bench $(CASES)
bench-build: $(BENCHES)
bench-peers:  ## install the libraries that bench compares with
	@sh .ci/packages libopenblas-openmp-dev libdnnl-dev libblis-openmp-dev libtorch-dev
	@rm -rf $(O)/tests/bench $(BENCHES)

# --- fuzzing: a moment of it in `make test`, for longer and under the sanitizers here ---
FUZZ_SOURCES := $(wildcard tests/fuzz/*.cpp) $(patsubst %,lessons/coach/%.cpp,course source mistakes value wire) \
                $(SUPPORT_SOURCES) $(PRESS_SOURCES) $(filter-out %/lesson.cpp,$(wildcard lessons/13_translator/*.cpp))
$(B)/tests/fuzzer: $(call objects_of,$(FUZZ_SOURCES)) $(LIB)
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -lmd4c -o $@
.PHONY: fuzz kills
kills: build/packages.ok  ## kill a training at 200 random moments, or KILLS=n: every resume must have the same bits
	@$(MAKE) build/tests/kill
	@build/tests/kill $(or $(KILLS),200)
$(B)/tests/kill: $(call objects,tests/kill/kill.cpp)
$(B)/tests/watch: $(call objects,tests/watch/watch.cpp)
$(B)/tests/kill $(B)/tests/watch:
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@
# --- models in the published layout whose answers are known, for the programs that read such models ---
$(B)/tests/make_weights: $(call objects,tests/weights/make.cpp)
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@

fuzz: build/packages.ok  ## fuzz every parser under the sanitizers until Ctrl-C, or SECONDS=120 each
	@$(MAKE) VARIANT=san build/san/tests/fuzzer
	@build/san/tests/fuzzer $(or $(SECONDS),0) $$(date +%s)000000

.PHONY: clean
clean:  ## remove build/ (keeps out/ and my/)
	rm -rf build

-include $(shell find $(O) $(if $(SHARED),build/obj) -name '*.d' 2>/dev/null)
