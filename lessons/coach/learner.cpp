// The only file that is compiled when an answer is graded: the learner's, and a main for the grader.
#include EXERCISE

namespace coach {
int grade(int argc, char** argv);
}

int main(int argc, char** argv) { return coach::grade(argc, argv); }
