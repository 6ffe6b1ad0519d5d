// Stochastic gradient descent on many classes: exactly the sequential algorithm of one example after the other, for any
// number of threads.
#pragma once
#include <cstddef>
#include <cstdint>

#include "margins.h"

namespace manyclass {

// Which class that violates the margin a joint machine takes as the rival of the right one: the one with the maximal
// score (Crammer and Singer), one drawn at random if it does (pairwise ranking), or the first that does of a sample,
// weighted by how soon it was found (WARP).
enum class Violator { max, random, sampled };

// A run of examples, in the order in which they are seen.
struct Examples {
  const float* X;         // (n, d)
  const std::int32_t* y;  // class after class of each; -1 for one of other classes, where these are a part of them
  const float* weights;   // (n) what the gradient is multiplied with
  std::size_t n, d;
  const std::int64_t* starts = nullptr;  // (n + 1) example i is of the classes y[starts[i]] < ... < y[starts[i + 1] -
                                         // 1]; joint machines, which have one of each, do without
};

// Class c scores scales[c] * (weights[c]' x) + biases[c]; steps[c] counts the examples it has seen.
struct LinearWeights {
  float* weights;       // (k, d)
  float* biases;        // (k)
  double* scales;       // (k) in float64: a decay of 1e-8 must not round away
  std::int64_t* steps;  // (k)
  std::size_t k;
};

// step_t = step / (1 + decay * t), and decay is 0 for steps of one length. The bias is not regularized; its step is
// multiplied with bias_rate.
struct Schedule {
  double step, regularization, bias_rate, decay;
};

inline double step_at(const Schedule& schedule, std::int64_t t) {
  return schedule.step / (1 + schedule.decay * double(t));
}

// Below this a scale joins its weights again, long before float32 loses digits.
constexpr double SMALLEST_SCALE = 1e-6;

// Example i is a negative of the classes other than its own that offsets[i] draws from the shares, as in shares.h.
struct Negatives {
  const double* offsets;  // (n) in [0, 1)
  const double* shares;   // (k + 1) where the share of each class begins, and the end of the last
};

// One-vs-rest. Every example updates its own classes, one or any number, as a positive and its negative classes as
// negatives:
//   w_c <- (1 - step_t * regularization) w_c - step_t * dL(y s) / dw.
// losses (k) receives the sum of the losses met before each update. Each thread owns a range of classes.
void one_vs_rest(const Examples& examples, const Negatives& negatives, const LinearWeights& model, Loss loss,
                 const Schedule& schedule, double* losses, std::size_t threads);

// The same for a block whose scores S (n, k) = X W' and Gram matrix G (n, n) = X X' are given: for many negatives two
// matrix products are faster than many short ones. S becomes A (n, k), and W + A' X are the weights after the block;
// biases, scales and steps are updated. examples.X is not read.
void one_vs_rest_block(const Examples& examples, const Negatives& negatives, const LinearWeights& model, Loss loss,
                       const Schedule& schedule, const float* G, float* S, double* losses, std::size_t threads);

// All classes together (multiclass, ranking, weighted ranking): every example moves its class y up and one rival down,
//   w_y <- w_y + step_t r x,  w_rival <- w_rival - step_t r x,
// if the rival's score is not below that of y by 1; r is 1, or for Violator::sampled the sum 1 + 1/2 + ... up to
// floor((k - 1) / draws). scales[0] and steps[0] serve for all classes. S (n, k) = X W' and G (n, n) = X X' are given,
// S is used up. Returns the sum of the losses; rivals (n) and pulls (n) receive what was chosen (-1 for none) and with
// which factor of x in the weights. `draw` is a number of its own for every example.
double joint_block(const Examples& examples, const LinearWeights& model, Violator violator, const Schedule& schedule,
                   const float* G, float* S, const std::uint64_t* draw, std::int32_t* rivals, float* pulls);

// rivals (n): the class that Violator::random draws for each example. Only its score and that of y are then read of S.
void draw_rivals(const std::int32_t* y, std::size_t n, std::size_t k, const std::uint64_t* draws, std::int32_t* rivals);

// S[i, classes[i, m]] = X[i]' W[classes[i, m]], for two classes of each example
void score_two(const float* X, std::size_t n, std::size_t d, const float* W, std::size_t k, const std::int32_t* classes,
               float* S, std::size_t threads);

// W[y[i]] += pulls[i] X[i], W[rivals[i]] -= pulls[i] X[i], in the order of i; each thread owns a range of classes.
void move_two(const float* X, std::size_t n, std::size_t d, float* W, std::size_t k, const std::int32_t* y,
              const std::int32_t* rivals, const float* pulls, std::size_t threads);

// W += A' X for A (n, k) that is mostly zeros, in the order of i; each thread owns a range of classes.
void move_some(const float* X, std::size_t n, std::size_t d, const float* A, float* W, std::size_t k,
               std::size_t threads);

}  // namespace manyclass
