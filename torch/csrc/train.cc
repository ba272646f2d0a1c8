// The large calls: many steps, one crossing, one synchronisation at the end.
#include "augment.h"
#include "guard.h"
#include "optim.h"
#include "peers.h"
#include "program.h"
#include "steady.h"

namespace graft {
namespace {

// The processes that share the work, where there is more than this one.
Peers *several(graft_peers handle) {
  auto *peers = static_cast<Peers *>(handle);
  return peers == nullptr || peers->size == 1 ? nullptr : peers;
}

// Feed hands out one step's rows, or this process's share of them.
struct Feed {
  at::Tensor inputs, labels, order;
  int64_t batch;
  Peers *peers;

  explicit Feed(const graft_batches &b)
      : inputs(deref(b.inputs, "the inputs")), labels(deref(b.labels, "the labels")), order(optional(b.order)), batch(b.batch), peers(several(b.peers)) {
    TORCH_CHECK(batch > 0, "a batch of ", batch, " rows");
    TORCH_CHECK(inputs.size(0) == labels.size(0), inputs.size(0), " inputs for ", labels.size(0), " labels");
    const int64_t rows = order.defined() ? order.size(0) : inputs.size(0);
    TORCH_CHECK(b.steps >= 0 && (b.steps - 1) * batch < rows, b.steps, " steps of ", batch, " rows need more than the ", rows, " there are");
  }

  // The last batch may be short.
  Share share(int64_t step) const { return Share::of(peers, std::min(batch, (order.defined() ? order : inputs).size(0) - step * batch)); }

  at::Tensor part(const at::Tensor &of, int64_t step) const {
    const Share own = share(step);
    return of.narrow(0, step * batch + own.start, own.count);
  }

  at::Tensor rows(const at::Tensor &from, int64_t step) const {
    return order.defined() ? from.index_select(0, part(order, step)) : part(from, step);
  }

  // A step's inputs, changed at random: gathered and changed in one pass.
  at::Tensor augmented(int64_t step, const Augment &a, const c10::optional<at::Generator> &generator) const {
    if (!a.any()) return rows(inputs, step);
    return order.defined() ? augment(inputs, part(order, step), a, generator) : augment(part(inputs, step), {}, a, generator);
  }
};

// Tally keeps per-step figures on the device until the end.
struct Tally {
  at::Tensor losses, correct;

  Tally(int64_t steps, at::Device device)
      : losses(at::zeros({steps}, at::TensorOptions().dtype(at::kFloat).device(device))),
        correct(at::zeros({steps}, at::TensorOptions().dtype(at::kLong).device(device))) {}

  void note(int64_t step, const at::Tensor &loss, const at::Tensor &logits, const at::Tensor &labels, bool counts = true) {
    c10::NoGradGuard guard;
    losses[step].copy_(loss);
    if (counts) correct[step].copy_(logits.argmax(1).eq(labels).sum());
  }

  // Each process has noted its part.
  void join(Peers &peers) {
    at::Tensor all = at::stack({losses.to(at::kDouble), correct.to(at::kDouble)});
    peers.sum(all);
    losses = all[0];
    correct = all[1].to(at::kLong);
  }

  void read(double *to_losses, int64_t *to_correct) const {
    at::Tensor l = losses.to(at::kCPU, at::kDouble), c = correct.to(at::kCPU);
    std::copy_n(l.data_ptr<double>(), l.numel(), to_losses);
    std::copy_n(c.data_ptr<int64_t>(), c.numel(), to_correct);
  }
};

// What a student loses against a teacher (Hinton, Vinyals and Dean 2015): the
// divergence of their softened outputs, times the square of the temperature so that
// its gradients keep their size. It is this process's part of the mean over rows.
at::Tensor distillation(const at::Tensor &student, const at::Tensor &teacher, double temperature, const Share &share) {
  const at::Tensor soft = at::softmax(teacher / temperature, 1);
  const at::Tensor apart = soft * (at::log_softmax(teacher / temperature, 1) - at::log_softmax(student / temperature, 1));
  return apart.sum() * (share.weight() * temperature * temperature / static_cast<double>(share.total));
}

constexpr int64_t kAllLabels = -100;  // no label is ignored: PyTorch's default

// The mean loss over the batch, or this process's part of it.
at::Tensor cross_entropy(const at::Tensor &logits, const at::Tensor &labels, const Share &share, double smoothing) {
  if (share.peers == nullptr) return at::cross_entropy_loss(logits, labels, {}, at::Reduction::Mean, kAllLabels, smoothing);
  return at::cross_entropy_loss(logits, labels, {}, at::Reduction::Sum, kAllLabels, smoothing) * (share.weight() / static_cast<double>(share.total));
}

// The loss against the labels and, for its share, against the teacher.
at::Tensor total_loss(const graft_batches &b, const Feed &feed, int64_t step, const at::Tensor &loss, const at::Tensor &logits, const Share &share) {
  const double soft = b.teacher_share - b.teacher_fall * static_cast<double>(step);
  if (b.teacher_logits == nullptr || soft <= 0) return loss;
  TORCH_CHECK(b.temperature > 0, "a temperature of ", b.temperature);
  const at::Tensor target = feed.rows(deref(b.teacher_logits, "the teacher's logits"), step);
  TORCH_CHECK(target.sizes() == logits.sizes(), "the teacher gives ", target.sizes(), ", the student ", logits.sizes());
  return loss * (1 - soft) + distillation(logits, target, b.temperature, share) * soft;
}

// Undo knows what training changes as it was, for a call that loses a process: what
// the others have then is not known.
struct Undo {
  std::vector<at::Tensor> now, then;
  c10::optional<at::Generator> generator;
  at::Tensor drawn;

  Undo(const Program &program, const Optimizer &optimizer, const graft_batches &b) : now(optimizer.state()), generator(generator_of(b.generator)) {
    now.insert(now.end(), program.tensors().begin(), program.tensors().end());
    for (const at::Tensor &t : now) then.push_back(t.detach().clone());
    if (generator.has_value()) drawn = generator->get_state();
  }

  void operator()() {
    for (size_t k = 0; k < now.size(); k++) now[k].detach().copy_(then[k]);
    if (generator.has_value()) generator->set_state(drawn);
  }
};

void train(Program &program, Optimizer &optimizer, const graft_batches &b, double *losses, int64_t *correct) {
  Feed feed(b);
  const Augment changes{b.pad, b.cutout, b.flip != 0};
  if (changes.any()) feed.inputs = feed.inputs.contiguous();  // once, not in every step
  Tally tally(b.steps, feed.inputs.device());
  auto generator = generator_of(b.generator);
  at::AutoGradMode grad(true);
  const Narrow threads(program.steady());
  for (int64_t k = 0; k < b.steps; k++) {
    optimizer.zero_grad();
    const Share share = feed.share(k);
    const Sharing guard(share);
    at::Tensor labels = feed.rows(feed.labels, k);
    at::Tensor logits = program.forward(feed.augmented(k, changes, generator), true, generator);
    at::Tensor loss = cross_entropy(logits, labels, share, b.smoothing);
    total_loss(b, feed, k, loss, logits, share).backward();
    if (feed.peers != nullptr) feed.peers->sum(optimizer.gradients());
    if (b.rates != nullptr) optimizer.set_rate(b.rates[k]);
    optimizer.step();
    tally.note(k, loss, logits, labels, !share.idle);
  }
  if (feed.peers != nullptr) tally.join(*feed.peers);
  tally.read(losses, correct);
}

// Changes all or nothing.
void train_together(Program &program, Optimizer &optimizer, const graft_batches &b, double *losses, int64_t *correct) {
  Undo undo(program, optimizer, b);
  try {
    train(program, optimizer, b, losses, correct);
  } catch (...) {
    undo();
    // What comes out of backward need not be what was thrown in it.
    const std::string &failure = several(b.peers)->failure();
    if (!failure.empty()) throw PeerLost(failure);
    throw;
  }
}

void evaluate(const Program &program, const graft_batches &b, double *losses, int64_t *correct) {
  Feed feed(b);
  Tally tally(b.steps, feed.inputs.device());
  c10::NoGradGuard guard;
  const Narrow threads(program.steady());
  const Share steps = Share::of(feed.peers, b.steps);  // whole batches: their figures have the same bits
  feed.peers = nullptr;
  for (int64_t k = steps.start; !steps.idle && k < steps.start + steps.count; k++) {
    at::Tensor labels = feed.rows(feed.labels, k);
    at::Tensor logits = program.forward(feed.rows(feed.inputs, k), false, c10::nullopt);
    tally.note(k, at::cross_entropy_loss(logits, labels), logits, labels);
  }
  if (steps.peers != nullptr) tally.join(*steps.peers);
  tally.read(losses, correct);
}

}  // namespace
}  // namespace graft

char *graft_train(graft_program program, graft_optimizer optimizer, const graft_batches *batches, double *losses,
                  int64_t *correct) {
  return graft::guarded([&] {
    auto *run = graft::several(batches->peers) == nullptr ? graft::train : graft::train_together;
    run(*static_cast<graft::Program *>(program), *static_cast<graft::Optimizer *>(optimizer), *batches, losses, correct);
  });
}

char *graft_evaluate(graft_program program, const graft_batches *batches, double *losses, int64_t *correct) {
  return graft::guarded([&] { graft::evaluate(*static_cast<graft::Program *>(program), *batches, losses, correct); });
}
