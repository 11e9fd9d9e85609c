#include "lessons/19_today/fine_tuning.hpp"

#include <algorithm>  // max
#include <iterator>   // ssize

#include "core/autograd.hpp"  // NoGrad

namespace attn {

FineTuning learn_fairy_tales(const Course& course, const std::vector<Gpt>& bases, Index steps,
                             std::uint64_t seed) {
  const std::vector<int> tales = fairy_tales(course.text.vocabulary, seed);
  const auto cut = tales.begin() + std::ssize(tales) * 9 / 10;
  const std::vector<int> training(tales.begin(), cut), unseen(cut, tales.end());
  const Index T = course.recipe.T;
  const auto measure = [&](Way& way, const Gpt& model) {
    const auto logits = [&](const IntTensor& reads) { return model(reads); };
    way.tales.push_back(loss_on(unseen, T, logits));
    way.stories.push_back(loss_on(course.text.unseen, T, logits));
  };
  Recipe recipe = course.recipe;
  recipe.steps = steps;
  FineTuning result{{{"as it was", 0}, {"all weights", 0}, {"LoRA, rank 1", 1}, {"LoRA, rank 4", 4}}};
  std::vector<Way>& ways = result.ways;
  for (Index i = 0; i < std::ssize(bases); ++i) {
    measure(ways[0], bases[i]);
    const Gpt tuned = copy_of(bases[i]);
    recipe.rate = 8e-3;
    teach(parameters_of(tuned), training, recipe, course.seeds[i], [&](const Windows& windows) {
      return cross_entropy(tuned(windows.reads, {.training = true}), windows.writes);
    });
    ways[1].numbers = parameters_of(tuned).count();
    measure(ways[1], tuned);
    for (Way& way : ways) {
      if (way.rank == 0) continue;
      Rng rng(course.seeds[i]);
      Lora adapted(bases[i], way.rank, real(2 * way.rank), rng);
      recipe.rate = 24e-3;
      teach(parameters_of(adapted), training, recipe, course.seeds[i], [&](const Windows& windows) {
        adapted.merge();  // the weights of this pass, as a function of A and B
        return cross_entropy(adapted.model(windows.reads, {.training = true}), windows.writes);
      });
      const NoGrad no_grad;
      adapted.merge();
      way.numbers = parameters_of(adapted).count();
      measure(way, adapted.model);

      const Lora::Adapter& one = adapted.adapters[0];
      const Tensor x = normal({3, one.w.size(1)}, rng);
      const Tensor beside = linear(x, one.w) + linear(linear(x, one.a), one.b) * adapted.scale;
      result.merged_differs =
          std::max(result.merged_differs, double(max_difference(linear(x, one.layer->weight), beside)));
      adapted.take_out();
      const IntTensor reads = window_at(unseen, 0, T).reads;
      result.taken_out_differs =
          std::max(result.taken_out_differs, double(max_difference(adapted.model(reads), bases[i](reads))));
    }
  }
  return result;
}

}  // namespace attn
