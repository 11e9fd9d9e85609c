# --- the exercises: lessons/coach/grading.hpp tells how they work ---
# Answers are graded in double. The library is built once more for that, with AddressSanitizer, as a shared object:
# when an answer is graded only the learner's file is compiled and linked, which takes a second or two.
G                := build/graded
GRADED_CXXFLAGS  := -std=c++20 -DATTN_DOUBLE -I. -fopenmp -fPIC -Wall -Wextra -Wpedantic
SANITIZE         := -fsanitize=address -fno-omit-frame-pointer
# $(call precompiled,HEADER): the option, if the compiler has such a thing as $(G)/HEADER.gch.
precompiled       = $(if $(GCC),-include $(G)/$(1))
LEARNER_FLAGS    := -std=c++20 -DATTN_DOUBLE -D_GLIBCXX_ASSERTIONS -I. -O0 -g1 $(SANITIZE) \
                    -ftrivial-auto-var-init=pattern -fsanitize=undefined -fno-sanitize-recover=undefined \
                    -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Wfloat-conversion -fdiagnostics-color=never
LEARNER_COMPILE  := $(CXX) $(call precompiled,exercise.hpp) $(LEARNER_FLAGS) -c lessons/coach/learner.cpp
LEARNER_LINK     := $(CXX) $(SANITIZE) -fsanitize=undefined -Wl,-rpath,$(G) -L$(G)
LEARNER_LIBS     := -lgrading -lfmt

GRADED_OBJECTS := $(patsubst %,$(G)/%.o,core/numbers core/plain core/kernels core/kernels.baseline nn/numbers \
                    optim/schedule coach lessons/mine/table)
GRADED_COACH   := answering crash examine facts grader input_facts judge length_facts part_facts position_facts \
                  run_answers sandbox self_check show source value verdict wire
EXERCISES      := $(notdir $(patsubst %/exercise.hpp,%,$(sort $(wildcard lessons/*_*/exercise.hpp))))
GRADERS        := $(EXERCISES:%=$(G)/tests/exercises/%_test.o)
GRADING        := $(G)/libgrading.so $(GRADERS) $(EXERCISES:%=$(G)/exercise/%)

graded_compile = $(CXX) -MMD -MP $(GRADED_CXXFLAGS) $(COLD) $(SANITIZE) -DATTN_HAS_baseline -c $< -o $@
$(G)/%.o: %.cpp
	@mkdir -p $(@D)
	$(graded_compile)
$(G)/%.o: build/parts/%.cpp
	@mkdir -p $(@D)
	$(graded_compile)

$(G)/core/kernels.baseline.o: build/parts/core/kernels/all.cpp
	@mkdir -p $(@D)
	$(CXX) -MMD -MP $(GRADED_CXXFLAGS) $(COLD) $(SANITIZE) -DATTN_TARGET=baseline -c $< -o $@

$(G)/coach.o: lessons/coach/coach.mk $(if $(GCC),| $(G)/standard.hpp.gch)
	@mkdir -p $(@D)
	@printf '#include "lessons/coach/%s.cpp"\n' $(GRADED_COACH) >$(G)/coach.cpp
	$(CXX) -MMD -MP $(call precompiled,standard.hpp) $(GRADED_CXXFLAGS) $(COLD) -c $(G)/coach.cpp -o $@

# -D_GLIBCXX_ASSERTIONS: a wrong answer that leaves a container ends the self-check with a message, not by luck.
GRADER_FLAGS := $(GRADED_CXXFLAGS) -D_GLIBCXX_ASSERTIONS -I$(G) -O0
$(G)/tests/exercises/%.o: tests/exercises/%.cpp $(if $(GCC),$(G)/oracle.hpp.gch)
	@mkdir -p $(@D)
	$(CXX) -MMD -MP $(call precompiled,oracle.hpp) $(GRADER_FLAGS) -c $< -o $@

# Headers that are read precompiled: what the coach, the graders and the learner's files include.
$(G)/standard.hpp.gch: FLAGS    = $(GRADED_CXXFLAGS) $(COLD)
$(G)/standard.hpp.gch: INCLUDED = .ci/standard.hpp
$(G)/oracle.hpp.gch:   FLAGS    = $(GRADER_FLAGS)
$(G)/oracle.hpp.gch:   INCLUDED = $(patsubst %,lessons/coach/%.hpp,exercise checked grading) tests/exercises/oracle.hpp
$(G)/exercise.hpp.gch: FLAGS    = $(LEARNER_FLAGS)
$(G)/exercise.hpp.gch: INCLUDED = lessons/coach/exercise.hpp
$(patsubst %,$(G)/%.hpp.gch,standard oracle exercise): lessons/coach/coach.mk | build/packages.ok
	@mkdir -p $(@D)
	@printf '#include "%s"\n' $(INCLUDED) >$(@:.gch=)
	$(CXX) -MMD -MP -MF $@.d $(FLAGS) -x c++-header $(@:.gch=) -o $@

# The wrong answers of each exercise, made from its solution and its mistakes.diff.
$(GRADERS): $(G)/tests/exercises/%_test.o: $(G)/mistakes/%.hpp
$(G)/mistakes/%.hpp: lessons/%/mistakes.diff lessons/%/solution.hpp build/mutants
	@mkdir -p $(@D)
	build/mutants lessons/$* > $@
build/mutants: $(patsubst %,build/obj/lessons/coach/%.o,mutants_main mutants mistakes)
	$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@

# (An object that was added to the list is made only if the library has to be made: .SECONDARY. Hence coach.mk.)
$(G)/libgrading.so: $(GRADED_OBJECTS) lessons/coach/coach.mk
	$(CXX) -shared -fopenmp $(SANITIZE) $(GRADED_OBJECTS) -lfmt -ldl -o $@

# The stub and the solution of each exercise, built by the learner's own commands.
define answer_rules
$(G)/$(1)/%.o: lessons/%/$(1).hpp lessons/coach/learner.cpp lessons/coach/exercise.hpp $(if $(GCC),$(G)/exercise.hpp.gch)
	@mkdir -p $$(@D)
	$$(LEARNER_COMPILE) -MMD -MP -DEXERCISE='"$$<"' -o $$@
$(G)/$(1)/%: $(G)/$(1)/%.o $(G)/tests/exercises/%_test.o $(G)/libgrading.so
	$$(LEARNER_LINK) $(G)/$(1)/$$*.o $(G)/tests/exercises/$$*_test.o $$(LEARNER_LIBS) -o $$@
endef
$(foreach kind,exercise solution,$(eval $(call answer_rules,$(kind))))
ANSWERS := $(EXERCISES:%=$(G)/exercise/%) $(EXERCISES:%=$(G)/solution/%)

# The program that the learner talks to. It runs the compiler itself, with the flags above.
COACH_OBJECTS := $(call objects,lessons/coach/coach.cpp)
build/obj/lessons/coach/compile.o: CPPFLAGS += -DCOACH_COMPILE='"$(LEARNER_COMPILE)"' \
                                   -DCOACH_LINK='"$(LEARNER_LINK)"' -DCOACH_LIBS='"$(LEARNER_LIBS)"'
build/obj/lessons/coach/compile.o: lessons/coach/coach.mk
build/coach: $(COACH_OBJECTS)
	$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@
COACH_TESTS := $(patsubst %.cpp,build/obj/%.o,$(sort $(wildcard tests/exercises/coach_*.cpp)))
build/tests/coach: $(COACH_TESTS) | build/coach $(GRADING)
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@
$(COACH_OBJECTS) $(GRADED_OBJECTS) $(GRADERS): | build/packages.ok

.PHONY: start check watch progress
start: build/coach $(G)/libgrading.so  ## copy the exercises to my/, leaving alone what is there
	@build/coach start
check: build/coach  ## grade the next unfinished exercise
	@build/coach check
watch: build/coach  ## grade on every save
	@build/coach watch
progress: build/coach  ## the whole course, and what is done
	@build/coach progress

check-NN:  ## grade your answer of lesson NN; F=attend asks about one function, SEED=7 draws the same inputs again
hint-NN:  ## the next hint for lesson NN; F=attend chooses the function
solution-NN:  ## our answer of lesson NN, once yours passes
reset-NN:  ## begin lesson NN again (asks first, keeps a copy)

define exercise_rules
check-$(firstword $(subst _, ,$(1))): $(G)/exercise/$(1)
endef
$(foreach e,$(EXERCISES),$(eval $(call exercise_rules,$(e))))
check-%: build/coach
	@build/coach check $* $(F) $(if $(SEED),--seed $(SEED)) $(if $(ALL),--all)
hint-%: build/coach
	@build/coach hint $* $(F)
solution-%: build/coach
	@build/coach solution $*
reset-%: build/coach
	@build/coach reset $*

.PHONY: check-course
check-course: build/coach $(ANSWERS)  ## the course checks itself: stubs, solutions, mistakes, hints
	@build/coach check-course

-include $(shell find $(G) -name '*.d' 2>/dev/null)
