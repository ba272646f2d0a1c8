// The large calls: many steps, one crossing, one synchronisation at the end.
#include "augment.h"
#include "guard.h"
#include "optim.h"
#include "program.h"

namespace graft {
namespace {

// Feed hands out one step's rows.
struct Feed {
  at::Tensor inputs, labels, order;
  int64_t batch;

  explicit Feed(const graft_batches &b)
      : inputs(deref(b.inputs, "the inputs")), labels(deref(b.labels, "the labels")), order(optional(b.order)), batch(b.batch) {
    TORCH_CHECK(batch > 0, "a batch of ", batch, " rows");
    TORCH_CHECK(inputs.size(0) == labels.size(0), inputs.size(0), " inputs for ", labels.size(0), " labels");
    const int64_t rows = order.defined() ? order.size(0) : inputs.size(0);
    TORCH_CHECK(b.steps >= 0 && (b.steps - 1) * batch < rows, b.steps, " steps of ", batch, " rows need more than the ", rows, " there are");
  }

  // The last batch may be short.
  at::Tensor part(const at::Tensor &of, int64_t step) const {
    return of.narrow(0, step * batch, std::min(batch, of.size(0) - step * batch));
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

  void note(int64_t step, const at::Tensor &loss, const at::Tensor &logits, const at::Tensor &labels) {
    c10::NoGradGuard guard;
    losses[step].copy_(loss);
    correct[step].copy_(logits.argmax(1).eq(labels).sum());
  }

  void read(double *to_losses, int64_t *to_correct) const {
    at::Tensor l = losses.to(at::kCPU, at::kDouble), c = correct.to(at::kCPU);
    std::copy_n(l.data_ptr<double>(), l.numel(), to_losses);
    std::copy_n(c.data_ptr<int64_t>(), c.numel(), to_correct);
  }
};

// What a student loses against a teacher (Hinton, Vinyals and Dean 2015): the
// divergence of their softened outputs, times the square of the temperature so that
// its gradients keep their size.
at::Tensor distillation(const at::Tensor &student, const at::Tensor &teacher, double temperature) {
  const at::Tensor soft = at::softmax(teacher / temperature, 1);
  const at::Tensor apart = soft * (at::log_softmax(teacher / temperature, 1) - at::log_softmax(student / temperature, 1));
  return apart.sum() * (temperature * temperature / static_cast<double>(student.size(0)));
}

// The loss against the labels and, for its share, against the lessons.
at::Tensor taught(const graft_batches &b, const Feed &feed, int64_t step, const at::Tensor &loss, const at::Tensor &logits) {
  const double soft = b.soft - b.soft_fall * static_cast<double>(step);
  if (b.lessons == nullptr || soft <= 0) return loss;
  TORCH_CHECK(b.temperature > 0, "a temperature of ", b.temperature);
  const at::Tensor lesson = feed.rows(deref(b.lessons, "the lessons"), step);
  TORCH_CHECK(lesson.sizes() == logits.sizes(), "the teacher gives ", lesson.sizes(), ", the student ", logits.sizes());
  return loss * (1 - soft) + distillation(logits, lesson, b.temperature) * soft;
}

void train(Program &program, Optimizer &optimizer, const graft_batches &b, double *losses, int64_t *correct) {
  Feed feed(b);
  const Augment changes{b.pad, b.cutout, b.flip != 0};
  if (changes.any()) feed.inputs = feed.inputs.contiguous();  // once, not in every step
  Tally tally(b.steps, feed.inputs.device());
  auto generator = generator_of(b.generator);
  at::AutoGradMode grad(true);
  for (int64_t k = 0; k < b.steps; k++) {
    optimizer.zero_grad();
    at::Tensor labels = feed.rows(feed.labels, k);
    at::Tensor logits = program.forward(feed.augmented(k, changes, generator), true, generator);
    at::Tensor loss = at::cross_entropy_loss(logits, labels);
    taught(b, feed, k, loss, logits).backward();
    optimizer.step();
    tally.note(k, loss, logits, labels);
  }
  tally.read(losses, correct);
}

void evaluate(const Program &program, const graft_batches &b, double *losses, int64_t *correct) {
  Feed feed(b);
  Tally tally(b.steps, feed.inputs.device());
  c10::NoGradGuard guard;
  for (int64_t k = 0; k < b.steps; k++) {
    at::Tensor labels = feed.rows(feed.labels, k);
    at::Tensor logits = program.forward(feed.rows(feed.inputs, k), false, c10::nullopt);
    tally.note(k, at::cross_entropy_loss(logits, labels), logits, labels);
  }
  tally.read(losses, correct);
}

}  // namespace
}  // namespace graft

char *graft_train(graft_program program, graft_optimizer optimizer, const graft_batches *batches, double *losses,
                  int64_t *correct) {
  return graft::guarded([&] {
    graft::train(*static_cast<graft::Program *>(program), *static_cast<graft::Optimizer *>(optimizer), *batches, losses, correct);
  });
}

char *graft_evaluate(graft_program program, const graft_batches *batches, double *losses, int64_t *correct) {
  return graft::guarded([&] { graft::evaluate(*static_cast<graft::Program *>(program), *batches, losses, correct); });
}
