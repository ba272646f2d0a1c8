// Operators that LibTorch 1.13 lacks, that draw random numbers from a generator of the caller's, or that
// compute with sizes. Each is called as LibTorch's own are, by its schema.
#include <unordered_set>

#include <torch/csrc/jit/frontend/function_schema_parser.h>
#include <torch/version.h>

#include "calls.h"
#include "fast_operators.h"
#include "peers.h"
#include "steady.h"

namespace graft {

namespace {

using torch::jit::Stack;

// The mask is like another tensor. Several processes draw that of the whole batch, and each takes its rows.
at::Tensor masked(const at::Tensor &x, const at::Tensor &like, double p, CallPass &pass) {
  TORCH_CHECK(p >= 0 && p <= 1, "the dropout probability is ", p, "; expected a value from 0 to 1");
  if (p == 1) return x * 0;  // as in PyTorch, nothing is drawn
  if (pass.masks != nullptr) return x * pass.masks->next(like, 1 - p).div(1 - p);
  return x * own_rows(like_whole_batch(like).bernoulli_(1 - p, pass.generator)).div(1 - p);
}

at::Tensor dropout(const Stack &stack, CallPass &pass) {
  const at::Tensor x = stack[0].toTensor();
  const double p = stack[1].toDouble();
  if (!stack[2].toBool() || p == 0) return x;
  return masked(x, x, p, pass);
}

// Statistics of a batch that several processes share are those of all its rows.
at::Tensor batch_norm(const Stack &s, CallPass &) {
  auto tensor = [&](size_t k) { return s[k].isNone() ? at::Tensor() : s[k].toTensor(); };
  const at::Tensor x = s[0].toTensor();
  if (s[5].toBool()) check_values_per_channel(x, tensor(4));
  if (s[5].toBool() && sharing() != nullptr) return shared_norm(x, {tensor(1), tensor(2), tensor(3), tensor(4), s[6].toDouble(), s[7].toDouble()});
  return at::batch_norm(x, tensor(1), tensor(2), tensor(3), tensor(4), s[5].toBool(), s[6].toDouble(), s[7].toDouble(), s[8].toBool());
}

// Whole channels are dropped.
at::Tensor feature_dropout(const Stack &stack, CallPass &pass) {
  const at::Tensor x = stack[0].toTensor();
  const double p = stack[1].toDouble();
  if (!stack[2].toBool() || p == 0) return x;
  TORCH_CHECK(x.dim() >= 2, "dropout of channels needs two dimensions, not ", x.dim());
  std::vector<int64_t> sizes(x.dim(), 1);
  sizes[0] = x.size(0);
  sizes[1] = x.size(1);
  return masked(x, at::empty(sizes, x.options()), p, pass);
}

// Zhang and Sennrich 2019.
at::Tensor rms_norm(const Stack &stack, CallPass &) {
  const at::Tensor x = stack[0].toTensor();
  const std::vector<int64_t> shape = stack[1].toIntVector();
  TORCH_CHECK(!shape.empty() && static_cast<int64_t>(shape.size()) <= x.dim(), "a norm over ", shape.size(), " dimensions of ", x.dim());
  std::vector<int64_t> dims;
  for (size_t k = 0; k < shape.size(); k++) {
    dims.push_back(static_cast<int64_t>(k) - static_cast<int64_t>(shape.size()));
    TORCH_CHECK(x.size(dims.back()) == shape[k], "the norm is over ", at::IntArrayRef(shape));
  }
  // PyTorch's default is the type's epsilon.
  const double eps = stack[3].isNone() ? (x.scalar_type() == at::kDouble ? std::numeric_limits<double>::epsilon() : std::numeric_limits<float>::epsilon()) : stack[3].toDouble();
  const at::Tensor y = x * at::rsqrt(x.pow(2).mean(dims, true) + eps);
  return stack[2].isNone() ? y : y * stack[2].toTensor();
}

// A row whose scores are all masked is zero, and so are its gradients, as in PyTorch 2.5 and later.
at::Tensor safe_softmax(const at::Tensor &scores) {
  const at::Tensor empty = scores.detach().eq(-std::numeric_limits<double>::infinity()).all(-1, true);
  return at::softmax(scores.masked_fill(empty, 0), -1).masked_fill(empty, 0);
}

// softmax(q kᵀ · scale + mask) v (Vaswani et al. 2017), as PyTorch's documentation of the operator gives it.
at::Tensor attention(const Stack &stack, CallPass &pass) {
  const at::Tensor q = stack[0].toTensor();
  at::Tensor k = stack[1].toTensor(), v = stack[2].toTensor();
  TORCH_CHECK(q.dim() >= 2 && k.dim() == q.dim() && v.dim() == q.dim(), "queries, keys and values have the same number of dimensions, two or more");
  if (stack[7].toBool()) {
    TORCH_CHECK(q.dim() >= 3 && k.size(-3) > 0 && q.size(-3) % k.size(-3) == 0, "the heads of the queries are no multiple of those of the keys");
    k = k.repeat_interleave(q.size(-3) / k.size(-3), -3);
    v = v.repeat_interleave(q.size(-3) / v.size(-3), -3);
  }
  const double scale = stack[6].isNone() ? 1 / std::sqrt(static_cast<double>(q.size(-1))) : stack[6].toDouble();
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 1
  // LibTorch's own never keeps all scores at once. It takes no mask beside causality, and draws dropout from the default generator.
  // Before 2.5, queries without a key have NaN.
  const c10::optional<at::Tensor> given = stack[3].isNone() ? c10::optional<at::Tensor>() : stack[3].toTensor();
  const bool masks = TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 5;
  if (stack[4].toDouble() == 0 && !pass.steady && !(given.has_value() && (stack[5].toBool() || !masks))) return at::scaled_dot_product_attention(q, k, v, given, 0.0, stack[5].toBool(), scale);
#endif
  at::Tensor scores = at::matmul(q * scale, k.transpose(-2, -1));
  if (stack[5].toBool()) {
    const at::Tensor seen = at::ones({q.size(-2), k.size(-2)}, q.options().dtype(at::kBool)).tril();
    scores = scores.masked_fill(seen.logical_not(), -std::numeric_limits<double>::infinity());
  }
  if (!stack[3].isNone()) {
    const at::Tensor mask = stack[3].toTensor();
    scores = mask.scalar_type() == at::kBool ? scores.masked_fill(mask.logical_not(), -std::numeric_limits<double>::infinity()) : scores + mask;
  }
  at::Tensor shares = stack[3].isNone() ? at::softmax(scores, -1) : safe_softmax(scores);
  const double p = stack[4].toDouble();
  if (p > 0) shares = masked(shares, shares, p, pass);
  return at::matmul(shares, v);
}

// A product is divided among threads by its rows, since the BLAS of some LibTorchs computes each on one thread. Steady programs
// divide it by any number of threads, so that its bits do not depend on their number.
at::Tensor linear(const Stack &stack, CallPass &pass) {
  const at::Tensor x = stack[0].toTensor(), weight = stack[1].toTensor();
  const at::Tensor bias = stack[2].isNone() ? at::Tensor() : stack[2].toTensor();
  if (pass.fast && !pass.steady && fast_linear_fits(x, weight, bias)) return fast_linear(x, weight, bias);
  if (!x.is_cpu() || x.dim() < 2 || weight.dim() != 2 || x.numel() == 0 || (!pass.steady && (at::hasMKL() || at::get_num_threads() == 1))) return at::linear(x, weight, bias);
  if (x.dim() == 2) return steady_linear(x, weight, bias);
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes.back() = weight.size(0);
  return steady_linear(x.reshape({-1, x.size(-1)}), weight, bias).reshape(sizes);
}

at::Tensor gelu(const Stack &stack, CallPass &pass) {
  const at::Tensor x = stack[0].toTensor();
  const std::string approximate = stack[1].toStringRef();
  return pass.fast && !pass.steady && fast_gelu_fits(x) ? fast_gelu(x, approximate) : at::gelu(x, approximate);
}

// Whether a view is possible depends on strides, which other versions of an operator give otherwise.
at::Tensor view(const Stack &stack, CallPass &) { return stack[0].toTensor().reshape(stack[1].toIntVector()); }

// Adds one to a counter of batches, in place.
at::Tensor count_batch(const Stack &stack, CallPass &) {
  c10::NoGradGuard guard;
  return stack[0].toTensor().add_(1);
}

int64_t size(const Stack &stack) { return stack[0].toTensor().size(stack[1].toInt()); }
int64_t add(const Stack &s) { return s[0].toInt() + s[1].toInt(); }
int64_t sub(const Stack &s) { return s[0].toInt() - s[1].toInt(); }

int64_t mul(const Stack &s) {
  int64_t product = 0;
  TORCH_CHECK(!__builtin_mul_overflow(s[0].toInt(), s[1].toInt(), &product), "the product of two sizes is too large");
  return product;
}

// Python's //, which rounds down.
int64_t floordiv(const Stack &s) {
  const int64_t a = s[0].toInt(), b = s[1].toInt();
  TORCH_CHECK(b > 0, "a size is divided by ", b);
  return a / b - (a % b < 0 ? 1 : 0);
}

Operator own(const char *schema, Operator::Own body) { return {std::make_shared<c10::FunctionSchema>(torch::jit::parseSchema(schema)), c10::nullopt, body, nullptr}; }
Operator count(const char *schema, Operator::Count body) { return {std::make_shared<c10::FunctionSchema>(torch::jit::parseSchema(schema)), c10::nullopt, nullptr, body}; }

const std::vector<Operator> &own_operators() {
  static const std::vector<Operator> all = {
      own("aten::dropout(Tensor input, float p, bool train) -> Tensor", dropout),
      own("aten::feature_dropout(Tensor input, float p, bool train) -> Tensor", feature_dropout),
      own("aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor", batch_norm),
      own("aten::rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor", rms_norm),
      own("aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor",
          attention),
      own("aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor", linear),
      own("aten::gelu(Tensor self, *, str approximate='none') -> Tensor", gelu),
      own("aten::view(Tensor self, int[] size) -> Tensor", view),
      own("graft::count(Tensor counter) -> Tensor", count_batch),
      count("aten::sym_size.int(Tensor self, int dim) -> int", size),
      count("_operator::add(int a, int b) -> int", add),
      count("_operator::sub(int a, int b) -> int", sub),
      count("_operator::mul(int a, int b) -> int", mul),
      count("_operator::floordiv(int a, int b) -> int", floordiv),
  };
  return all;
}

}  // namespace

Operator find_operator(const std::string &name, const std::string &overload) {
  for (const Operator &o : own_operators()) {
    if (o.schema->name() == name && o.schema->overload_name() == overload) return o;
  }
  const auto handle = c10::Dispatcher::singleton().findSchema({name, overload});
  TORCH_CHECK(handle.has_value(), "this LibTorch has no such operator");
  return {std::make_shared<c10::FunctionSchema>(handle->schema()), handle, nullptr, nullptr};
}

void check_empty(const std::string &name, const torch::jit::Stack &stack) {
  static const std::unordered_set<std::string> divide = {"aten::_weight_norm"};
  if (divide.count(name) == 0) return;
  for (const c10::IValue &v : stack) TORCH_CHECK(!v.isTensor() || v.toTensor().numel() > 0, "a tensor is empty");
}

// Whether a tensor of whole numbers has one of two values.
static bool has(const at::Tensor &t, int64_t one, int64_t other) {
  return t.numel() > 0 && c10::isIntegralType(t.scalar_type(), false) && (t.eq(one) | t.eq(other)).any().item<bool>();
}

// The processor traps where the smallest whole number is divided by -1, and a trial on other values does not see it.
static void check_division(const torch::jit::Stack &stack) {
  auto tensor = [&](size_t k) { return stack[k].isInt() ? at::scalar_tensor(stack[k].toInt(), at::kLong) : stack[k].isTensor() ? stack[k].toTensor() : at::Tensor(); };
  const at::Tensor a = tensor(0), b = tensor(1);
  if (!a.defined() || !b.defined() || !c10::isIntegralType(a.scalar_type(), false) || !has(b, -1, -1)) return;
  TORCH_CHECK(!has(a.to(at::kLong), std::numeric_limits<int64_t>::min(), std::numeric_limits<int32_t>::min()), "the smallest whole number is divided by -1");
}

// A mask picks as many values as the data says, so a trial does not see what they take.
static void check_indices(const torch::jit::Stack &stack) {
  for (const c10::IValue &v : stack[1].toListRef()) {
    const bool mask = v.isTensor() && v.toTensor().defined() && (v.toTensor().scalar_type() == at::kBool || v.toTensor().scalar_type() == at::kByte);
    TORCH_CHECK(!mask, "a mask is an index, which picks as many values as the data says; multiply by the mask, or choose with where");
  }
}

void check_data(const std::string &name, const torch::jit::Stack &stack) {
  static const std::unordered_set<std::string> divide = {"aten::div", "aten::divide", "aten::floor_divide", "aten::remainder", "aten::fmod"};
  if (name == "aten::index") return check_indices(stack);
  if (divide.count(name) != 0) check_division(stack);
}

// Whether values of a type are tensors, numbers, or lists of them.
static bool is_plain(const c10::TypePtr &type) {
  switch (type->kind()) {
    case c10::TypeKind::TensorType:
    case c10::TypeKind::IntType:
    case c10::TypeKind::FloatType:
    case c10::TypeKind::BoolType:
    case c10::TypeKind::NumberType:
      return true;
    case c10::TypeKind::OptionalType:
      return is_plain(type->expectRef<c10::OptionalType>().getElementType());
    case c10::TypeKind::ListType:
      return is_plain(type->expectRef<c10::ListType>().getElementType());
    default:
      return false;
  }
}

void check_function(const std::string &name, const std::string &overload) {
  const auto handle = c10::Dispatcher::singleton().findSchema({name, overload});
  TORCH_CHECK(handle.has_value(), "this LibTorch has no such operator");
  const c10::FunctionSchema &schema = handle->schema();
  for (const c10::Argument &a : schema.arguments()) {
    TORCH_CHECK(!a.alias_info() || !a.alias_info()->isWrite(), "the operator changes its argument ", a.name());
    TORCH_CHECK(is_plain(a.type()), "its argument ", a.name(), " is a ", a.type()->str(), ", and graft passes on tensors and numbers");
  }
  for (const c10::Argument &a : schema.returns()) {
    TORCH_CHECK(!a.alias_info(), "the operator returns a view of an argument");
    TORCH_CHECK(a.type()->kind() == c10::TypeKind::TensorType, "the operator returns a ", a.type()->str(), ", and graft takes tensors");
  }
}

}  // namespace graft
