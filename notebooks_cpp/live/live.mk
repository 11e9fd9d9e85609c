# --- the live page: the engine as WebAssembly and everything else of the page in one file; see live/live.hpp ---
LIVE_PACKAGES := emscripten node-acorn
# What the native twin is made of, without what only pictures, files of lessons and the command line need: the linker
# takes no function that nothing calls, and so what those call need not be there.
LIVE_SOURCES := $(filter-out %_main.cpp core/kernels/% core/viz/% lessons/support/% %/show.cpp,$(NEEDS_notebooks_cpp/live/answers_main.cpp)) \
                $(patsubst %,lessons/support/%.cpp,bounds standard_options) notebooks_cpp/live/fmt.cpp
LIVE_OBJECTS := $(LIVE_SOURCES:%.cpp=build/live/obj/%.o) $(KERNEL_SOURCES:%.cpp=build/live/obj/%.o)
# Debian's headers of the system must not be found, but these two libraries are headers alone.
LIVE_HEADERS := build/live/include
EMXX := em++
# The optimizer's time goes where the page's time goes.
EMFLAGS := -std=c++20 -O1 -fno-math-errno -fno-trapping-math -msimd128 -fwasm-exceptions \
           -DATTN_TARGET=baseline -DATTN_HAS_baseline -Wall -Wextra -Wno-unknown-pragmas -I. -isystem $(LIVE_HEADERS) -MMD -MP
build/live/obj/core/%.o build/live/obj/nn/text/%.o: EMFLAGS += -O2
build/live/obj/core/kernels/%.o: EMFLAGS += -O3

$(LIVE_HEADERS): | build/packages.ok
	@mkdir -p $@ && ln -sfn /usr/include/fmt $@/fmt && ln -sfn /usr/include/nlohmann $@/nlohmann
build/live/obj/%.o: %.cpp | $(LIVE_HEADERS)
	@mkdir -p $(@D)
	$(EMXX) $(EMFLAGS) -c $< -o $@
build/live/engine.js: $(LIVE_OBJECTS)
	NODE_PATH=/usr/share/nodejs $(EMXX) $(filter-out -MMD -MP,$(EMFLAGS)) -O2 $^ -o $@ -s MODULARIZE=1 -s EXPORT_NAME=engine \
	  -s ENVIRONMENT=worker -s ALLOW_MEMORY_GROWTH=1 -s INITIAL_MEMORY=67108864 -s FILESYSTEM=1 \
	  -s EXPORTED_FUNCTIONS=_live_answer -s EXPORTED_RUNTIME_METHODS=ccall,FS
-include $(shell find build/live/obj -name '*.d' 2>/dev/null)

# --- the page, and the same engine natively, to compare with ---
build/live_page: $(call objects,notebooks_cpp/live/page_main.cpp)
	$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@
build/live_answers: $(call objects,notebooks_cpp/live/answers_main.cpp)
	$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@
build/live/%.gz: out/13_translator/%.safetensors
	@mkdir -p $(@D) && gzip -9nc $< >$@
build/live/engine.wasm.gz: build/live/engine.js
	@gzip -9nc build/live/engine.wasm >$@
LIVE_MODELS = $(basename $(notdir $(wildcard out/13_translator/en-fr.safetensors out/13_translator/en-ko.safetensors)))
out/live/index.html: build/live_page build/live/engine.js build/live/engine.wasm.gz $(LIVE_MODELS:%=build/live/%.gz) \
                     $(wildcard notebooks_cpp/live/*.js notebooks_cpp/live/*.css notebooks_cpp/live/*.html)
	@build/live_page $@ build/live/engine.js build/live/engine.wasm.gz $(foreach m,$(LIVE_MODELS),$(m)=build/live/$(m).gz)

.PHONY: live
live: build/packages.ok  ## the engine in a page that translates and trains: out/live/index.html
	@sh .ci/packages $(LIVE_PACKAGES)
	@$(MAKE) out/live/index.html build/live_answers
