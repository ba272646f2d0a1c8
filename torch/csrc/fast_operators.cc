// See fast_operators.h.
#include "fast_operators.h"

#include <ATen/Parallel.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/custom_function.h>

#include "kernels.h"

namespace graft {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

bool fits(const at::Tensor &x) { return x.is_cpu() && x.scalar_type() == at::kFloat && x.is_contiguous() && x.numel() > 0; }

// The derivative is computed where e^x is known, and kept in place of x.
struct FastGELU : torch::autograd::Function<FastGELU> {
  static at::Tensor forward(AutogradContext *ctx, const at::Tensor &x, bool by_tanh) {
    const at::Tensor slope = at::empty_like(x);
    ctx->save_for_backward({slope});
    return compute(x, by_tanh, slope.data_ptr<float>());
  }

  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    return {grads[0] * ctx->get_saved_variables()[0], at::Tensor()};
  }

  static at::Tensor compute(const at::Tensor &x, bool by_tanh, float *slope) {
    const at::Tensor y = at::empty_like(x);
    const float *from = x.data_ptr<float>();
    float *to = y.data_ptr<float>();
    constexpr int64_t grain = 1 << 14;  // numbers worth a thread
    at::parallel_for(0, x.numel(), grain, [&](int64_t first, int64_t last) {
      kernels().gelu(from + first, last - first, by_tanh, to + first, slope == nullptr ? nullptr : slope + first);
    });
    return y;
  }
};

using Maybe = c10::optional<at::Tensor>;
using Product = at::Tensor(const at::Tensor &, const at::Tensor &, const Maybe &, c10::string_view, c10::List<c10::optional<at::Scalar>>, c10::optional<c10::string_view>);

// oneDNN's product of plain tensors, an operator of LibTorch 2 for torch.compile. Nothing where it is missing.
const c10::optional<c10::TypedOperatorHandle<Product>> &onednn() {
  static const auto handle = []() -> c10::optional<c10::TypedOperatorHandle<Product>> {
    const auto found = c10::Dispatcher::singleton().findSchema({"mkldnn::_linear_pointwise", ""});
    if (!found.has_value() || !at::globalContext().userEnabledMkldnn() || !at::hasMKL()) return c10::nullopt;
    try {
      return found->typed<Product>();
    } catch (const c10::Error &) {
      return c10::nullopt;  // it takes other arguments in this LibTorch
    }
  }();
  return handle;
}

at::Tensor product(const at::Tensor &x, const at::Tensor &weight, const Maybe &bias) { return onednn()->call(x, weight, bias, "none", c10::List<c10::optional<at::Scalar>>(), ""); }

// oneDNN reads a transposed weight where MKL would copy it. The gradient of the weight is MKL's: there rows are summed over,
// which oneDNN does more slowly.
struct FastLinear : torch::autograd::Function<FastLinear> {
  static at::Tensor forward(AutogradContext *ctx, const at::Tensor &x, const at::Tensor &weight, const Maybe &bias) {
    ctx->save_for_backward({x, weight});
    ctx->saved_data["bias"] = bias.has_value();
    return product(x, weight, bias);
  }

  static variable_list backward(AutogradContext *ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const at::Tensor g = grads[0].contiguous(), rows = g.reshape({-1, g.size(-1)});
    at::Tensor dx, dweight, dbias;
    if (ctx->needs_input_grad(0)) dx = product(g, saved[1].t(), c10::nullopt);
    if (ctx->needs_input_grad(1)) dweight = rows.t().mm(saved[0].reshape({-1, saved[0].size(-1)}));
    if (ctx->saved_data["bias"].toBool()) dbias = rows.sum(0);
    return {dx, dweight, dbias};
  }
};

}  // namespace

bool fast_gelu_fits(const at::Tensor &x) { return fits(x); }

at::Tensor fast_gelu(const at::Tensor &x, const std::string &approximate) {
  TORCH_CHECK(approximate == "none" || approximate == "tanh", "GELU has no approximation called ", approximate);
  if (at::GradMode::is_enabled() && x.requires_grad()) return FastGELU::apply(x, approximate == "tanh");
  return FastGELU::compute(x, approximate == "tanh", nullptr);
}

bool fast_linear_fits(const at::Tensor &x, const at::Tensor &weight, const at::Tensor &bias) {
  constexpr int64_t least = 1 << 20;  // multiplications, below which the call takes longer than the product
  return fits(x) && fits(weight) && x.dim() >= 2 && weight.dim() == 2 && x.size(-1) == weight.size(1) && (!bias.defined() || fits(bias)) &&
         x.numel() * weight.size(0) >= least && onednn().has_value();
}

at::Tensor fast_linear(const at::Tensor &x, const at::Tensor &weight, const at::Tensor &bias) {
  return FastLinear::apply(x, weight, bias.defined() ? Maybe(bias) : c10::nullopt);
}

}  // namespace graft
