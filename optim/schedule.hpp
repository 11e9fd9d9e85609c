// Schedules: the learning rate as a function of the step, which counts from 1.
//
//   constant   linear up to the peak, then level
//   noam       d_model^-½ · min(s^-½, s · warmup^-1.5): linear up, then falling as 1/√s (the paper, eq. 3)
//   cosine     linear up to the peak, then half a cosine down to `floor`
//   linear     linear up to the peak, then straight down to `floor`
#pragma once

#include <string>  // string

#include "core/index.hpp"

namespace attn {

enum class ScheduleKind { constant, noam, cosine, linear };

struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  double peak = 1e-3;  // for noam: a factor on the paper's formula
  Index warmup = 0;    // steps
  Index total = 0;     // steps, for cosine and linear: where `floor` is reached
  double floor = 0;
  Index d_model = 512;  // for noam

  double operator()(Index step) const;
};

ScheduleKind schedule_from_name(const std::string& name);

}  // namespace attn
