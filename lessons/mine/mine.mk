# --- the learner's own transformer: lessons/mine/parts.hpp tells how it works ---
# A file of answers (the learner's, our solution, a mistake) becomes a shared object of its own, which the milestones
# load: optimised, with unchecked access, or, under build/mine/checked/, checked. (addr2line of binutils 2.40 takes the
# wrong file from the line tables of DWARF 5.)
M            := build/mine
MINE_COMPILE := $(CXX) -std=c++20 -DATTN_MINE -O3 -g1 -gdwarf-4 -fno-math-errno -fno-trapping-math -fPIC -shared \
                -fvisibility=hidden -fvisibility-inlines-hidden -w -Wno-narrowing -include lessons/mine/forgiving.hpp
UNCHECKED    := -I$(M)/unchecked
CHECKED      := -D_GLIBCXX_ASSERTIONS
MINE_LESSONS := $(notdir $(basename $(wildcard lessons/mine/exports/*.cpp)))

# The tensor as it is, but t(i, j) and t.size(axis) without checks and in line; found before the library's own header.
# Both see the same tensors, and what is inline in a shared object of its own is nobody else's.
$(M)/unchecked/core/tensor.hpp: core/tensor.hpp lessons/mine/mine.mk
	@mkdir -p $(@D)
	@sed -e 's|return data()\[shape().offset({Index(i)...})\];|Index at = 0; const Index* size = shape().begin(); ((at = at * *size++ + Index(i)), ...); return data()[at];|' \
	     -e 's|Index size(int axis) const;|Index size(int axis) const { return shape().begin()[axis < 0 ? axis + rank() : axis]; }|' $< >$@
	@[ $$(diff $< $@ | grep -c '^>') -eq 3 ] || { echo "$< has changed: the edits in lessons/mine/mine.mk no longer fit"; rm $@; exit 1; }

# $(1) folder, $(2) lesson, $(3) file of answers, $(4) flags. What was there goes first: if it does not compile, the
# milestone must not use an old one.
define answers_rule
$(M)/$(1)/$(2).so: $(3) lessons/mine/exports/$(2).cpp lessons/mine/mine.mk | $(M)/unchecked/core/tensor.hpp
	@mkdir -p $$(@D)
	@rm -f $$@
	$$(MINE_COMPILE) $(4) -I. -MMD -MP -MF $$@.d -MT $$@ -DEXERCISE='"$$<"' lessons/mine/exports/$(2).cpp -o $$@
endef
$(foreach l,$(MINE_LESSONS),\
  $(eval $(call answers_rule,my,$(l),my/$(l).hpp,$(UNCHECKED))) \
  $(eval $(call answers_rule,solution,$(l),lessons/$(l)/solution.hpp,$(UNCHECKED))) \
  $(eval $(call answers_rule,checked/my,$(l),my/$(l).hpp,$(CHECKED))) \
  $(eval $(call answers_rule,checked/solution,$(l),lessons/$(l)/solution.hpp,$(CHECKED))))
# A milestone writes the solution with a mistake in it, as LESSON.FUNCTION.NAME.hpp. It is small work.
$(M)/mistake/%.so: $(M)/mistake/%.hpp lessons/mine/mine.mk | $(M)/unchecked/core/tensor.hpp
	@rm -f $@
	$(MINE_COMPILE) $(UNCHECKED) -I. $(COLD) -MMD -MP -MF $@.d -MT $@ -DEXERCISE='"$<"' \
	  lessons/mine/exports/$(firstword $(subst ., ,$*)).cpp -o $@

# The milestones are programs like the lessons, with their prose as calls.
MILESTONES     := $(notdir $(basename $(sort $(wildcard lessons/mine/mine_[0-9]*.cpp))))
MINE_OBJECTS   := $(call objects_of,$(filter-out %main.cpp lessons/mine/mine_%,$(wildcard lessons/mine/*.cpp)) \
                    lessons/coach/course.cpp lessons/coach/mistakes.cpp lessons/coach/mutants.cpp \
                    $(filter-out %/lesson.cpp,$(wildcard lessons/13_translator/*.cpp))) $(SUPPORT_OBJECTS)
$(MILESTONES:%=$(B)/prose/%.cpp): $(B)/prose/%.cpp: lessons/mine/%.cpp build/make_prose
	@mkdir -p $(@D)
	@build/make_prose $< $@
$(MILESTONES:%=$(O)/lessons/mine/%.o): $(O)/lessons/mine/%.o: $(B)/prose/%.cpp | $(HEADERS)
	@mkdir -p $(@D)
	$(COMPILE) -c $< -o $@
$(O)/lessons/mine/numbers.o: OPTIMIZE := $(HOT)
# What a learner's file calls must be there, whether the milestone itself needs it or not.
$(MILESTONES:%=$(M)/%): $(M)/%: $(O)/lessons/mine/%.o $(MINE_OBJECTS) $(LIB)
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) -rdynamic $(filter %.o,$^) -Wl,--whole-archive $(LIB) -Wl,--no-whole-archive $(LDLIBS) -ldl -Wl,--no-gc-sections -o $@
$(M)/list: $(call objects,lessons/mine/list_main.cpp)
	@mkdir -p $(@D)
	$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@

# What `make all` and the tests build: everything but what is made of a learner's files.
MINE := $(MILESTONES:%=$(M)/%) $(M)/list $(MINE_LESSONS:%=$(M)/solution/%.so)

.PHONY: mine
mine: build/packages.ok  ## your own transformer: the milestones, and which of their parts are yours
	@$(MAKE) $(M)/list
	@$(M)/list
mine-N:  ## milestone N (1 to 5) with your functions; PARTS="softmax=ours" flips a part, MISTAKE="no scaling" breaks one
mine-%: build/packages.ok
	@[ -n "$(filter mine_$*_%,$(MILESTONES))" ] || { echo "there is no milestone $*: make mine lists them" >&2; exit 2; }
	@$(MAKE) $(M)/$(filter mine_$*_%,$(MILESTONES))
	@$(M)/$(filter mine_$*_%,$(MILESTONES)) $(if $(PARTS),--parts "$(PARTS)") $(if $(MISTAKE),--mistake "$(MISTAKE)") $(ARGS)

-include $(shell find $(M) -name '*.d' 2>/dev/null)
