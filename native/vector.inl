// Pack<L>: L floats held in registers, as vectors of at most LANES (the width of the level). It uses the vector types
// of GCC and Clang, which every level lowers to its own instructions.
template <int L>
struct Pack {
  static constexpr int V = L < LANES ? L : LANES;
  static constexpr int N = L / V;
  typedef float Vector __attribute__((vector_size(V * 4)));
  typedef float Loose __attribute__((vector_size(V * 4), aligned(4), may_alias));
  Vector v[N];

  static inline Pack zero() {
    Pack p;
    for (int a = 0; a < N; ++a) p.v[a] = Vector{};
    return p;
  }
  static inline Pack load(const float* x) {
    Pack p;
    for (int a = 0; a < N; ++a) p.v[a] = *(const Loose*)(x + a * V);
    return p;
  }
  inline void store(float* x) const {
    for (int a = 0; a < N; ++a) *(Loose*)(x + a * V) = v[a];
  }
  inline void add(const float* x) {
    for (int a = 0; a < N; ++a) v[a] += *(const Loose*)(x + a * V);
  }
  inline void add(const Pack& x) {
    for (int a = 0; a < N; ++a) v[a] += x.v[a];
  }
  inline void multiply_add(float s, const Pack& x) {
    for (int a = 0; a < N; ++a) v[a] += s * x.v[a];
  }
  inline void multiply_add(const Pack& s, const Pack& x) {
    for (int a = 0; a < N; ++a) v[a] += s.v[a] * x.v[a];
  }
};

template <>
struct Pack<1> {
  float v;
  static inline Pack zero() { return {0.0f}; }
  static inline Pack load(const float* x) { return {*x}; }
  inline void store(float* x) const { *x = v; }
  inline void add(const float* x) { v += *x; }
  inline void add(const Pack& x) { v += x.v; }
  inline void multiply_add(float s, const Pack& x) { v += s * x.v; }
};
