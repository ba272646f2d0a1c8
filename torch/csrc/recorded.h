// A step on batches of one shape, recorded after it has run a few times.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <ATen/ATen.h>

#include "graphs.h"

namespace graft {

// Masks are the random masks of a step's dropout layers. They are drawn before a recorded step,
// in the order of the layers: a recording would repeat its own numbers.
class Masks {
 public:
  // The next layer's mask for values like x, with ones where they are kept.
  at::Tensor next(const at::Tensor &x, double keep);
  // Begins a step that draws each mask when its layer comes.
  void draw(const c10::optional<at::Generator> &generator);
  // Begins a step whose masks are drawn now.
  void draw_all(const c10::optional<at::Generator> &generator);

 private:
  struct Mask {
    at::Tensor values;
    double keep;
  };

  std::vector<Mask> masks_;
  size_t at_ = 0;
  bool drawn_ = false;
  c10::optional<at::Generator> generator_;
};

// Recorded is a step whose tensors stay where they are.
class Recorded {
 public:
  // What the step depends on besides its batch.
  using Key = std::vector<double>;

  // Images and labels have the shapes and types of the step's.
  Recorded(Key key, const at::Tensor &images, const at::Tensor &labels);

  const Key &key() const { return key_; }
  // The work reads images, labels and masks, and notes its result. It may refer only to what lives
  // as long as the recording.
  void set(std::function<void()> work) { work_ = std::move(work); }
  void note(const at::Tensor &of_loss, const at::Tensor &logits);
  // Runs the step on a batch.
  void run(const at::Tensor &of_images, const at::Tensor &of_labels, const c10::optional<at::Generator> &generator);

  const at::Tensor images, labels, loss, correct;
  Masks masks;

 private:
  Key key_;
  std::function<void()> work_;
  int runs_ = 0;
  std::unique_ptr<Recording> recording_;
};

}  // namespace graft
