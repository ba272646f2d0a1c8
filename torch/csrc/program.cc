#include "program.h"

#include <ATen/Parallel.h>

#include "fused.h"
#include "guard.h"
#include "numerics.h"
#include "peers.h"
#include "steady.h"
#include "stopwatch.h"
#include "strided.h"

namespace graft {

namespace {

const char *layer_name(int32_t op) {
  switch (op) {
    case GRAFT_LAYER_CONV2D: return "conv2d";
    case GRAFT_LAYER_LINEAR: return "linear";
    case GRAFT_LAYER_BATCH_NORM: return "batch_norm";
    case GRAFT_LAYER_LAYER_NORM: return "layer_norm";
    case GRAFT_LAYER_GROUP_NORM: return "group_norm";
    case GRAFT_LAYER_ACTIVATION: return "activation";
    case GRAFT_LAYER_AVG_POOL: return "avg_pool2d";
    case GRAFT_LAYER_MAX_POOL: return "max_pool2d";
    case GRAFT_LAYER_ADAPTIVE_AVG_POOL: return "adaptive_avg_pool2d";
    case GRAFT_LAYER_FLATTEN: return "flatten";
    case GRAFT_LAYER_DROPOUT: return "dropout";
    case GRAFT_LAYER_ADD: return "add";
    case GRAFT_LAYER_CAT: return "cat";
    case GRAFT_LAYER_NORMALIZE: return "normalize";
    case GRAFT_LAYER_FUSED_NORM: return "fused norm";
    case GRAFT_LAYER_RELU_POOL: return "relu and avg_pool2d";
    default: return "unknown layer";
  }
}

// Index of the bias of the convolution before a fused norm.
constexpr int kBefore = 5;

at::Tensor activation(const at::Tensor &x, int64_t kind, double parameter) {
  switch (kind) {
    case GRAFT_ACT_RELU: return at::relu(x);
    case GRAFT_ACT_RELU6: return at::hardtanh(x, 0, 6);
    case GRAFT_ACT_LEAKY_RELU: return at::leaky_relu(x, parameter);
    case GRAFT_ACT_SIGMOID: return at::sigmoid(x);
    case GRAFT_ACT_TANH: return at::tanh(x);
    case GRAFT_ACT_GELU: return at::gelu(x);
    case GRAFT_ACT_SILU: return at::silu(x);
    case GRAFT_ACT_HARDSWISH: return at::hardswish(x);
    case GRAFT_ACT_ELU: return at::elu(x, parameter);
    default: TORCH_CHECK(false, "activation ", kind, " is unknown");
  }
}

// ints: kernel, stride, padding, each height then width, ceil_mode, count_include_pad.
bool halves(const graft_instr &c) {
  const int64_t *i = c.ints;
  return c.op == GRAFT_LAYER_AVG_POOL && i[0] == 2 && i[1] == 2 && i[2] == 2 && i[3] == 2 && i[4] == 0 && i[5] == 0 && i[6] == 0;
}

at::Tensor avg_pool(const graft_instr &c, const at::Tensor &x, bool relu) {
  const int64_t *i = c.ints;
  bool dense = x.dim() == 4 && x.is_cpu() && x.scalar_type() == at::kFloat && x.is_contiguous();
  if ((relu || halves(c)) && dense && x.size(2) > 1 && x.size(3) > 1) return exact_pool2(x, relu);
  return at::avg_pool2d(relu ? at::relu(x) : x, {i[0], i[1]}, {i[2], i[3]}, {i[4], i[5]}, i[6] != 0, i[7] != 0);
}

at::Tensor max_pool(const graft_instr &c, const at::Tensor &x) {
  const int64_t *i = c.ints;
  return at::max_pool2d(x, {i[0], i[1]}, {i[2], i[3]}, {i[4], i[5]}, {1, 1}, i[6] != 0);
}

at::Tensor dropout(const graft_instr &c, const at::Tensor &x, bool training, const c10::optional<at::Generator> &generator, Masks *masks) {
  const double p = c.doubles[0];
  if (!training || p == 0) return x;
  if (masks != nullptr) return x * masks->next(x, 1 - p).div(1 - p);
  return x * own_rows(like_whole_batch(x).bernoulli_(1 - p, generator)).div_(1 - p);
}

std::vector<at::Tensor> gather(const graft_instr &c, const std::vector<at::Tensor> &regs) {
  std::vector<at::Tensor> all;
  for (int32_t k = 0; k < c.nin; k++) all.push_back(regs[c.in[k]]);
  return all;
}

void check(const graft_instr &c, int32_t at, int32_t registers, int32_t ntensors) {
  TORCH_CHECK(c.nin >= 1 && c.nin <= GRAFT_MAX_IN, "instruction ", at, " reads ", c.nin, " registers");
  TORCH_CHECK(c.out > 0 && c.out < registers, "instruction ", at, " writes register ", c.out, " of ", registers);
  for (int32_t k = 0; k < c.nin; k++)
    TORCH_CHECK(c.in[k] >= 0 && c.in[k] < c.out, "instruction ", at, " reads register ", c.in[k], ", which is not written yet");
  for (int32_t w : c.weights) TORCH_CHECK(w < ntensors, "instruction ", at, " names tensor ", w, " of ", ntensors);
}

}  // namespace

Program::Program(const graft_instr *code, int32_t count, int32_t registers, const graft_t *tensors, int32_t ntensors,
                 int32_t output, int32_t flags)
    : Network(flags), operators_(count), registers_(registers), output_(output),
      product_((flags & GRAFT_PROGRAM_BFLOAT16) != 0 ? at::kBFloat16 : (flags & GRAFT_PROGRAM_FLOAT16) != 0 ? at::kHalf : at::kFloat) {
  for (int32_t k = 0; k < ntensors; k++) tensors_.push_back(deref(tensors[k], "a weight"));
  for (int32_t k = 0; k < count; k++) {
    check(code[k], k, registers, ntensors);
    steps_.push_back(Step{code[k], static_cast<size_t>(k), {}});
  }
  TORCH_CHECK(output >= 0 && output < registers, "the output is register ", output, " of ", registers);
  check_recording();
  if (fast_) fuse_norms();
  fuse_pools();
  mark_last_uses();
}

// The only step that reads reg, or -1 if several do or it is the output.
int32_t Program::only_reader(int32_t reg, size_t from) const {
  int32_t found = -1;
  if (reg == output_) return -1;
  for (size_t k = from; k < steps_.size(); k++) {
    for (int32_t j = 0; j < steps_[k].code.nin; j++) {
      if (steps_[k].code.in[j] != reg) continue;
      if (found >= 0) return -1;
      found = static_cast<int32_t>(k);
    }
  }
  return found;
}

// Adds a pool to a fused norm where its windows tile the image.
bool Program::fuse_pool(graft_instr &norm, const graft_instr &pool) const {
  const int64_t *i = pool.ints;
  if (pool.op == GRAFT_LAYER_ADAPTIVE_AVG_POOL && i[0] == 1 && i[1] == 1) {
    norm.ints[0] = norm.ints[1] = 0;
    return true;
  }
  bool tiles = pool.op == GRAFT_LAYER_AVG_POOL && i[0] == i[2] && i[1] == i[3] && i[4] == 0 && i[5] == 0 && i[6] == 0;
  if (tiles) {
    norm.ints[0] = i[0];
    norm.ints[1] = i[1];
  }
  return tiles;
}

// BatchNorm -> ReLU -> average pool becomes one layer, as far as the chain goes and nothing
// else reads the intermediate results.
void Program::fuse_norms() {
  for (size_t k = 0; k < steps_.size(); k++) {
    graft_instr norm = steps_[k].code;
    if (norm.op != GRAFT_LAYER_BATCH_NORM || !on_host(norm)) continue;
    norm.op = GRAFT_LAYER_FUSED_NORM;
    norm.ints[0] = norm.ints[1] = 1;
    norm.ints[2] = 0;
    int32_t next = only_reader(norm.out, k + 1);
    if (next >= 0 && steps_[next].code.op == GRAFT_LAYER_ACTIVATION && steps_[next].code.ints[0] == GRAFT_ACT_RELU) {
      norm.ints[2] = 1;
      norm.out = steps_[next].code.out;
      erase(next);
      next = only_reader(norm.out, k + 1);
    }
    if (next >= 0 && fuse_pool(norm, steps_[next].code)) {
      norm.out = steps_[next].code.out;
      erase(next);
    }
    steps_[k].code = norm;
    absorb_bias(k);
    fused_++;
  }
}

// The kernels are for the host; elsewhere a fused norm would only cost.
bool Program::on_host(const graft_instr &c) const {
  for (int32_t w : c.weights) {
    if (w >= 0 && !tensors_[w].is_cpu()) return false;
  }
  return true;
}

// Moves the bias of a convolution into the norm that is its only reader.
void Program::absorb_bias(size_t at) {
  graft_instr &norm = steps_[at].code;
  for (Step &step : steps_) {
    graft_instr &conv = step.code;
    if (conv.op != GRAFT_LAYER_CONV2D || conv.out != norm.in[0] || conv.weights[1] < 0) continue;
    if (only_reader(conv.out, 0) != static_cast<int32_t>(at)) continue;
    norm.weights[kBefore] = conv.weights[1];
    conv.weights[1] = -1;
  }
}

// ReLU -> 2 x 2 average pool becomes one layer with the same bits.
void Program::fuse_pools() {
  for (size_t k = 0; k < steps_.size(); k++) {
    const graft_instr relu = steps_[k].code;
    if (relu.op != GRAFT_LAYER_ACTIVATION || relu.ints[0] != GRAFT_ACT_RELU) continue;
    int32_t next = only_reader(relu.out, k + 1);
    if (next < 0 || !halves(steps_[next].code)) continue;
    graft_instr pool = steps_[next].code;
    pool.op = GRAFT_LAYER_RELU_POOL;
    pool.in[0] = relu.in[0];
    erase(next);
    steps_[k].code = pool;
    fused_++;
  }
}

void Program::mark_last_uses() {
  std::vector<bool> read(registers_, false);
  read[output_] = true;
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    for (int32_t k = 0; k < step->code.nin; k++) {
      int32_t reg = step->code.in[k];
      if (!read[reg]) step->last_use.push_back(reg);
      read[reg] = true;
    }
  }
}

at::Tensor Program::forward(const at::Tensor &input, bool training, c10::optional<at::Generator> generator, Masks *masks) const {
  // A goroutine may run on a thread that is new to LibTorch. Reading the number of threads
  // sets it up, before a convolution would use all there are.
  at::get_num_threads();
  const Narrow threads(steady_);
  const Numerics numerics(device(), steady_, tf32_);
  Pass pass{std::vector<at::Tensor>(registers_), std::vector<at::Tensor>(tensors_.size()), training, generator, masks};
  std::vector<at::Tensor> &regs = pass.regs;
  regs[0] = fast_ && input.dim() == 4 && input.is_floating_point() ? input.contiguous(at::MemoryFormat::ChannelsLast) : input;
  for (const Step &step : steps_) {
    const graft_instr &c = step.code;
    try {
      regs[c.out] = run(c, pass);
    } catch (const c10::Error &e) {
      TORCH_CHECK(false, layer_name(c.op), " (instruction ", &step - steps_.data(), ", input ", regs[c.in[0]].sizes(), "): ", e.what_without_backtrace());
    }
    for (int32_t reg : step.last_use) regs[reg].reset();
    if (stopwatch() != nullptr) stopwatch()->forward(step.place);
  }
  return regs[output_];
}

at::Tensor Program::batch_norm(const graft_instr &c, const at::Tensor &x, bool training) const {
  if (training) check_values_per_channel(x, weight(c, 3));
  if (training && sharing() != nullptr) return shared_norm(x, {weight(c, 0), weight(c, 1), weight(c, 2), weight(c, 3), c.doubles[0], c.doubles[1]});
  return at::batch_norm(x, weight(c, 0), weight(c, 1), weight(c, 2), weight(c, 3), training, c.doubles[0], c.doubles[1], true);
}

at::Tensor Program::fused_norm(const graft_instr &c, const at::Tensor &x, bool training) const {
  NormWeights w{weight(c, 0), weight(c, 1), weight(c, 2), weight(c, 3), weight(c, kBefore)};
  NormOptions o{c.ints[0], c.ints[1], c.ints[2] != 0, training, c.doubles[0], c.doubles[1]};
  bool differentiable = training || !c10::GradMode::is_enabled();
  if (differentiable && can_fuse(x, w, o)) return on_all_threads([&] { return graft::fused_norm(x, w, o); });
  at::Tensor y = batch_norm(c, w.before.defined() ? x + w.before.view({1, -1, 1, 1}) : x, training);
  if (o.relu) y = at::relu(y);
  if (o.window_height == 0) return at::adaptive_avg_pool2d(y, {1, 1});
  if (o.window_height == 1 && o.window_width == 1) return y;
  return at::avg_pool2d(y, {o.window_height, o.window_width});
}

// Bytes are cheaper to transpose than the floats that they become.
at::Tensor Program::normalize(const graft_instr &c, const at::Tensor &x) const {
  at::Tensor in = fast_ && x.dim() == 4 ? x.contiguous(at::MemoryFormat::ChannelsLast) : x;
  return (in.to(at::kFloat) * c.doubles[0] - weight(c, 0)) / weight(c, 1);
}

at::Tensor Program::run_norm(const graft_instr &c, const at::Tensor &x, bool training) const {
  // Without running statistics BatchNorm uses the batch's own in every mode.
  bool batch = training || c.weights[2] < 0;
  if (training && c.weights[4] >= 0) {
    c10::NoGradGuard guard;
    at::Tensor seen = weight(c, 4);
    seen.add_(1);
  }
  return c.op == GRAFT_LAYER_FUSED_NORM ? fused_norm(c, x, batch) : batch_norm(c, x, batch);
}

// A weight as an operand of products. Layers that share a weight share its rounding.
at::Tensor Program::operand(const graft_instr &c, int k, Pass &pass) const {
  const at::Tensor w = weight(c, k);
  if (!reduced() || !w.defined()) return w;
  at::Tensor &rounded = pass.rounded[c.weights[k]];
  if (!rounded.defined()) rounded = w.to(product_);
  return rounded;
}

// Convolutions and linear layers in bfloat16 or float16: the input is rounded and the output has the
// input's type, so that other layers are unaffected, and gradients of weights have the
// weights' type.
at::Tensor Program::multiply(const graft_instr &c, Pass &pass) const {
  const at::Tensor &given = pass.regs[c.in[0]];
  const at::Tensor x = reduced() ? given.to(product_) : given, w = operand(c, 0, pass), b = operand(c, 1, pass);
  const int64_t *i = c.ints;
  at::Tensor y;
  if (c.op == GRAFT_LAYER_LINEAR) {
    y = steady_ ? steady_linear(x, w, b) : at::linear(x, w, b);
  } else {
    ConvShape shape{{i[0], i[1]}, {i[2], i[3]}, {i[4], i[5]}, i[6]};
    const at::Tensor pixels = every_stride(x, w, shape);
    y = steady_ ? steady_conv2d(pixels, w, b, shape) : at::conv2d(pixels, w, b, shape.stride, shape.padding, shape.dilation, shape.groups);
  }
  return reduced() ? y.to(given.scalar_type()) : y;
}

// Layers that compute each value by itself, exactly, or whose sums do not depend on the
// number of threads, forward and backward.
bool any_threads(const graft_instr &c, const at::Tensor &x) {
  switch (c.op) {
    case GRAFT_LAYER_BATCH_NORM: return x.dim() == 4 && x.is_contiguous() && sharing() == nullptr;
    case GRAFT_LAYER_ACTIVATION: return c.ints[0] == GRAFT_ACT_RELU || c.ints[0] == GRAFT_ACT_RELU6 || c.ints[0] == GRAFT_ACT_LEAKY_RELU;
    case GRAFT_LAYER_AVG_POOL:
    case GRAFT_LAYER_RELU_POOL:
    case GRAFT_LAYER_MAX_POOL:
    case GRAFT_LAYER_ADAPTIVE_AVG_POOL:
    case GRAFT_LAYER_ADD:
    case GRAFT_LAYER_CAT: return true;
    default: return false;
  }
}

at::Tensor Program::run(const graft_instr &c, Pass &pass) const {
  const at::Tensor &x = pass.regs[c.in[0]];
  if (!steady_ || !x.is_cpu() || !any_threads(c, x)) return compute(c, pass);
  return on_all_threads([&] { return compute(c, pass); });
}

at::Tensor Program::compute(const graft_instr &c, Pass &pass) const {
  const std::vector<at::Tensor> &regs = pass.regs;
  const at::Tensor &x = regs[c.in[0]];
  const int64_t *i = c.ints;
  const at::IntArrayRef sizes(i + 1, c.op == GRAFT_LAYER_LAYER_NORM ? i[0] : 0);
  switch (c.op) {
    case GRAFT_LAYER_CONV2D:
    case GRAFT_LAYER_LINEAR: return multiply(c, pass);
    case GRAFT_LAYER_BATCH_NORM:
    case GRAFT_LAYER_FUSED_NORM: return run_norm(c, x, pass.training);
    case GRAFT_LAYER_LAYER_NORM:
      return steady_ ? steady_layer_norm(x, sizes, weight(c, 0), weight(c, 1), c.doubles[1]) : at::layer_norm(x, sizes, weight(c, 0), weight(c, 1), c.doubles[1]);
    case GRAFT_LAYER_GROUP_NORM:
      return steady_ ? steady_group_norm(x, i[0], weight(c, 0), weight(c, 1), c.doubles[1]) : at::group_norm(x, i[0], weight(c, 0), weight(c, 1), c.doubles[1]);
    case GRAFT_LAYER_ACTIVATION: return activation(x, i[0], c.doubles[0]);
    case GRAFT_LAYER_AVG_POOL: return avg_pool(c, x, false);
    case GRAFT_LAYER_RELU_POOL: return avg_pool(c, x, true);
    case GRAFT_LAYER_MAX_POOL: return max_pool(c, x);
    case GRAFT_LAYER_ADAPTIVE_AVG_POOL: return at::adaptive_avg_pool2d(x, {i[0], i[1]});
    case GRAFT_LAYER_FLATTEN: return x.flatten(i[0], i[1]);
    case GRAFT_LAYER_DROPOUT: return dropout(c, x, pass.training, pass.generator, pass.masks);
    case GRAFT_LAYER_ADD: return c.nin > 1 ? x + regs[c.in[1]] : x + weight(c, 0);
    case GRAFT_LAYER_CAT: return at::cat(gather(c, regs), i[0]);
    case GRAFT_LAYER_NORMALIZE: return normalize(c, x);
    default: TORCH_CHECK(false, "this library does not know the layer; run make deps again");
  }
}

}  // namespace graft

using graft::guarded;
using graft::Network;
using graft::Program;

char *graft_program_new(const graft_instr *code, int32_t count, int32_t registers, const graft_t *tensors,
                        int32_t ntensors, int32_t output, int32_t flags, graft_program *out) {
  return guarded([&] { *out = static_cast<Network *>(new Program(code, count, registers, tensors, ntensors, output, flags)); });
}

char *graft_program_forward(graft_program program, graft_t input, int32_t training, graft_generator generator, graft_t *out) {
  return guarded([&] {
    *out = graft::hand_over(static_cast<Network *>(program)->forward(graft::deref(input, "the input"), training != 0,
                                                                      graft::generator_of(generator)));
  });
}

int32_t graft_program_fused(graft_program program) { return static_cast<Network *>(program)->fused(); }

void graft_program_close(graft_program program) { delete static_cast<Network *>(program); }
