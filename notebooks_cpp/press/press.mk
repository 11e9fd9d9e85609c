# --- notebooks: one C++ file is a page and a program. notebooks_cpp/press/percent.hpp tells how ---
PRESS_OBJECTS  := $(call objects_of,$(PRESS_SOURCES) lessons/coach/mistakes.cpp)
NOTEBOOK_NAMES := $(notdir $(basename $(sort $(wildcard notebooks_cpp/[0-9]*.cpp))))
NOTEBOOKS      := $(NOTEBOOK_NAMES:%=$(B)/notebooks/%)
# What a notebook may use besides the library: lesson 13's translator.
NOTEBOOK_OBJECTS := $(SUPPORT_OBJECTS) $(call objects_of,notebooks_cpp/notebook.cpp \
                      $(filter-out %/lesson.cpp,$(wildcard lessons/13_translator/*.cpp)))

# md4c reads Markdown. The tests in double are without the press, see the Makefile.
build/press $(if $(filter double,$(VARIANT)),,$(B)/tests/unit): LDLIBS += -lmd4c
build/press: $(O)/notebooks_cpp/press/main.o $(PRESS_OBJECTS) $(SUPPORT_OBJECTS) $(LIB)
	$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@
$(B)/notebooks/%.cpp: notebooks_cpp/%.cpp notebooks_cpp/press/percent.cpp | build/press
	@mkdir -p $(@D)
	@build/press tangle $< $@
$(O)/notebooks/%.o: OPTIMIZE := $(HOT)
$(O)/notebooks/%.o: $(B)/notebooks/%.cpp | $(HEADERS)
	@mkdir -p $(@D)
	$(COMPILE) -c $< -o $@
$(NOTEBOOKS): $(B)/notebooks/%: $(O)/notebooks/%.o $(NOTEBOOK_OBJECTS) $(LIB)
	$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@

build-all: build/press $(NOTEBOOKS)
.PHONY: notebooks
notebooks: build/packages.ok  ## run the notebooks; their pages and .ipynb go to out/notebooks
	@$(MAKE) build/press $(NOTEBOOKS)
	@for name in $(NOTEBOOK_NAMES); do \
	  build/press notebook notebooks_cpp/$$name.cpp $(B)/notebooks/$$name out/notebooks $(ARGS) || exit $$?; done

# --- the book: see notebooks_cpp/press/book.hpp. Lessons that have not run since they were changed run first ---
NOT_RUN = $(foreach l,$(LESSON_NAMES),$(shell [ out/$(l)/lesson.json -nt lessons/$(l)/lesson.cpp ] || echo $(l)))
.PHONY: book
book: build/packages.ok  ## make pages of lessons, exercises and annotated source: out/book/index.html
	@$(MAKE) build/press $(NOT_RUN:%=$(B)/lessons/%)
	@for lesson in $(NOT_RUN); do $(B)/lessons/$$lesson </dev/null || exit 1; done
	@build/press book && echo "The book: out/book/index.html"
