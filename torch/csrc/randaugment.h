// Random operations on images kept as bytes.
#ifndef GRAFT_RANDAUGMENT_H
#define GRAFT_RANDAUGMENT_H

#include <array>
#include <memory>
#include <vector>

#include <ATen/ATen.h>

namespace graft {

// RandAugment (Cubuk, Zoph, Shlens and Le 2020) with the operations and strengths of
// torchvision, on bytes: nearest pixels, and black outside of the image.
class RandAugment {
 public:
  enum Operation {
    kIdentity, kShearX, kShearY, kTranslateX, kTranslateY, kRotate, kBrightness, kColor, kContrast, kSharpness,
    kPosterize, kSolarize, kAutoContrast, kEqualize, kOperations
  };

  // count operations for each image, with a strength from 0 to 30.
  RandAugment(int64_t count, int64_t magnitude);

  bool any() const { return count_ > 0; }
  // Changes each of the images [N, C, H, W] by operations of its own. Two numbers are drawn for
  // each, on the generator's device.
  at::Tensor operator()(const at::Tensor &images, const c10::optional<at::Generator> &generator) const;
  // Changes all images by one operation, in the opposite direction where it has one.
  at::Tensor apply(const at::Tensor &images, Operation operation, bool opposite) const;

 private:
  struct Size {
    int64_t channels, height, width;
    int64_t pixels() const { return height * width; }
  };
  // Tables holds what operations need for a size of images.
  struct Tables;

  const Tables &tables(const at::Tensor &images) const;

  int64_t count_, magnitude_;
  mutable std::shared_ptr<const Tables> tables_;  // of the last size
};

}  // namespace graft

#endif
