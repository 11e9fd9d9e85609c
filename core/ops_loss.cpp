#include "core/ops.hpp"

#include <algorithm>  // count

#include "core/error.hpp"
#include "core/kernels.hpp"
#include "core/op.hpp"

namespace attn {

// -Σ_v q(v) log softmax(x)_v, averaged over the targets that count, with q = (1 - ε) one-hot + ε/V.
// The gradient is the famous (softmax(x) - q) / count.
Tensor cross_entropy(const Tensor& logits, const IntTensor& given, const CrossEntropyOptions& options) {
  const IntTensor targets = given.copy();  // the backward needs them as they are now
  if (logits.rank() == 0 || !(targets.shape() == logits.shape().without(logits.rank() - 1)))
    fail("cross_entropy: targets {} do not fit logits {}", targets.shape().str(), logits.shape().str());
  if (!(options.smoothing >= 0 && options.smoothing <= 1))
    fail("cross_entropy: a smoothing of {} is not between 0 and 1", options.smoothing);
  const Index V = logits.shape()[-1], rows = targets.numel();
  for (Index i = 0; i < rows; ++i)
    if (targets[i] != options.ignore && (targets[i] < 0 || targets[i] >= V))
      fail("cross_entropy: target {} (number {} of {}) is outside logits {}", targets[i], i,
           targets.shape().str(), logits.shape().str());
  const Index count = rows - std::count(targets.data(), targets.data() + rows, options.ignore);
  if (count == 0)
    fail("cross_entropy: none of the targets {} counts: there is no mean", targets.shape().str());

  const Tensor losses = empty({rows}), statistics = empty({2, rows});  // of each row: max, sum of exp
  const auto entropy_rows = [=] {
    return CrossEntropyRows{.cols = V,
                            .x = logits.data(),
                            .targets = targets.data(),
                            .ignore = options.ignore,
                            .smoothing = options.smoothing,
                            .max = statistics.data(),
                            .sum = statistics.data() + rows};
  };
  const CrossEntropyRows entropy = entropy_rows();
  parallel_for(rows, row_grain(V), [&](Index begin, Index end) {
    kernels().cross_entropy({begin, end}, entropy, losses.data());
  });
  const real average = kernels().sum(rows, losses.data()) / real(count);
  return record(scalar(average), "cross_entropy", {logits}, [=](const Tensor& out) {
    const GradTarget d_logits = grad_target(logits);
    const real scale = grad_data(out)[0] / real(count);
    const CrossEntropyRows entropy = entropy_rows();
    parallel_for(rows, row_grain(V), [&](Index begin, Index end) {
      kernels().cross_entropy_backward({begin, end}, entropy, scale, d_logits);
    });
  });
}

}  // namespace attn
