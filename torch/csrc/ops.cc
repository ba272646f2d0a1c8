// The operators that gotorch lacks, behind one entry.
#include "augment.h"
#include "guard.h"
#include "randaugment.h"
#include "spread.h"
#include "steady.h"

namespace {

// Call is one operator call seen from its body: typed access to its arguments.
struct Call {
  graft_t *inputs;
  int32_t ninputs;
  const int64_t *ints;
  int32_t nints;
  const double *doubles;
  int32_t ndoubles;
  graft_generator generator;
  graft_t *outputs;
  int32_t noutputs;

  const at::Tensor &in(int32_t k) const {
    TORCH_CHECK(k < ninputs, "operand ", k, " is missing");
    return graft::deref(inputs[k], "an operand");
  }
  at::Tensor maybe(int32_t k) const { return k < ninputs ? graft::optional(inputs[k]) : at::Tensor(); }
  int64_t i(int32_t k) const {
    TORCH_CHECK(k < nints, "integer argument ", k, " is missing");
    return ints[k];
  }
  at::IntArrayRef rest(int32_t from) const { return at::IntArrayRef(ints + from, ints + nints); }
  double f(int32_t k) const {
    TORCH_CHECK(k < ndoubles, "number argument ", k, " is missing");
    return doubles[k];
  }
  c10::optional<at::Generator> random() const { return graft::generator_of(generator); }
  void out(at::Tensor t, int32_t k = 0) const {
    TORCH_CHECK(k < noutputs, "no place for result ", k);
    outputs[k] = graft::hand_over(std::move(t));
  }
  at::TensorList all() const {
    gathered.clear();
    for (int32_t k = 0; k < ninputs; k++) gathered.push_back(in(k));
    return gathered;
  }
  mutable std::vector<at::Tensor> gathered;
};

// Inputs: x, h0, c0, then the weights in PyTorch's order. Integers: layers,
// bidirectional, batch_first. Results: output, h, c.
void lstm(const Call &c) {
  std::vector<at::Tensor> weights;
  for (int32_t k = 3; k < c.ninputs; k++) weights.push_back(c.in(k));
  auto r = at::lstm(c.in(0), {c.in(1), c.in(2)}, weights, /*has_biases=*/true, c.i(0), /*dropout=*/0.0,
                    /*train=*/false, c.i(1) != 0, c.i(2) != 0);
  c.out(std::get<0>(r), 0);
  c.out(std::get<1>(r), 1);
  c.out(std::get<2>(r), 2);
}

void set_grad(const Call &c) {
  at::Tensor target = c.in(0);
  at::Tensor grad = c.maybe(1);
  if (grad.defined()) {
    TORCH_CHECK(grad.sizes() == target.sizes(), "a gradient of shape ", grad.sizes(), " for a tensor of shape ", target.sizes());
  }
  target.mutable_grad() = grad;
}

void set_requires_grad(const Call &c) {
  at::Tensor t = c.in(0);
  t.set_requires_grad(c.i(0) != 0);
}

void full(const Call &c) {
  auto options = at::TensorOptions().dtype(static_cast<at::ScalarType>(c.i(0))).device(graft::device_of(c.i(1), c.i(2)));
  c.out(at::full(c.rest(3), c.f(0), options));
}

void copy_into(const Call &c) {
  c10::NoGradGuard guard;
  at::Tensor target = c.in(0);
  TORCH_CHECK(target.sizes() == c.in(1).sizes(), "cannot copy a tensor of shape ", c.in(1).sizes(), " into one of shape ", target.sizes());
  target.copy_(c.in(1));
}

void in_place(const Call &c, int32_t op) {
  c10::NoGradGuard guard;
  at::Tensor t = c.in(0);
  if (op == GRAFT_OP_FILL_) t.fill_(c.f(0));
  if (op == GRAFT_OP_UNIFORM_) t.uniform_(c.f(0), c.f(1), c.random());
  if (op == GRAFT_OP_NORMAL_) t.normal_(c.f(0), c.f(1), c.random());
}

void to_device(const Call &c) {
  c.out(c.in(0).to(graft::device_of(c.i(1), c.i(2)), static_cast<at::ScalarType>(c.i(0))));
}

void randperm(const Call &c) { c.out(at::randperm(c.i(0), c.random(), at::TensorOptions().dtype(at::kLong))); }

void avg_pool(const Call &c) {
  c.out(at::avg_pool2d(c.in(0), {c.i(0), c.i(1)}, {c.i(2), c.i(3)}, {c.i(4), c.i(5)}));
}

void cross_entropy(const Call &c) { c.out(at::cross_entropy_loss(c.in(0), c.in(1))); }

void index_add(const Call &c) {
  c10::NoGradGuard guard;
  at::Tensor target = c.in(0);
  target.index_add_(c.i(0), c.in(1), c.in(2), c.f(0));
}

// Adds the identity of convolutions and linear layers: a one in the middle of the
// kernel from each channel of a group to the same one.
void dirac(const Call &c) {
  c10::NoGradGuard guard;
  at::Tensor w = c.in(0);
  TORCH_CHECK(w.dim() >= 2 && w.size(0) % w.size(1) == 0, "no identity has the shape ", w.sizes());
  for (int64_t start = 0; start < w.size(0); start += w.size(1)) {
    at::Tensor group = w.narrow(0, start, w.size(1));
    while (group.dim() > 2) group = group.select(group.dim() - 1, group.size(group.dim() - 1) / 2);
    group.diagonal().fill_(1);
  }
}

// Integers: pad, cutout, flip, and whether operators take the place of the kernel.
void augment(const Call &c) {
  c.out(graft::augment(c.in(0), c.maybe(1), graft::Augment{c.i(0), c.i(1), c.i(2) != 0}, c.random(), c.i(3) != 0));
}

// Integers: operation, strength, and whether its sign is changed.
void randaugment(const Call &c) { c.out(graft::RandAugment(1, c.i(1)).apply(c.in(0), static_cast<graft::RandAugment::Operation>(c.i(0)), c.i(2) != 0)); }

void run_surgery(const Call &c, int32_t op) {
  switch (op) {
    case GRAFT_OP_SPREAD:
      return c.out(graft::spread(c.in(0), graft::Spread{c.maybe(1), c.maybe(2), c.maybe(3), c.maybe(4), c.maybe(5)}));
    case GRAFT_OP_INDEX_ADD_: return index_add(c);
    case GRAFT_OP_DIRAC_: return dirac(c);
    case GRAFT_OP_PAD: return c.out(at::constant_pad_nd(c.in(0), c.rest(0), 0));
    case GRAFT_OP_AUGMENT: return augment(c);
    case GRAFT_OP_RANDAUGMENT: return randaugment(c);
    default: TORCH_CHECK(false, "operator ", op, " is unknown to this library; run make deps again");
  }
}

void run_layer(const Call &c, int32_t op) {
  switch (op) {
    case GRAFT_OP_AVG_POOL2D: return avg_pool(c);
    case GRAFT_OP_SOFTMAX: return c.out(at::softmax(c.in(0), c.i(0)));
    case GRAFT_OP_EMBEDDING: return c.out(at::embedding(c.in(0), c.in(1)));
    case GRAFT_OP_LSTM: return lstm(c);
    case GRAFT_OP_CROSS_ENTROPY: return cross_entropy(c);
    case GRAFT_OP_SET_REQUIRES_GRAD: return set_requires_grad(c);
    case GRAFT_OP_GRAD: return c.out(c.in(0).grad());
    case GRAFT_OP_SET_GRAD: return set_grad(c);
    case GRAFT_OP_BACKWARD: return c.in(0).backward();
    default: return run_surgery(c, op);
  }
}

// The reduced decomposition, of a matrix. Results: left vectors, values, transposed right vectors.
void svd(const Call &c) {
  auto r = at::linalg_svd(c.in(0), /*full_matrices=*/false);
  c.out(std::get<0>(r), 0);
  c.out(std::get<1>(r), 1);
  c.out(std::get<2>(r), 2);
}

// Of a symmetric matrix. Results: values in ascending order, and vectors as columns.
void eigh(const Call &c) {
  auto r = at::linalg_eigh(c.in(0));
  c.out(std::get<0>(r), 0);
  c.out(std::get<1>(r), 1);
}

// LibTorch divides a sum of 32,768 values or more (GRAIN_SIZE in ATen/Parallel.h) among its threads, and rounds it
// differently for each number of them.
void on_one_thread(const Call &c, at::Tensor (*reduce)(const at::Tensor &)) {
  const graft::Narrow narrow(true);
  c.out(reduce(c.in(0)));
}

void run(const Call &c, int32_t op) {
  switch (op) {
    case GRAFT_OP_CAT: return c.out(at::cat(c.all(), c.i(0)));
    case GRAFT_OP_CLONE: return c.out(c.in(0).clone());
    case GRAFT_OP_COPY_: return copy_into(c);
    case GRAFT_OP_FULL: return full(c);
    case GRAFT_OP_RESHAPE: return c.out(c.in(0).reshape(c.rest(0)));
    case GRAFT_OP_NARROW: return c.out(c.in(0).narrow(c.i(0), c.i(1), c.i(2)));
    case GRAFT_OP_FILL_:
    case GRAFT_OP_UNIFORM_:
    case GRAFT_OP_NORMAL_: return in_place(c, op);
    case GRAFT_OP_SCALE: return c.out(c.in(0) * c.f(0) + c.f(1));
    case GRAFT_OP_NEG: return c.out(c.in(0).neg());
    case GRAFT_OP_EXP: return c.out(c.in(0).exp());
    case GRAFT_OP_LOG: return c.out(c.in(0).log());
    case GRAFT_OP_SQRT: return c.out(c.in(0).sqrt());
    case GRAFT_OP_SUM: return on_one_thread(c, [](const at::Tensor &t) { return t.sum(); });
    case GRAFT_OP_MEAN: return on_one_thread(c, [](const at::Tensor &t) { return t.mean(); });
    case GRAFT_OP_MATMUL: return c.out(c.in(0).matmul(c.in(1)));
    case GRAFT_OP_TO: return to_device(c);
    case GRAFT_OP_SVD: return svd(c);
    case GRAFT_OP_EIGH: return eigh(c);
    case GRAFT_OP_RANDPERM: return randperm(c);
    default: return run_layer(c, op);
  }
}

}  // namespace

char *graft_op(int32_t op, graft_t *in, int32_t nin, const int64_t *ints, int32_t nints, const double *doubles,
               int32_t ndoubles, graft_generator generator, graft_t *out, int32_t nout) {
  return graft::guarded([&] { run(Call{in, nin, ints, nints, doubles, ndoubles, generator, out, nout, {}}, op); });
}
