#include EXERCISE

#include "lessons/mine/exports.hpp"

using namespace attn;

void export_functions(mine::Exports& exports) {
  exports.add("search_beam", exercise::search_beam);
  exports.add("keep_top_k", exercise::keep_top_k);
  exports.add("keep_top_p", exercise::keep_top_p);
  exports.add("cached_step", [](const Tensor& x, const Tensor& positions, mine::CachedHead& head) {
    exercise::Cache cache{head.keys, head.values};
    const Tensor out = exercise::cached_step(x, positions, {head.query, head.key, head.value}, cache);
    head.keys = cache.keys, head.values = cache.values;
    return out;
  });
}
