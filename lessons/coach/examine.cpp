#include "lessons/coach/examine.hpp"

#include <algorithm>  // min

#include "lessons/coach/facts.hpp"
#include "lessons/coach/run_answers.hpp"
#include "lessons/coach/show.hpp"

namespace coach {
namespace {

using Kind = Verdict::Kind;

constexpr Index shrinking_draws = 200, shrinking_scale = 4;
constexpr std::size_t most_facts = 3;

class Examination {
 public:
  Examination(const Task& task, const Subject& subject)
      : task_(task), subject_(subject), key_(task, {.draw_seed = subject.seed}) {}

  Finding run() {
    const Answers answers = ask(subject_.program, learner, key_.selection, 0, count());
    finding_.verdict = judge(key_, answers.outcomes);
    finding_.printed = answers.printed;
    if (finding_.verdict.kind == Kind::not_started) return finding_;
    if (finding_.verdict.kind == Kind::passed) {
      look_for_memory();
      return finding_;
    }
    show(key_, finding_.verdict.input, answers.outcomes[finding_.verdict.input]);
    for (const Outcome& outcome : answers.outcomes) {
      if (outcome.changed >= 0 && finding_.changed.empty())
        finding_.changed = task_.arguments[outcome.changed];
      if (finding_.verdict.kind == Kind::broke_promise && finding_.broken.empty())
        finding_.broken = outcome.broken;
    }
    if (finding_.verdict.kind == Kind::ran_away) {
      finding_.mistakes = recognise(key_, ask_mistakes(key_), answers.outcomes);
      return finding_;
    }
    if (forgets_when_alone()) return finding_;
    name(answers.outcomes);
    look_for_smaller();
    return finding_;
  }

 private:
  Index count() const { return std::ssize(key_.inputs); }

  Answers ask(const std::string& program, int candidate, const Selection& selection, Index from, Index until,
              bool backward = false) const {
    const Index inputs = selection.chosen_seed ? count() : selection.draws;
    return run_answers(program,
                       {.function = task_.name,
                        .candidate = candidate,
                        .selection = selection,
                        .backward = backward,
                        .from = from,
                        .until = until,
                        .file = subject_.file},
                       inputs);
  }

  void show(const AnswerKey& key, Index input, const Outcome& answer) {
    finding_.arguments = key.inputs[input].arguments;
    finding_.answer = answer;
    finding_.right = key.right[input];
    finding_.drawn = input >= key.chosen();
    finding_.verdict.difference.reset();
    fault(task_, answer, finding_.right, finding_.verdict.difference);
  }

  // The same inputs in another order, in a new program: a function without memory gives the same answers.
  void look_for_memory() {
    const Answers again = ask(subject_.program, learner, key_.selection, 0, count(), true);
    const Verdict verdict = judge(key_, again.outcomes);
    if (verdict.kind == Kind::passed) return;
    finding_.verdict = verdict;
    finding_.verdict.kind = Kind::remembers;
    show(key_, verdict.input, again.outcomes[verdict.input]);
  }

  // The input that shows the error, alone in a new program.
  bool forgets_when_alone() {
    const Index input = finding_.verdict.input;
    const Answers alone = ask(subject_.program, learner, key_.selection, input, input + 1);
    std::optional<Difference> difference;
    if (fault(task_, alone.outcomes[input], key_.right[input], difference) != Kind::passed) return false;
    finding_.verdict.kind = Kind::remembers;
    return true;
  }

  void name(const std::vector<Outcome>& answers) {
    using Fit = Recognised::Fit;
    for (Recognised recognised : recognise(key_, ask_mistakes(key_), answers)) {
      // On a drawn input a mistake may even crash. So it is asked by a program of its own, this one. It has
      // to explain the errors there, too; but who makes it may well guard a case that the mistake does not.
      const Answers known =
          ask("/proc/self/exe", int(recognised.mistake), key_.selection, key_.chosen(), count());
      const Likeness like = likeness_on_drawn(key_, recognised, known.outcomes, answers);
      if (like.same_errors < 4 * like.unexplained || (recognised.fit == Fit::in_part && like.apart > 0))
        continue;
      if (like.apart > 0 && recognised.fit == Fit::exact) recognised.fit = Fit::close;
      finding_.mistakes.push_back(recognised);
    }
    if (finding_.mistakes.empty() || finding_.mistakes[0].fit != Fit::exact)
      finding_.facts = facts(key_, answers, most_facts);
  }

  // Draws many inputs at small scales, and shows the one that is quickest to read and fails in the same way.
  void look_for_smaller() {
    if (finding_.verdict.input == 0) return;
    const Selection small{.chosen_seed = 0,
                          .draw_seed = subject_.seed + 1,
                          .draws = shrinking_draws,
                          .largest_scale = shrinking_scale};
    const AnswerKey key(task_, small);
    const Answers answers = ask(subject_.program, learner, small, 0, small.draws);
    Index best = -1, shortest = effort(finding_.arguments, finding_.right);
    for (Index i = 0; i < small.draws; ++i) {
      std::optional<Difference> difference;
      if (answers.outcomes[i].kind == Outcome::Kind::unasked ||
          fault(task_, answers.outcomes[i], key.right[i], difference) != finding_.verdict.kind)
        continue;
      const Index length = effort(key.inputs[i].arguments, key.right[i]);
      if (length < shortest) best = i, shortest = length;
    }
    if (best >= 0) show(key, best, answers.outcomes[best]);
  }

  static Index effort(const Value& arguments, const Outcome& right) {
    Index length = length_of(arguments);
    for (const Call& call : right.calls) length += length_of(call.asked) + length_of(call.answered);
    return length;
  }

  const Task& task_;
  const Subject& subject_;
  AnswerKey key_;
  Finding finding_;
};

}  // namespace

Finding examine(const Task& task, const Subject& subject) { return Examination(task, subject).run(); }

}  // namespace coach
