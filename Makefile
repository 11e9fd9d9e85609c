# attention.cpp. `make` lists what can be done; everything built goes to build/, everything made to out/.
#
# One tree of rules serves every flavour of the build: VARIANT=double|san|tsan|pic compiles the same
# sources with other flags into build/VARIANT/. Sources are found by pattern: a new file needs no edit here.

VARIANT ?= release
B := build$(if $(filter-out release,$(VARIANT)),/$(VARIANT))
O := $(B)/obj

ifneq ($(filter $(VARIANT),tsan),)
  CXX := clang++
endif
CPPFLAGS := -I. -MMD -MP
CXXFLAGS := -std=c++20 -O3 -g1 -fno-math-errno -fno-trapping-math -Wall -Wextra -Wpedantic -fopenmp
LDLIBS   := -lfmt
ifeq ($(VARIANT),double)
  CPPFLAGS += -DATTN_DOUBLE
endif
ifeq ($(VARIANT),san)
  CXXFLAGS += -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
endif
ifeq ($(VARIANT),tsan)
  CXXFLAGS += -O1 -fsanitize=thread
endif
ifeq ($(VARIANT),pic)
  CXXFLAGS += -fPIC
endif

# The kernels are compiled once per instruction set and chosen at start: see core/kernels.hpp.
ifneq ($(filter x86_64%,$(shell uname -m)),)
  TARGETS := baseline v3 v4
endif
TARGETS ?= baseline
TARGET_FLAGS_v3 := -march=x86-64-v3
TARGET_FLAGS_v4 := -march=x86-64-v4 -mprefer-vector-width=512

LIB_SOURCES    := $(sort $(wildcard core/*.cpp core/viz/*.cpp nn/*.cpp nn/text/*.cpp optim/*.cpp))
KERNEL_SOURCES := $(sort $(wildcard core/kernels/*.cpp))
LIB_OBJECTS    := $(LIB_SOURCES:%.cpp=$(O)/%.o) \
                  $(foreach t,$(TARGETS),$(KERNEL_SOURCES:%.cpp=$(O)/%.$(t).o))
LIB            := $(B)/libattn.a
UNIT_OBJECTS   := $(patsubst %.cpp,$(O)/%.o,$(sort $(wildcard tests/unit/*.cpp)))
LESSON_NAMES   := $(notdir $(patsubst %/lesson.cpp,%,$(sort $(wildcard lessons/*/lesson.cpp))))
LESSONS        := $(LESSON_NAMES:%=$(B)/lessons/%)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-print-directory
ifeq ($(filter -j%,$(MAKEFLAGS)),)
  MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif

.PHONY: help
help:  ## list what can be done
	@awk -F ':.*## ' '/^[a-zA-Z0-9_%-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

# --- packages: checked once, remembered in build/packages.ok ---
build/packages.ok: .ci/packages
	@sh .ci/packages
	@mkdir -p build && touch $@

.PHONY: all
all: build/packages.ok  ## build everything, run nothing
	@$(MAKE) build-all

.PHONY: build-all
build-all: $(LIB) $(B)/tests/unit $(LESSONS)

# --- the library ---
$(O)/%.o: %.cpp
	@mkdir -p $(@D)
	$(CXX) $(CPPFLAGS) $(CXXFLAGS) -c $< -o $@

define kernel_rule
$(O)/core/kernels/%.$(1).o: core/kernels/%.cpp
	@mkdir -p $$(@D)
	$$(CXX) $$(CPPFLAGS) $$(CXXFLAGS) -DATTN_TARGET=$(1) $$(TARGET_FLAGS_$(1)) -c $$< -o $$@
endef
$(foreach t,$(TARGETS),$(eval $(call kernel_rule,$(t))))

$(O)/core/kernels.o: CPPFLAGS += $(foreach t,$(TARGETS),-DATTN_HAS_$(t))

$(LIB): $(LIB_OBJECTS)
	@rm -f $@ && ar rcs $@ $^

# --- tests ---
$(B)/tests/unit: $(UNIT_OBJECTS) $(LIB)
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@

.PHONY: test
test: build/packages.ok  ## build and run every test (float and double); last line: N passed, N failed
	@$(MAKE) test-all

.PHONY: test-all
test-all:
	@$(MAKE) $(B)/tests/unit
	@$(MAKE) VARIANT=double build/double/tests/unit
	@tests/run $(B)/tests/unit build/double/tests/unit

.PHONY: san tsan
san: build/packages.ok  ## the tests under AddressSanitizer and UndefinedBehaviorSanitizer
	@$(MAKE) VARIANT=san build/san/tests/unit
	@tests/run build/san/tests/unit
tsan: build/packages.ok  ## the tests under ThreadSanitizer (clang++, libomp with Archer)
	@$(MAKE) VARIANT=tsan build/tsan/tests/unit
	@tests/run build/tsan/tests/unit

# --- lessons ---
SUPPORT_OBJECTS := $(patsubst %.cpp,$(O)/%.o,$(wildcard lessons/support/*.cpp))
$(B)/lessons/%: $(O)/lessons/%/lesson.o $(SUPPORT_OBJECTS) $(LIB)
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@

.PHONY: clean
clean:  ## remove build/ (keeps out/ and my/)
	rm -rf build

-include $(shell find $(O) -name '*.d' 2>/dev/null)
