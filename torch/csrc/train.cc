// The large calls: many steps, one crossing, one synchronisation at the end.
#include <chrono>

#include "augment.h"
#include "guard.h"
#include "numerics.h"
#include "optim.h"
#include "peers.h"
#include "network.h"
#include "randaugment.h"
#include "recorded.h"
#include "scaler.h"
#include "squares.h"
#include "steady.h"
#include "stopwatch.h"
#include "warmup.h"

namespace graft {
namespace {

// The processes that share the work, where there is more than this one.
Peers *several(graft_peers handle) {
  auto *peers = static_cast<Peers *>(handle);
  return peers == nullptr || peers->size == 1 ? nullptr : peers;
}

// The number of rows to take of those that are left: a rest of fewer than least is taken with them.
int64_t taken(int64_t left, int64_t most, int64_t least) { return left - most < std::max<int64_t>(least, 1) ? left : most; }

// Feed hands out rows in their order.
struct Feed {
  at::Tensor inputs, labels, order;
  int64_t batch, least;

  explicit Feed(const graft_batches &b)
      : inputs(deref(b.inputs, "the inputs")), labels(deref(b.labels, "the labels")), order(optional(b.order)), batch(b.batch), least(b.least) {
    TORCH_CHECK(batch > 0, "a batch of ", batch, " rows");
    TORCH_CHECK(inputs.size(0) == labels.size(0), inputs.size(0), " inputs for ", labels.size(0), " labels");
    TORCH_CHECK(b.steps >= 0 && (b.steps - 1) * batch < total(), b.steps, " steps of ", batch, " rows need more than the ", total(), " there are");
  }

  int64_t total() const { return (order.defined() ? order : inputs).size(0); }

  // The last batch may be short, or longer by a rest that is too short.
  int64_t size(int64_t step) const { return taken(total() - step * batch, batch, least); }

  at::Tensor rows(const at::Tensor &from, int64_t start, int64_t count) const {
    return widened(order.defined() ? from.index_select(0, order.narrow(0, start, count)) : from.narrow(0, start, count));
  }

  // The same for any places in the order.
  at::Tensor rows(const at::Tensor &from, const at::Tensor &places) const {
    return widened(from.index_select(0, order.defined() ? order.index_select(0, places) : places));
  }

  // Tokens and their labels may be kept in fewer bytes than operators take.
  static at::Tensor widened(const at::Tensor &t) { return t.dim() == 2 && c10::isIntegralType(t.scalar_type(), false) ? t.to(at::kLong) : t; }

  // Inputs changed at random: gathered and changed in one pass.
  at::Tensor changed(int64_t start, int64_t count, const Augment &a, const RandAugment &first, const c10::optional<at::Generator> &generator) const {
    if (first.any()) {
      const at::Tensor images = first(rows(inputs, start, count), generator);
      return a.any() ? augment(images, {}, a, generator) : images;
    }
    if (!a.any()) return rows(inputs, start, count);
    return order.defined() ? augment(inputs, order.narrow(0, start, count), a, generator) : augment(inputs.narrow(0, start, count), {}, a, generator);
  }
};

// Tally keeps per-step figures on the device until the end.
struct Tally {
  at::Tensor losses, correct;

  Tally(int64_t steps, at::Device device)
      : losses(at::zeros({steps}, at::TensorOptions().dtype(at::kFloat).device(device))),
        correct(at::zeros({steps}, at::TensorOptions().dtype(at::kLong).device(device))) {}

  // A part of a step adds to it.
  void note(int64_t step, const at::Tensor &loss, const at::Tensor &logits, const at::Tensor &labels, bool counts = true) {
    c10::NoGradGuard guard;
    if (loss.scalar_type() == at::kDouble && losses.scalar_type() != at::kDouble) losses = losses.to(at::kDouble);
    losses[step].add_(loss);
    if (counts) correct[step].add_(logits.argmax(1).eq(labels).sum());
  }

  // A recorded step has noted its own.
  void copy(int64_t step, const Recorded &r) {
    c10::NoGradGuard guard;
    losses[step].copy_(r.loss);
    correct[step].copy_(r.correct);
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

constexpr int64_t kIgnored = -100;  // a label that does not count: PyTorch's default

// The sum or the mean of the losses of rows. CUDA has no deterministic operator for logits with further dimensions, so each of their places is a row
// of its own there.
at::Tensor loss_of_rows(const at::Tensor &logits, const at::Tensor &labels, int64_t reduction, double smoothing = 0) {
  if (!logits.is_cuda() || logits.dim() < 3) return at::cross_entropy_loss(logits, labels, {}, reduction, kIgnored, smoothing);
  return at::cross_entropy_loss(logits.movedim(1, -1).flatten(0, -2), labels.flatten(), {}, reduction, kIgnored, smoothing);
}

// The mean loss over the batch, or this process's part of it. Where labels are ignored, counted is the number of the others in
// the batch.
at::Tensor cross_entropy(const at::Tensor &logits, const at::Tensor &labels, const Share &share, double smoothing, const at::Tensor &counted = {}) {
  if (counted.defined()) return loss_of_rows(logits, labels, at::Reduction::Sum, smoothing) * share.weight() / counted;
  if (share.peers == nullptr) return loss_of_rows(logits, labels, at::Reduction::Mean, smoothing);
  const double labels_of_row = labels.dim() > 1 ? static_cast<double>(labels[0].numel()) : 1;
  return loss_of_rows(logits, labels, at::Reduction::Sum, smoothing) * (share.weight() / (static_cast<double>(share.total) * labels_of_row));
}

// Logits with the classes as dimension 1, as the loss takes them. Networks of tokens have them last.
at::Tensor by_class(const at::Tensor &logits, const at::Tensor &labels) {
  return logits.dim() == 3 && labels.dim() == 2 ? logits.transpose(1, 2) : logits;
}

// Target is what rows are compared with; share is its part of the loss.
struct Target {
  at::Tensor labels, teacher;
  double share;
};

// Mixed is the batch of a step as mixup changes it (Zhang, Cissé, Dauphin and Lopez-Paz
// 2018): each image is mixed with a partner, and the loss of both is weighted alike.
struct Mixed {
  at::Tensor images, partners;  // partners are places in the batch
  double share = 1;             // of the image itself

  Mixed(const at::Tensor &plain, double alpha, const c10::optional<at::Generator> &generator) {
    const at::Device device = generator.has_value() ? generator->device() : plain.device();
    const auto options = at::TensorOptions().device(device);
    share = at::_sample_dirichlet(at::full({2}, alpha, options.dtype(at::kFloat)), generator)[0].item<double>();
    partners = at::randperm(plain.size(0), generator, options.dtype(at::kLong)).to(plain.device());
    const at::Tensor wide = plain.is_floating_point() ? plain : plain.to(at::kFloat);
    images = wide * share + wide.index_select(0, partners) * (1 - share);
  }
};

// Step is one step's batch. All processes hold all of a mixed batch, since partners may be
// rows of others.
class Step {
 public:
  Step(const graft_batches &b, const Feed &feed, int64_t at) : b_(b), feed_(feed), at_(at), start(at * feed.batch), size(feed.size(at)) {}

  void mix(const Augment &a, const RandAugment &first, const c10::optional<at::Generator> &generator) {
    mixed_ = std::make_unique<Mixed>(feed_.changed(start, size, a, first, generator), b_.mixup, generator);
  }

  // The images of rows from to from + count of the batch.
  at::Tensor images(int64_t from, int64_t count, const Augment &a, const RandAugment &first, const c10::optional<at::Generator> &generator) const {
    return mixed_ ? mixed_->images.narrow(0, from, count) : feed_.changed(start + from, count, a, first, generator);
  }

  std::vector<Target> targets(int64_t from, int64_t count) const {
    const at::Tensor teacher = soft() > 0 ? deref(b_.teacher_logits, "the teacher's logits") : at::Tensor();
    auto rows = [&](const at::Tensor &of) { return of.defined() ? feed_.rows(of, start + from, count) : of; };
    if (!mixed_) return {Target{rows(feed_.labels), rows(teacher), 1}};
    const at::Tensor places = mixed_->partners.narrow(0, from, count) + start;
    auto partners = [&](const at::Tensor &of) { return of.defined() ? feed_.rows(of, places) : of; };
    return {Target{rows(feed_.labels), rows(teacher), mixed_->share}, Target{partners(feed_.labels), partners(teacher), 1 - mixed_->share}};
  }

  // The number of labels that count; undefined where all do.
  at::Tensor counted() const {
    return b_.ignores ? feed_.rows(feed_.labels, start, size).ne(kIgnored).sum().clamp_min(1) : at::Tensor();
  }

  // The teacher's share of the loss. It follows from the step's number alone, however steps are grouped into calls.
  double soft() const {
    if (b_.teacher_logits == nullptr || b_.teacher_length <= 0) return b_.teacher_logits == nullptr ? 0 : b_.teacher_share;
    const int64_t left = b_.teacher_length - b_.teacher_past - at_;
    return left <= 0 ? 0 : b_.teacher_share * static_cast<double>(left) / static_cast<double>(b_.teacher_length);
  }

 private:
  const graft_batches &b_;
  const Feed &feed_;
  const int64_t at_;
  std::unique_ptr<Mixed> mixed_;

 public:
  const int64_t start, size;
};

// Loss is the loss against the labels, and the goal of training, which adds the teacher's.
struct Loss {
  at::Tensor labels, goal;

  void add(const at::Tensor &of_labels, const at::Tensor &of_goal, double share) {
    labels = labels.defined() ? labels + of_labels * share : share == 1 ? of_labels : of_labels * share;
    goal = goal.defined() ? goal + of_goal * share : share == 1 ? of_goal : of_goal * share;
  }
};

Loss loss_of(const graft_batches &b, double soft, const at::Tensor &logits, const std::vector<Target> &targets, const Share &share, const at::Tensor &counted) {
  Loss all;
  for (const Target &target : targets) {
    const at::Tensor hard = cross_entropy(logits, target.labels, share, b.smoothing, counted);
    if (soft <= 0) {
      all.add(hard, hard, target.share);
      continue;
    }
    TORCH_CHECK(b.temperature > 0, "a temperature of ", b.temperature);
    TORCH_CHECK(target.teacher.sizes() == logits.sizes(), "the teacher gives ", target.teacher.sizes(), ", the student ", logits.sizes());
    const at::Tensor kept = hard * (1 - soft);  // first: gradients are summed in the opposite order
    all.add(hard, kept + distillation(logits, target.teacher, b.temperature, share) * soft, target.share);
  }
  return all;
}

// Averages are exponential moving averages of tensors over steps.
class Averages {
 public:
  explicit Averages(const graft_batches &b) : decay_(b.decay), first_(b.first_average != 0) {
    for (int64_t k = 0; k < b.naverages; k++) {
      of_.push_back(deref(b.averaged[k], "an averaged tensor"));
      averages_.push_back(deref(b.averages[k], "an average"));
      TORCH_CHECK(of_[k].sizes() == averages_[k].sizes(), "an average of shape ", averages_[k].sizes(), " of a tensor of shape ", of_[k].sizes());
    }
  }

  bool first() const { return first_ && !of_.empty(); }

  // The operations of torch.optim.swa_utils, whose first update copies. Counters are copied. Where
  // skips is true nothing changes.
  void update(const at::Tensor &skips = {}) {
    c10::NoGradGuard guard;
    for (size_t k = 0; k < of_.size(); k++) {
      at::Tensor average = averages_[k].detach();
      const bool copies = first_ || !average.is_floating_point();
      const at::Tensor next = copies ? of_[k].detach() : average * decay_ + of_[k].detach() * (1 - decay_);
      average.copy_(skips.defined() ? at::where(skips, average, next) : next);
    }
    first_ = false;
  }

  const std::vector<at::Tensor> &tensors() const { return averages_; }

  // Adds to a key which tensors these are.
  void identify(Recorded::Key &key) const {
    key.push_back(decay_);
    for (size_t k = 0; k < of_.size(); k++) {
      for (const at::Tensor &t : {of_[k], averages_[k]}) key.push_back(static_cast<double>(reinterpret_cast<uintptr_t>(t.unsafeGetTensorImpl())));
    }
  }

 private:
  std::vector<at::Tensor> of_, averages_;
  double decay_;
  bool first_;
};

// The recorded step of a program that serves a batch: a new one unless the key is the last one's.
template <typename Make>
Recorded &recorded(Network &program, bool training, Recorded::Key key, const at::Tensor &images, const at::Tensor &labels, const Make &make) {
  key.insert(key.end(), images.sizes().begin(), images.sizes().end());
  key.push_back(static_cast<double>(images.scalar_type()));
  std::unique_ptr<Recorded> &last = program.recorded(training);
  if (!last || last->key() != key) {
    last.reset();  // its memory first
    last = std::make_unique<Recorded>(std::move(key), images, labels);
    make(*last);
  }
  return *last;
}

// Undo knows what training changes as it was, for a call that loses a process: what
// the others have then is not known.
struct Undo {
  std::vector<at::Tensor> now, then;
  c10::optional<at::Generator> generator;
  at::Tensor drawn;

  Undo(const Network &program, const Optimizer &optimizer, const graft_batches &b) : now(optimizer.state()), generator(generator_of(b.generator)) {
    now.insert(now.end(), program.tensors().begin(), program.tensors().end());
    const Averages averages(b);
    now.insert(now.end(), averages.tensors().begin(), averages.tensors().end());
    for (const at::Tensor &t : now) then.push_back(t.detach().clone());
    if (generator.has_value()) drawn = generator->get_state();
  }

  void operator()() {
    for (size_t k = 0; k < now.size(); k++) now[k].detach().copy_(then[k]);
    if (generator.has_value()) generator->set_state(drawn);
  }
};

// The stopwatch that a call asks for.
std::unique_ptr<Stopwatch> timed(const Network &program, size_t parameters, const graft_batches &b) {
  if (b.times == nullptr) return nullptr;
  TORCH_CHECK(program.device().is_cpu() && !program.records(), "only steps on the CPU that are not recorded are timed");
  return std::make_unique<Stopwatch>(program.operators(), parameters, b.times);
}

// Ends a part of a step that is timed.
void lap(Stopwatch::Part p) {
  if (stopwatch() != nullptr) stopwatch()->part(p);
}

// Trainer runs the steps of one call.
class Trainer {
 public:
  Trainer(Network &program, Optimizer &optimizer, const graft_batches &b)
      : program_(program), optimizer_(optimizer), b_(b), feed_(b), tally_(b.steps, feed_.inputs.device()), peers_(several(b.peers)),
        changes_{b.pad, b.cutout, b.flip != 0}, random_(b.random_ops, b.magnitude), generator_(generator_of(b.generator)), averages_(b), warm_up_(b, optimizer), scaler_(b.scaler),
        repeats_(program.records() && peers_ == nullptr && b.scaler == nullptr && b.mixup == 0 && b.teacher_logits == nullptr && (b.part <= 0 || b.part >= b.batch) && b.first_average == 0 && !warm_up_.on()),
        waits_(!(scaler_.scales() && (program.records() || program.device().is_cuda()))),
        placed_(repeats_ || optimizer.on_device() || !waits_) {
    if (b.squares != nullptr) *b.squares = {};
    if (b.exchange != nullptr) *b.exchange = 0;
    if (placed_) optimizer_.place();
    if (changes_.any()) feed_.inputs = feed_.inputs.contiguous();  // once, not in every step
  }

  const Tally &run() {
    for (int64_t k = 0; k < b_.steps; k++) {
      if (stopwatch() != nullptr) stopwatch()->begin(k);
      step(k);
      lap(Stopwatch::kRest);
    }
    if (peers_ != nullptr) tally_.join(*peers_);
    optimizer_.count(-scaler_.keep());
    return tally_;
  }

 private:
  void step(int64_t k) {
    Step batch(b_, feed_, k);
    if (b_.rates != nullptr) optimizer_.set_rate(b_.rates[k]);
    const bool measured = b_.squares != nullptr && k == b_.steps - 1;
    if (!measured && repeats_ && batch.size == b_.batch && optimizer_.can_place()) return repeat(k, batch);
    optimizer_.zero_grad();
    lap(Stopwatch::kRest);
    if (b_.mixup > 0) batch.mix(changes_, random_, generator_);
    int64_t part = b_.part > 0 ? std::min(b_.part, batch.size) : batch.size;
    if (measured && peers_ == nullptr && part == batch.size) part = std::max(feed_.least, (part + 1) / 2);
    Squares squares(batch.size, measured ? scaler_.scale() : 1);
    for (int64_t from = 0, count; from < batch.size; from += count) {
      count = taken(batch.size - from, part, feed_.least);
      const int64_t own = gradients(k, batch, from, count);
      if (!measured) continue;
      squares.add(optimizer_.gradients(), own);
      if (from + count < batch.size) optimizer_.zero_grad();
    }
    std::vector<at::Tensor> found = optimizer_.gradients();
    if (peers_ != nullptr) exchange(found);
    if (!waits_ && !found.empty() && optimizer_.can_place() && !averages_.first()) return unseen(k, found, measured ? &squares : nullptr);
    if (!scaler_.unscale(found)) return;
    lap(Stopwatch::kRest);
    if (measured) squares.read(found, peers_, *b_.squares);
    warm_up_.before();
    update();
    warm_up_.after(k);
    averages_.update();
  }

  void exchange(const std::vector<at::Tensor> &found) {
    const auto began = std::chrono::steady_clock::now();
    peers_->sum(found);
    if (b_.exchange != nullptr) *b_.exchange += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }

  // A step of which the host does not know whether it is skipped, unless it measures squares.
  void unseen(int64_t k, std::vector<at::Tensor> &gradients, const Squares *squares) {
    scaler_.place(gradients[0].device());
    const at::Tensor skips = scaler_.placed_unscale(gradients);
    if (squares != nullptr && !skips.item<bool>()) squares->read(gradients, peers_, *b_.squares);
    optimizer_.aim();
    warm_up_.before();
    optimizer_.device_step(skips);
    warm_up_.after(k);
    optimizer_.count();
    averages_.update(skips);
  }

  void update() {
    if (placed_ && optimizer_.can_place()) {
      optimizer_.aim();
      optimizer_.device_step();
      return optimizer_.count();
    }
    optimizer_.step();
    if (placed_) optimizer_.place();
  }

  // Takes a step that is recorded, or will be.
  void repeat(int64_t k, const Step &batch) {
    const at::Tensor images = batch.images(0, batch.size, changes_, random_, generator_), labels = batch.targets(0, batch.size)[0].labels;
    Recorded::Key key = optimizer_.settings();
    key.push_back(b_.smoothing);
    averages_.identify(key);
    Recorded &step = recorded(program_, true, std::move(key), images, labels, [&](Recorded &r) { r.set(work(r)); });
    optimizer_.aim();
    step.run(images, labels, generator_);
    optimizer_.count();
    tally_.copy(k, step);
  }

  // A step on the tensors of a recording, which outlives this trainer.
  std::function<void()> work(Recorded &r) const {
    return [&program = program_, &optimizer = optimizer_, averages = averages_, smoothing = b_.smoothing, &r]() mutable {
      optimizer.zero_grad();
      const at::Tensor logits = by_class(program.forward(r.images, true, c10::nullopt, &r.masks), r.labels);
      const at::Tensor loss = cross_entropy(logits, r.labels, Share{}, smoothing);
      loss.backward();
      optimizer.device_step();
      averages.update();
      r.note(loss, logits);
    };
  }

  // Adds the gradients of rows of a batch, and returns how many of them are this process's.
  int64_t gradients(int64_t k, const Step &batch, int64_t from, int64_t count) {
    const Share share = Share::of(peers_, count);
    const Sharing guard(share);
    from += share.start;
    const auto targets = batch.targets(from, share.count);
    const at::Tensor images = batch.images(from, share.count, changes_, random_, generator_);
    lap(Stopwatch::kBatch);
    const at::Tensor logits = by_class(program_.forward(images, true, generator_), targets[0].labels);
    const at::Tensor counted = batch.counted();
    Loss loss = loss_of(b_, batch.soft(), logits, targets, share, counted);
    if (count < batch.size && !counted.defined()) {
      const double weight = static_cast<double>(count) / static_cast<double>(batch.size);
      loss = Loss{loss.labels * weight, loss.goal * weight};
    }
    const at::Tensor goal = scaler_.scaled(loss.goal);
    lap(Stopwatch::kLoss);
    goal.backward();
    lap(Stopwatch::kRest);
    const Target &main = targets.back().share > 0.5 ? targets.back() : targets.front();  // the last is the first without mixup
    tally_.note(k, loss.labels, logits, main.labels, !share.idle);
    lap(Stopwatch::kLoss);
    return share.idle ? 0 : share.count;
  }

  Network &program_;
  Optimizer &optimizer_;
  const graft_batches &b_;
  Feed feed_;
  Tally tally_;
  Peers *peers_;
  Augment changes_;
  RandAugment random_;
  c10::optional<at::Generator> generator_;
  Averages averages_;
  WarmUp warm_up_;
  Scaler scaler_;
  const bool repeats_;  // full batches are steps of a recording
  const bool waits_;    // the host waits for each step's scale
  const bool placed_;   // the optimizer's numbers are on the device
};

void train(Network &program, Optimizer &optimizer, const graft_batches &b, double *losses, int64_t *correct) {
  const std::unique_ptr<Stopwatch> watch = timed(program, optimizer.parameters(), b);
  const Timing timing(watch.get());
  at::AutoGradMode grad(true);
  const Narrow threads(program.steady());
  const Numerics numerics(program.device(), program.steady(), program.tf32());
  const OwnStream stream(program.device(), program.records());
  Trainer(program, optimizer, b).run().read(losses, correct);
}

// Changes all or nothing.
void train_together(Network &program, Optimizer &optimizer, const graft_batches &b, double *losses, int64_t *correct) {
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

// The evaluation of a recording's batch.
std::function<void()> measured(const Network &program, Recorded &r) {
  return [&program, &r] {
    const at::Tensor logits = by_class(program.forward(r.images, false, c10::nullopt), r.labels);
    r.note(loss_of_rows(logits, r.labels, at::Reduction::Mean), logits);
  };
}

void evaluate(Network &program, const graft_batches &b, double *losses, int64_t *correct) {
  Feed feed(b);
  Tally tally(b.steps, feed.inputs.device());
  c10::NoGradGuard guard;
  const Narrow threads(program.steady());
  const Numerics numerics(program.device(), program.steady(), program.tf32());
  const OwnStream stream(program.device(), program.records());
  const std::unique_ptr<Stopwatch> watch = timed(program, 0, b);
  const Timing timing(watch.get());
  const Share steps = Share::of(several(b.peers), b.steps);  // whole batches: their figures have the same bits
  for (int64_t k = steps.start; !steps.idle && k < steps.start + steps.count; k++) {
    if (watch) watch->begin(k);
    const at::Tensor labels = feed.rows(feed.labels, k * feed.batch, feed.size(k)), images = feed.rows(feed.inputs, k * feed.batch, feed.size(k));
    if (program.records() && feed.size(k) == feed.batch) {
      Recorded &step = recorded(program, false, {}, images, labels, [&](Recorded &r) { r.set(measured(program, r)); });
      step.run(images, labels, c10::nullopt);
      tally.copy(k, step);
      continue;
    }
    lap(Stopwatch::kBatch);
    const at::Tensor logits = by_class(program.forward(images, false, c10::nullopt), labels);
    tally.note(k, loss_of_rows(logits, labels, at::Reduction::Mean), logits, labels);
    lap(Stopwatch::kLoss);
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
    run(*static_cast<graft::Network *>(program), *static_cast<graft::Optimizer *>(optimizer), *batches, losses, correct);
  });
}

int64_t graft_program_operators(graft_program program) { return static_cast<int64_t>(static_cast<graft::Network *>(program)->operators()); }

char *graft_evaluate(graft_program program, const graft_batches *batches, double *losses, int64_t *correct) {
  return graft::guarded([&] { graft::evaluate(*static_cast<graft::Network *>(program), *batches, losses, correct); });
}
