#include "optim/schedule.hpp"

#include <algorithm>  // max, min
#include <cmath>      // cos, pow
#include <numbers>    // pi

#include "core/error.hpp"

namespace attn {

double Schedule::operator()(Index step) const {
  if (step < 1) fail("schedule: steps count from 1, not {}", step);
  const double s = double(step), w = double(std::max<Index>(1, warmup));
  if (kind == ScheduleKind::noam)
    return peak * std::pow(double(d_model), -0.5) * std::min(std::pow(s, -0.5), s * std::pow(w, -1.5));
  if (step <= warmup) return peak * s / w;
  if (kind == ScheduleKind::constant) return peak;
  // From 0 at the end of the warm-up to 1 at the last step.
  const double progress = std::min(1.0, double(step - warmup) / double(std::max<Index>(1, total - warmup)));
  const double height =
      kind == ScheduleKind::cosine ? 0.5 * (1 + std::cos(std::numbers::pi * progress)) : 1 - progress;
  return floor + (peak - floor) * height;
}

ScheduleKind schedule_from_name(const std::string& name) {
  if (name == "constant") return ScheduleKind::constant;
  if (name == "noam") return ScheduleKind::noam;
  if (name == "cosine") return ScheduleKind::cosine;
  if (name == "linear") return ScheduleKind::linear;
  fail("schedule: '{:.60}' is not one of constant, noam, cosine, linear", name);
}

}  // namespace attn
