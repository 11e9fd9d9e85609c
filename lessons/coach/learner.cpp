// The only file that is compiled when an answer is graded: the learner's, a main for the grader, and the
// sanitizers' options, which they look for in the program itself.
#include EXERCISE

namespace coach {
int grade(int argc, char** argv);
}

// malloc fills with 0xff, so that a real that was never written is NaN.
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0:handle_abort=1:hard_rss_limit_mb=512:max_allocation_size_mb=256:"
         "malloc_fill_byte=255:max_malloc_fill_size=16777216:print_legend=0";
}
extern "C" const char* __ubsan_default_options() { return "print_stacktrace=1"; }

int main(int argc, char** argv) { return coach::grade(argc, argv); }
