#include "steady.h"

#include <exception>

#include <ATen/Parallel.h>
#include <omp.h>

namespace graft {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The parts of a batch. More would keep more threads busy, and cost more calls.
constexpr int64_t kShards = 4;

struct Gradients {
  at::Tensor weight, bias;
};

// Work that is split by hand must not be split again: oneDNN's and OpenMP's own
// threads wait for each other if it is. The setting belongs to the thread, and LibTorch
// makes it when a thread first asks for the number of threads: that must be over.
class Alone {
 public:
  Alone() : was_(at::get_num_threads()) { omp_set_num_threads(1); }
  ~Alone() { omp_set_num_threads(was_); }

 private:
  int was_;
};

at::Tensor wide(const at::Tensor &t) { return t.scalar_type() == at::kBFloat16 ? t.to(at::kFloat) : t; }

// Runs body for each part, on as many threads as LibTorch may take. They are OpenMP's,
// as LibTorch's are: other threads would compete for the processors with OpenMP's own,
// which spin for milliseconds when they have nothing to do.
template <typename Body>
void each_shard(int64_t shards, const Body &body) {
  const int threads = static_cast<int>(std::min<int64_t>(shards, at::get_num_threads()));
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

// Adds up what body makes of each part, in the order of the parts and at least in
// float32; autograd rounds the sum to the weight's type where that has less.
template <typename Body>
Gradients over_shards(int64_t rows, const Body &body) {
  const int64_t shards = std::min(kShards, rows);
  std::vector<Gradients> parts(shards);
  each_shard(shards, [&](int64_t k) {
    const int64_t start = rows * k / shards;
    const Gradients part = body(start, rows * (k + 1) / shards - start);
    parts[k] = Gradients{wide(part.weight), part.bias.defined() ? wide(part.bias) : part.bias};
  });
  for (int64_t k = 1; k < shards; k++) {
    parts[0].weight.add_(parts[k].weight);
    if (parts[0].bias.defined()) parts[0].bias.add_(parts[k].bias);
  }
  return parts[0];
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
    return at::conv2d(x, weight, bias, s.stride, s.padding, s.dilation, s.groups);
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
    if (ctx->needs_input_grad(0)) input = std::get<0>(part(grad, x, {true, false, false}));
    const Gradients all = over_shards(x.size(0), [&](int64_t start, int64_t count) {
      auto made = part(grad.narrow(0, start, count), x.narrow(0, start, count), {false, true, biased});
      return Gradients{std::get<1>(made), std::get<2>(made)};
    });
    return {input, all.weight, all.bias, at::Tensor()};
  }
};

struct SteadyLinear : torch::autograd::Function<SteadyLinear> {
  static at::Tensor forward(AutogradContext *ctx, const at::Tensor &x, const at::Tensor &weight, const c10::optional<at::Tensor> &bias) {
    ctx->save_for_backward({x, weight});
    ctx->saved_data["bias"] = bias.has_value();
    return at::linear(x, weight, bias);
  }

  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const at::Tensor x = saved[0].detach(), weight = saved[1].detach(), grad = grads[0].contiguous();
    const bool biased = ctx->saved_data["bias"].toBool();
    at::Tensor input;
    if (ctx->needs_input_grad(0)) input = grad.mm(weight);
    const Gradients all = over_shards(x.size(0), [&](int64_t start, int64_t count) {
      const at::Tensor g = grad.narrow(0, start, count);
      return Gradients{g.t().mm(x.narrow(0, start, count)), biased ? g.sum(0) : at::Tensor()};
    });
    return {input, all.weight, all.bias};
  }
};

c10::optional<at::Tensor> maybe(const at::Tensor &t) { return t.defined() ? c10::optional<at::Tensor>(t) : c10::nullopt; }

}  // namespace

at::Tensor steady_conv2d(const at::Tensor &x, const at::Tensor &weight, const at::Tensor &bias, const ConvShape &s) {
  if (!x.is_cpu() || !c10::GradMode::is_enabled()) return at::conv2d(x, weight, bias, s.stride, s.padding, s.dilation, s.groups);
  return SteadyConv::apply(x, weight, maybe(bias), s);
}

at::Tensor steady_linear(const at::Tensor &x, const at::Tensor &weight, const at::Tensor &bias) {
  if (!x.is_cpu() || x.dim() != 2 || !c10::GradMode::is_enabled()) return at::linear(x, weight, bias);
  return SteadyLinear::apply(x, weight, maybe(bias));
}

}  // namespace graft
