// Losses of one margin.
#pragma once
#include <cmath>

namespace manyclass {

// Losses of a margin z = y s, with y = +1 or -1 and s the score:
// max(0, 1 - z), max(0, 1 - z)^2, log(1 + exp(-z)), (1 - z)^2 / 2.
enum class Loss { hinge, squared_hinge, logistic, squared };

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

}  // namespace manyclass
