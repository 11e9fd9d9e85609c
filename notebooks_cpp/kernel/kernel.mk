# --- live notebooks: a Jupyter kernel on clang-repl; see notebooks_cpp/kernel/checkpoint.hpp ---
# Nothing is installed in the user's home: Jupyter finds the kernel by JUPYTER_PATH.
JUPYTER_PACKAGES := clang-tools-19 libomp-dev python3-ipykernel jupyter-nbconvert jupyter-notebook
JUPYTER_PYTHON   ?= /usr/bin/python3
CLANG_REPL       ?= clang-repl-19
KERNEL_JSON      := build/jupyter/share/jupyter/kernels/attention-cpp/kernel.json
LIVE_NOTEBOOKS   := $(NOTEBOOK_NAMES:%=build/jupyter/notebooks/%.ipynb)
JUPYTER          := env JUPYTER_PATH=$(abspath build/jupyter/share/jupyter) $(JUPYTER_PYTHON) -m

# Cells are compiled by clang, whose OpenMP is libomp. It also serves what g++ compiled, so both share one set of threads.
ifeq ($(VARIANT),pic)
build/libattn.so: $(NOTEBOOK_OBJECTS) $(O)/notebooks_cpp/kernel/checkpoint.o $(LIB)
	$(CXX) -shared $(filter %.o,$^) -Wl,--whole-archive $(LIB) -Wl,--no-whole-archive $(LDLIBS) -l:libomp.so.5 -o $@
endif

define newline


endef
define kernel_json
{"display_name": "C++20 (attention.cpp)", "language": "c++",
 "argv": ["$(JUPYTER_PYTHON)", "$(abspath notebooks_cpp/kernel/kernel.py)", "-f", "{connection_file}"],
 "env": {"CLANG_REPL": "$(CLANG_REPL)", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}}
endef
$(KERNEL_JSON):
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst $(newline), ,$(kernel_json))' >$@

.PHONY: jupyter check-jupyter jupyter-build $(KERNEL_JSON)
jupyter-build: build/packages.ok $(KERNEL_JSON)
	@sh .ci/packages $(JUPYTER_PACKAGES)
	@$(MAKE) VARIANT=pic build/libattn.so
	@$(MAKE) $(LIVE_NOTEBOOKS)
build/jupyter/notebooks/%.ipynb: notebooks_cpp/%.cpp build/press
	@mkdir -p $(@D)
	@build/press ipynb $< $@

# The reader works on copies, which nothing overwrites.
jupyter: jupyter-build  ## live notebooks in the browser, as copies in my/notebooks (ARGS="--fast --seed 2")
	@mkdir -p my/notebooks && cp -n $(LIVE_NOTEBOOKS) my/notebooks/
	@cd my/notebooks && ATTN_NOTEBOOK_ARGS="$(ARGS)" $(JUPYTER) notebook $(if $(filter 0,$(shell id -u)),--allow-root) \
	  --MultiKernelManager.default_kernel_name=attention-cpp $(JUPYTER_FLAGS)

check-jupyter: ARGS ?= --fast
check-jupyter: jupyter-build  ## run every notebook on the live kernel; last line: N passed, N failed
	@ATTN_NOTEBOOK_ARGS="$(ARGS)" notebooks_cpp/kernel/check "$(JUPYTER) nbconvert" build/jupyter/checked \
	  notebooks_cpp/kernel/check.ipynb $(LIVE_NOTEBOOKS)
