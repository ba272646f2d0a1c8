#include "recorded.h"

#include <c10/core/GradMode.h>

namespace graft {
namespace {

// PyTorch's manual lets a step run three times before its capture, so that libraries have chosen
// their kernels and made their workspaces.
constexpr int kRunsBefore = 3;

at::Tensor scalar(at::ScalarType type, const at::Tensor &beside) { return at::zeros({}, beside.options().dtype(type)); }

// An imported network may have an operator that waits for the device, or copies from the host.
std::unique_ptr<Recording> recorded(const at::Device &device, const std::function<void()> &work) {
  try {
    return record(device, work);
  } catch (const c10::Error &e) {
    TORCH_CHECK(false, "the step cannot be recorded as a CUDA graph; set cuda_graphs to false: ", e.what_without_backtrace());
  }
}

}  // namespace

at::Tensor Masks::next(const at::Tensor &x, double keep) {
  if (at_ == masks_.size()) masks_.push_back(Mask{at::empty_like(x), keep});
  Mask &mask = masks_[at_++];
  if (!drawn_) mask.values.bernoulli_(keep, generator_);
  return mask.values;
}

void Masks::draw(const c10::optional<at::Generator> &generator) {
  at_ = 0;
  drawn_ = false;
  generator_ = generator;
}

void Masks::draw_all(const c10::optional<at::Generator> &generator) {
  c10::NoGradGuard guard;
  at_ = 0;
  drawn_ = true;
  for (Mask &mask : masks_) mask.values.bernoulli_(mask.keep, generator);
}

Recorded::Recorded(Key key, const at::Tensor &of_images, const at::Tensor &of_labels)
    : images(at::empty_like(of_images)), labels(at::empty_like(of_labels)), loss(scalar(at::kFloat, labels)), correct(scalar(at::kLong, labels)), key_(std::move(key)) {}

void Recorded::note(const at::Tensor &of_loss, const at::Tensor &logits) {
  c10::NoGradGuard guard;
  at::Tensor(loss).copy_(of_loss);
  at::Tensor(correct).copy_(logits.argmax(1).eq(labels).sum());
}

void Recorded::run(const at::Tensor &of_images, const at::Tensor &of_labels, const c10::optional<at::Generator> &generator) {
  at::Tensor(images).copy_(of_images);
  at::Tensor(labels).copy_(of_labels);
  if (runs_ < kRunsBefore) {
    runs_++;
    masks.draw(generator);
    return work_();
  }
  masks.draw_all(generator);
  if (!recording_) recording_ = recorded(images.device(), work_);
  recording_->replay();
}

}  // namespace graft
