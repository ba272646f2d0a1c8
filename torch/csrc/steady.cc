#include "steady.h"

#include <algorithm>
#include <exception>

#include <ATen/Parallel.h>
#include <omp.h>

// MKL, where LibTorch has it, does not ask OpenMP. Absent otherwise.
extern "C" int MKL_Set_Num_Threads_Local(int threads) __attribute__((weak));

namespace graft {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The parts of a batch. More would keep more threads busy, and cost more calls.
constexpr int64_t kShards = 4;

// Multiplications below which a product is not split: a million take some 20 microseconds,
// as long as several threads take to begin.
constexpr int64_t kWorthSharing = 1 << 20;

// Threads for what does not depend on their number; zero outside of steady calls.
thread_local int all_threads = 0;

class Wide {
 public:
  Wide() {
    if (all_threads > 1) omp_set_num_threads(all_threads);
  }
  ~Wide() {
    if (all_threads > 1) omp_set_num_threads(1);
  }
};

// Work that is split by hand must not be split again. The setting belongs to the thread, and
// LibTorch makes it when a thread first asks for the number of threads: that must be over.
class Alone {
 public:
  Alone() : was_(at::get_num_threads()) { use(1); }
  ~Alone() { use(was_); }

 private:
  int was_;
};

at::Tensor wide(const at::Tensor &t) {
  const bool reduced = t.scalar_type() == at::kBFloat16 || t.scalar_type() == at::kHalf;
  return reduced ? t.to(at::kFloat) : t;
}

struct Widen : torch::autograd::FunctionPreHook {
  variable_list operator()(const variable_list &grads) override {
    if (all_threads > 1) omp_set_num_threads(all_threads);
    return grads;
  }
};

struct Narrowed : torch::autograd::FunctionPostHook {
  variable_list operator()(const variable_list &outputs, const variable_list &) override {
    if (all_threads > 1) omp_set_num_threads(1);
    return outputs;
  }
};

// Runs body for each part, on all threads. They are OpenMP's, as LibTorch's are: others
// would compete for the processors with OpenMP's own, which spin for milliseconds when
// they have nothing to do.
template <typename Body>
void each_shard(int64_t shards, const Body &body) {
  const int threads = static_cast<int>(std::min<int64_t>(shards, all_threads > 0 ? all_threads : at::get_num_threads()));
  std::vector<std::exception_ptr> failures(shards);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t k = 0; k < shards; k++) {
    try {
      Alone alone;
      c10::NoGradGuard guard;
      body(k);
    } catch (...) {
      failures[k] = std::current_exception();
    }
  }
  for (const std::exception_ptr &failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

// The rows of a part.
struct Rows {
  int64_t start, count;

  Rows(int64_t rows, int64_t k, int64_t shards) : start(rows * k / shards), count(rows * (k + 1) / shards - start) {}
  at::Tensor of(const at::Tensor &t) const { return t.narrow(0, start, count); }
};

struct Gradients {
  at::Tensor weight, bias;
};

// Adds up what body makes of each part, in the order of the parts and at least in
// float32; autograd rounds the sum to the weight's type where that has less.
template <typename Body>
Gradients over_shards(int64_t rows, const Body &body) {
  const int64_t shards = std::min(kShards, rows);
  std::vector<Gradients> parts(shards);
  each_shard(shards, [&](int64_t k) {
    const Gradients part = body(Rows(rows, k, shards));
    parts[k] = Gradients{part.weight.defined() ? wide(part.weight) : part.weight, part.bias.defined() ? wide(part.bias) : part.bias};
  });
  for (int64_t k = 1; k < shards; k++) {
    if (parts[0].weight.defined()) parts[0].weight.add_(parts[k].weight);
    if (parts[0].bias.defined()) parts[0].bias.add_(parts[k].bias);
  }
  return parts[0];
}

// The rows of a product, computed in parts where that is worth it: a BLAS splits a product by
// the number of its threads, and sums in another order for each.
template <typename Body>
at::Tensor product(const at::Tensor &x, int64_t columns, const Body &body) {
  const int64_t rows = x.size(0), shards = rows * x.size(1) * columns < kWorthSharing ? 1 : std::min(kShards, rows);
  std::vector<at::Tensor> parts(shards);
  each_shard(shards, [&](int64_t k) { parts[k] = body(Rows(rows, k, shards).of(x)); });
  return shards == 1 ? parts[0] : at::cat(parts);
}

// Whether LibTorch may split an example of a convolution by the number of threads, as LibTorch 2
// does with dilated groups.
bool splits_examples(const ConvShape &s, const at::Tensor &weight) { return s.groups > 1 && weight.size(1) > 1; }

// The number of examples from which LibTorch computes convolutions of one tap by oneDNN. Fewer take another kernel on
// one thread only (ConvParams::use_mkldnn, ATen/native/Convolution.cpp).
constexpr int64_t kManyExamples = 16;

// Whether the kernel of a convolution depends on the number of threads.
bool kernel_depends(int64_t rows, const ConvShape &s, const at::Tensor &weight) {
  const auto ones = [](at::IntArrayRef sizes) { return std::all_of(sizes.begin(), sizes.end(), [](int64_t n) { return n == 1; }); };
  return rows < kManyExamples && ones(weight.sizes().slice(2)) && ones(s.stride) && ones(s.dilation);
}

// Whether the examples of a convolution must be computed on one thread each.
bool one_thread_each(int64_t rows, const ConvShape &s, const at::Tensor &weight) {
  return splits_examples(s, weight) || kernel_depends(rows, s, weight);
}

// Computes the examples of a convolution on all threads, or each on one.
template <typename Body>
at::Tensor by_examples(int64_t rows, bool apart, const Body &body) {
  if (!apart) {
    const Wide threads;
    return body(Rows(rows, 0, 1));
  }
  const int64_t shards = std::min(kShards, rows);
  std::vector<at::Tensor> parts(shards);
  each_shard(shards, [&](int64_t k) { parts[k] = body(Rows(rows, k, shards)); });
  return at::cat(parts);
}

at::Tensor conv2d(const at::Tensor &x, const at::Tensor &weight, const c10::optional<at::Tensor> &bias, const ConvShape &s) {
  return by_examples(x.size(0), one_thread_each(x.size(0), s, weight), [&](const Rows &rows) {
    return at::conv2d(rows.of(x), weight, bias, s.stride, s.padding, s.dilation, s.groups);
  });
}

struct SteadyConv : torch::autograd::Function<SteadyConv> {
  static at::Tensor forward(AutogradContext *ctx, const at::Tensor &x, const at::Tensor &weight, const c10::optional<at::Tensor> &bias,
                            const ConvShape &s) {
    ctx->save_for_backward({x, weight});
    ctx->saved_data["stride"] = s.stride;
    ctx->saved_data["padding"] = s.padding;
    ctx->saved_data["dilation"] = s.dilation;
    ctx->saved_data["groups"] = s.groups;
    ctx->saved_data["bias"] = bias.has_value();
    return graft::conv2d(x, weight, bias, s);
  }

  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const at::Tensor x = saved[0].detach(), weight = saved[1].detach(), grad = grads[0].contiguous(x.suggest_memory_format());
    const ConvShape s{ctx->saved_data["stride"].toIntVector(), ctx->saved_data["padding"].toIntVector(),
                      ctx->saved_data["dilation"].toIntVector(), ctx->saved_data["groups"].toInt()};
    const bool biased = ctx->saved_data["bias"].toBool();
    const std::vector<int64_t> sizes{weight.size(0)};
    auto part = [&](const at::Tensor &g, const at::Tensor &in, std::array<bool, 3> wanted) {
      return at::convolution_backward(g, in, weight, sizes, s.stride, s.padding, s.dilation, false, {0, 0}, s.groups, wanted);
    };
    at::Tensor input;
    if (ctx->needs_input_grad(0)) {
      input = by_examples(x.size(0), one_thread_each(x.size(0), s, weight),
                          [&](const Rows &rows) { return std::get<0>(part(rows.of(grad), rows.of(x), {true, false, false})); });
    }
    const Gradients all = over_shards(x.size(0), [&](const Rows &rows) {
      auto made = part(rows.of(grad), rows.of(x), {false, true, biased});
      return Gradients{std::get<1>(made), std::get<2>(made)};
    });
    return {input, all.weight, all.bias, at::Tensor()};
  }
};

at::Tensor linear(const at::Tensor &x, const at::Tensor &weight, const c10::optional<at::Tensor> &bias) {
  return product(x, weight.size(0), [&](const at::Tensor &rows) { return at::linear(rows, weight, bias); });
}

struct SteadyLinear : torch::autograd::Function<SteadyLinear> {
  static at::Tensor forward(AutogradContext *ctx, const at::Tensor &x, const at::Tensor &weight, const c10::optional<at::Tensor> &bias) {
    ctx->save_for_backward({x, weight});
    ctx->saved_data["bias"] = bias.has_value();
    return graft::linear(x, weight, bias);
  }

  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const at::Tensor x = saved[0].detach(), weight = saved[1].detach(), grad = grads[0].contiguous();
    const bool biased = ctx->saved_data["bias"].toBool();
    at::Tensor input;
    if (ctx->needs_input_grad(0)) input = product(grad, weight.size(1), [&](const at::Tensor &rows) { return rows.mm(weight); });
    const Gradients all = over_shards(x.size(0), [&](const Rows &rows) {
      const at::Tensor g = rows.of(grad);
      return Gradients{g.t().mm(rows.of(x)), biased ? g.sum(0) : at::Tensor()};
    });
    return {input, all.weight, all.bias};
  }
};

// Norm is LayerNorm, or GroupNorm where groups is not zero. Examples are apart in both.
struct Norm {
  std::vector<int64_t> sizes;
  int64_t groups;
  double eps;

  using Three = std::tuple<at::Tensor, at::Tensor, at::Tensor>;

  Three forward(const at::Tensor &x, const at::Tensor &w, const at::Tensor &b) const {
    if (groups == 0) return at::native_layer_norm(x, sizes, w, b, eps);
    return at::native_group_norm(x, w, b, x.size(0), x.size(1), x.numel() / (x.size(0) * x.size(1)), groups, eps);
  }

  Three backward(const at::Tensor &grad, const at::Tensor &x, const at::Tensor &mean, const at::Tensor &rstd, const at::Tensor &w,
                 const at::Tensor &b) const {
    const std::array<bool, 3> wanted{true, w.defined(), b.defined()};
    if (groups == 0) return at::native_layer_norm_backward(grad, x, sizes, mean, rstd, w, b, wanted);
    return at::native_group_norm_backward(grad, x, mean, rstd, w, x.size(0), x.size(1), x.numel() / (x.size(0) * x.size(1)), groups, wanted);
  }
};

using Maybe = c10::optional<at::Tensor>;

struct SteadyNorm : torch::autograd::Function<SteadyNorm> {
  static at::Tensor forward(AutogradContext *ctx, const at::Tensor &given, const Maybe &weight, const Maybe &bias, const Norm &norm) {
    const at::Tensor x = given.contiguous(), w = weight.value_or(at::Tensor()), b = bias.value_or(at::Tensor());
    const int64_t shards = std::min(kShards, x.size(0));
    std::vector<at::Tensor> y(shards), mean(shards), rstd(shards);
    each_shard(shards, [&](int64_t k) { std::tie(y[k], mean[k], rstd[k]) = norm.forward(Rows(x.size(0), k, shards).of(x), w, b); });
    ctx->save_for_backward({x, w, b, at::cat(mean), at::cat(rstd)});
    ctx->saved_data["sizes"] = norm.sizes;
    ctx->saved_data["groups"] = norm.groups;
    ctx->saved_data["eps"] = norm.eps;
    return at::cat(y);
  }

  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const at::Tensor x = saved[0].detach(), w = saved[1], b = saved[2], mean = saved[3], rstd = saved[4], grad = grads[0].contiguous();
    const Norm norm{ctx->saved_data["sizes"].toIntVector(), ctx->saved_data["groups"].toInt(), ctx->saved_data["eps"].toDouble()};
    at::Tensor input = at::empty_like(x);
    const Gradients all = over_shards(x.size(0), [&](const Rows &rows) {
      auto made = norm.backward(rows.of(grad), rows.of(x), rows.of(mean), rows.of(rstd), w, b);
      rows.of(input).copy_(std::get<0>(made));
      return Gradients{std::get<1>(made), std::get<2>(made)};
    });
    return {input, all.weight, all.bias, at::Tensor()};
  }
};

Maybe maybe(const at::Tensor &t) { return t.defined() ? Maybe(t) : c10::nullopt; }

}  // namespace

void use(int threads) {
  omp_set_num_threads(threads);
  if (MKL_Set_Num_Threads_Local) MKL_Set_Num_Threads_Local(threads);
}

Narrow::Narrow(bool steady) : was_(steady && all_threads == 0 ? at::get_num_threads() : 0) {
  if (was_ == 0) return;
  all_threads = was_;
  use(1);
}

Narrow::~Narrow() {
  if (was_ == 0) return;
  use(was_);
  all_threads = 0;
}

at::Tensor on_all_threads(const std::function<at::Tensor()> &body) {
  const Wide threads;
  at::Tensor y = body();
  const auto node = y.grad_fn();
  if (node == nullptr) return y;
  node->add_pre_hook(std::make_unique<Widen>());
  node->add_post_hook(std::make_unique<Narrowed>());
  return y;
}

at::Tensor steady_conv2d(const at::Tensor &x, const at::Tensor &weight, const at::Tensor &bias, const ConvShape &s) {
  if (!x.is_cpu()) return at::conv2d(x, weight, bias, s.stride, s.padding, s.dilation, s.groups);
  return c10::GradMode::is_enabled() ? SteadyConv::apply(x, weight, maybe(bias), s) : graft::conv2d(x, weight, maybe(bias), s);
}

at::Tensor steady_linear(const at::Tensor &x, const at::Tensor &weight, const at::Tensor &bias) {
  if (!x.is_cpu() || x.dim() != 2) return at::linear(x, weight, bias);
  return c10::GradMode::is_enabled() ? SteadyLinear::apply(x, weight, maybe(bias)) : graft::linear(x, weight, maybe(bias));
}

at::Tensor steady_layer_norm(const at::Tensor &x, at::IntArrayRef sizes, const at::Tensor &weight, const at::Tensor &bias, double eps) {
  if (!x.is_cpu()) return at::layer_norm(x, sizes, weight, bias, eps);
  return SteadyNorm::apply(x, maybe(weight), maybe(bias), Norm{sizes.vec(), 0, eps});
}

at::Tensor steady_group_norm(const at::Tensor &x, int64_t groups, const at::Tensor &weight, const at::Tensor &bias, double eps) {
  if (!x.is_cpu()) return at::group_norm(x, groups, weight, bias, eps);
  return SteadyNorm::apply(x, maybe(weight), maybe(bias), Norm{{}, groups, eps});
}

}  // namespace graft
