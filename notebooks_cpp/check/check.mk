# --- the pages, looked at in a browser: see notebooks_cpp/check/check_pages.hpp ---
build/check_pages: $(call objects,notebooks_cpp/check/check_pages_main.cpp)
	$(CXX) $(CXXFLAGS) $^ $(LDLIBS) -o $@

.PHONY: check-pages
check-pages: build/packages.ok  ## open every page in a headless Chromium: links, errors, width; pictures go to out/pages
	@[ -n "$$CHROMIUM" ] || { command -v chromium || command -v chromium-browser || command -v google-chrome; } \
	  >/dev/null || sh .ci/packages chromium chromium-sandbox
	@$(MAKE) build/check_pages
	@build/check_pages $(ARGS)
