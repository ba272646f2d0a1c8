#include "spread.h"

#include <ATen/Parallel.h>

namespace graft {

namespace {

// A share of w that n copies can have. Adding w and taking it off again rounds the
// share to a multiple of w's last place (Dekker 1971), so that sums of shares are
// exact in whatever order they are added.
template <typename T>
T share(T w, T n) {
  return (w + w / n) - w;
}

// One column of one row, for one of n copies.
template <typename T>
void copy_piece(T *to, const T *from, int64_t count, T factor, T n, bool first) {
  if (n == 1) {
    for (int64_t k = 0; k < count; k++) to[k] = from[k] * factor;
  } else if (first) {
    for (int64_t k = 0; k < count; k++) to[k] = from[k] * factor - (n - 1) * share(from[k] * factor, n);
  } else {
    for (int64_t k = 0; k < count; k++) to[k] = share(from[k] * factor, n);
  }
}

at::Tensor optional_type(const at::Tensor &t, at::ScalarType type) { return t.defined() ? t.to(type).contiguous() : t; }

template <typename T>
const T *data(const at::Tensor &t) {
  return t.defined() ? t.data_ptr<T>() : nullptr;
}

// Sources are checked here, as the loops below trust them.
void check(const at::Tensor &index, int64_t size) {
  if (!index.defined() || index.numel() == 0) return;
  TORCH_CHECK(index.scalar_type() == at::kLong, "a source must be int64");
  TORCH_CHECK(index.min().item<int64_t>() >= 0 && index.max().item<int64_t>() < size, "a source lies outside of ", size, " channels");
}

template <typename T>
void spread_host(const at::Tensor &from, at::Tensor &to, const Spread &s) {
  const int64_t columns = to.dim() > 1 ? to.size(1) : 1, old = from.dim() > 1 ? from.size(1) : 1;
  const int64_t inner = to.numel() / std::max<int64_t>(1, to.size(0) * columns);
  const T *src = from.data_ptr<T>(), *scale = data<T>(s.scale), *copies = data<T>(s.copies), *first = data<T>(s.first);
  const int64_t *rows = data<int64_t>(s.rows), *cols = data<int64_t>(s.columns);
  T *dst = to.data_ptr<T>();
  at::parallel_for(0, to.size(0), std::max<int64_t>(1, 16384 / std::max<int64_t>(1, columns * inner)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      const T *row = src + (rows ? rows[i] : i) * old * inner;
      T *out = dst + i * columns * inner;
      const T factor = scale ? scale[i] : T(1);
      for (int64_t j = 0; j < columns; j++, out += inner) {
        const T *in = row + (cols ? cols[j] : j) * inner;
        copy_piece(out, in, inner, factor, copies ? copies[j] : T(1), first && first[j] != 0);
      }
    }
  });
}

at::Tensor broadcast(const at::Tensor &t, int64_t dim, int64_t dims) {
  std::vector<int64_t> shape(dims, 1);
  shape[dim] = t.size(0);
  return t.view(shape);
}

// The same in LibTorch's operators, for other devices.
at::Tensor spread_device(at::Tensor t, const Spread &s) {
  if (s.rows.defined()) t = t.index_select(0, s.rows);
  if (s.scale.defined()) t = t * broadcast(s.scale, 0, t.dim());
  if (s.columns.defined()) t = t.index_select(1, s.columns);
  if (!s.copies.defined()) return t;
  const at::Tensor n = broadcast(s.copies, 1, t.dim());
  const at::Tensor p = (t + t / n) - t;
  return at::where(broadcast(s.first, 1, t.dim()) != 0, t - (n - 1) * p, p);
}

}  // namespace

at::Tensor spread(const at::Tensor &t, const Spread &given) {
  c10::NoGradGuard guard;
  const auto type = t.scalar_type();
  TORCH_CHECK(t.dim() >= 1 && (!given.columns.defined() || t.dim() >= 2), "channels of a tensor of shape ", t.sizes());
  TORCH_CHECK(given.copies.defined() == given.first.defined(), "shares need both counts and first copies");
  const Spread s{given.rows, given.columns, optional_type(given.scale, type), optional_type(given.copies, type), optional_type(given.first, type)};
  if (!t.is_cpu() || !(type == at::kFloat || type == at::kDouble)) return spread_device(t.detach(), s);
  check(s.rows, t.size(0));
  if (s.columns.defined()) check(s.columns, t.size(1));
  auto shape = t.sizes().vec();
  if (s.rows.defined()) shape[0] = s.rows.numel();
  if (s.columns.defined()) shape[1] = s.columns.numel();
  TORCH_CHECK(!s.scale.defined() || s.scale.numel() == shape[0], "a factor for each row");
  TORCH_CHECK(!s.copies.defined() || (s.columns.defined() && s.copies.numel() == shape[1] && s.first.numel() == shape[1]), "a count for each column");
  at::Tensor out = at::empty(shape, t.options().requires_grad(false));
  const at::Tensor from = t.detach().contiguous();
  if (out.numel() == 0) return out;
  type == at::kFloat ? spread_host<float>(from, out, s) : spread_host<double>(from, out, s);
  return out;
}

}  // namespace graft
