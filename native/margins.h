// Losses of one margin.
#pragma once
#include <cmath>

#include "stochastic.h"

namespace manyclass {

// The loss of a margin, and minus its derivative.
struct LossAt {
  double loss;
  float pull;
};

inline LossAt evaluate(Loss loss, float margin) {
  const float missing = 1.0f - margin;
  switch (loss) {
    case Loss::hinge: return missing > 0 ? LossAt{missing, 1.0f} : LossAt{0, 0};
    case Loss::squared_hinge: return missing > 0 ? LossAt{double(missing) * missing, 2 * missing} : LossAt{0, 0};
    case Loss::logistic: {
      // Never the exponential of a large number.
      const double e = std::exp(-std::fabs(double(margin)));
      return {std::fmax(-double(margin), 0.0) + std::log1p(e), float(margin > 0 ? e / (1 + e) : 1 / (1 + e))};
    }
    case Loss::squared: return {0.5 * missing * missing, missing};
  }
  __builtin_unreachable();
}

inline double step_at(const Schedule& schedule, std::int64_t t) {
  return schedule.decays ? schedule.step / (1 + schedule.regularization * schedule.step * double(t)) : schedule.step;
}

// Below this a scale joins its weights again, long before float32 loses digits.
constexpr double SMALLEST_SCALE = 1e-6;

}  // namespace manyclass
