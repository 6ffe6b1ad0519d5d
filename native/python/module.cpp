#include "bindings.h"

NB_MODULE(_native, m) {
  m.doc() = "The hot loops; see native/kernels.h.";
  bind_cells(m);
  bind_gather(m);
  bind_head(m);
  bind_level(m);
  bind_pq(m);
  bind_losses(m);
  bind_mixtures(m);
  bind_search(m);
  bind_shortlist(m);
  bind_stochastic(m);
}
