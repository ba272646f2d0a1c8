#include "randaugment.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <ATen/Parallel.h>

#include "peers.h"

namespace graft {
namespace {

constexpr int64_t kStrengths = 31;  // of an operation, from none to the most
constexpr int64_t kLevels = 256;    // of a byte

// The value at a place of evenly spaced ones, rounded as PyTorch's.
double spaced(double from, double to, int64_t at) { return at::linspace(from, to, kStrengths)[at].item<float>(); }

uint8_t clamped(float value) { return static_cast<uint8_t>(std::min(std::max(value, 0.0F), 255.0F)); }

// A product that no compiler joins with a sum: LibTorch rounds both.
float rounded_product(float a, float b) {
  volatile float product = a * b;
  return product;
}

// ratio of a value and the rest of another.
uint8_t blend(uint8_t value, float other, double ratio) {
  return clamped(rounded_product(static_cast<float>(ratio), value) + rounded_product(static_cast<float>(1 - ratio), other));
}

using Bytes = std::vector<uint8_t>;

// The lightness of each pixel.
Bytes gray(const uint8_t *image, int64_t channels, int64_t pixels) {
  Bytes out(image, image + pixels);
  for (int64_t k = 0; channels == 3 && k < pixels; k++) {
    const float red_green = rounded_product(0.2989F, image[k]) + rounded_product(0.587F, image[pixels + k]);
    out[k] = static_cast<uint8_t>(red_green + rounded_product(0.114F, image[2 * pixels + k]));
  }
  return out;
}

// Stretches a plane to all levels.
void stretch(uint8_t *plane, int64_t pixels) {
  const auto ends = std::minmax_element(plane, plane + pixels);
  const float least = *ends.first, range = static_cast<float>(*ends.second) - least;
  if (range == 0) return;
  const float scale = (1 / range) * 255;
  for (int64_t k = 0; k < pixels; k++) plane[k] = clamped((plane[k] - least) * scale);
}

// Makes all levels of a plane about as frequent.
void equalize(uint8_t *plane, int64_t pixels) {
  std::array<int64_t, kLevels> count{};
  for (int64_t k = 0; k < pixels; k++) count[plane[k]]++;
  const int64_t step = (pixels - count[*std::max_element(plane, plane + pixels)]) / 255;
  if (step == 0) return;
  std::array<uint8_t, kLevels> table{};
  int64_t below = 0;
  for (int64_t v = 1; v < kLevels; v++) {
    below += count[v - 1];
    table[v] = static_cast<uint8_t>(std::min<int64_t>((below + step / 2) / step, 255));
  }
  for (int64_t k = 0; k < pixels; k++) plane[k] = table[plane[k]];
}

// The inverse of a rotation and a shear by angles, and of a translation in pixels, around a
// centre relative to the image's.
std::vector<float> inverse(double rotation, double shear_x, double shear_y, double right, double down, double centre_x, double centre_y) {
  const double a = std::cos(rotation - shear_y) / std::cos(shear_y);
  const double b = -std::cos(rotation - shear_y) * std::tan(shear_x) / std::cos(shear_y) - std::sin(rotation);
  const double c = std::sin(rotation - shear_y) / std::cos(shear_y);
  const double d = -std::sin(rotation - shear_y) * std::tan(shear_x) / std::cos(shear_y) + std::cos(rotation);
  const double x = -centre_x - right, y = -centre_y - down;
  const double shift_x = d * x + -b * y + centre_x, shift_y = -c * x + a * y + centre_y;
  return {static_cast<float>(d), static_cast<float>(-b), static_cast<float>(shift_x), static_cast<float>(-c), static_cast<float>(a), static_cast<float>(shift_y)};
}

// The pixel that each pixel of a moved image comes from, from 1; 0 is none. It is found by
// moving an image of numbers with the operators that torchvision uses.
std::vector<int32_t> sources(const std::vector<float> &matrix, int64_t height, int64_t width) {
  const double h = static_cast<double>(height), w = static_cast<double>(width);
  const at::Tensor theta = at::tensor(matrix, at::kFloat).reshape({1, 2, 3}).transpose(1, 2) /
                           at::tensor({static_cast<float>(0.5 * w), static_cast<float>(0.5 * h)}, at::kFloat);
  at::Tensor base = at::ones({height, width, 3}, at::kFloat);
  base.select(2, 0).copy_(at::linspace(-w * 0.5 + 0.5, w * 0.5 + 0.5 - 1, width));
  base.select(2, 1).copy_(at::linspace(-h * 0.5 + 0.5, h * 0.5 + 0.5 - 1, height).unsqueeze(1));
  const at::Tensor grid = base.view({1, height * width, 3}).bmm(theta).view({1, height, width, 2});
  const at::Tensor numbers = at::arange(1, height * width + 1, at::kFloat).view({1, 1, height, width});
  const at::Tensor from = at::grid_sampler(numbers, grid, /*nearest*/ 1, /*zeros*/ 0, false).to(at::kInt).contiguous();
  return {from.data_ptr<int32_t>(), from.data_ptr<int32_t>() + from.numel()};
}

constexpr double kDegree = M_PI / 180;

double angle(double tangent) { return std::atan(tangent) / kDegree * kDegree; }  // through degrees, as torchvision

}  // namespace

struct RandAugment::Tables {
  Size size;
  double ratio[2];                      // of brightness, colour, contrast and sharpness, in both directions
  std::vector<int32_t> moves[2][kRotate + 1];
  std::array<uint8_t, kLevels * kLevels> blended[2];  // of a value and another
  std::array<uint8_t, kLevels> levels[kOperations];   // of posterize and solarize

  Tables(int64_t magnitude, Size s) : size(s) {
    for (const bool opposite : {false, true}) prepare(magnitude, opposite);
    const int64_t bits = 8 - static_cast<int64_t>(std::nearbyint(static_cast<float>(magnitude) / 7.5F));
    const double threshold = spaced(255, 0, magnitude);
    for (int64_t v = 0; v < kLevels; v++) {
      levels[kPosterize][v] = static_cast<uint8_t>(v & -(int64_t{1} << (8 - bits)));
      levels[kSolarize][v] = static_cast<uint8_t>(static_cast<double>(v) >= threshold ? 255 - v : v);
    }
  }

  void prepare(int64_t magnitude, bool opposite) {
    const double sign = opposite ? -1 : 1, h = static_cast<double>(size.height), w = static_cast<double>(size.width);
    const double shear = sign * spaced(0, 0.3, magnitude), turn = sign * spaced(0, 30, magnitude);
    const double right = std::trunc(sign * spaced(0, 150.0 / 331.0 * w, magnitude)), down = std::trunc(sign * spaced(0, 150.0 / 331.0 * h, magnitude));
    auto add = [&](Operation o, const std::vector<float> &matrix) { moves[opposite][o] = sources(matrix, size.height, size.width); };
    add(kShearX, inverse(0, angle(shear), 0, 0, 0, -0.5 * w, -0.5 * h));
    add(kShearY, inverse(0, 0, angle(shear), 0, 0, -0.5 * w, -0.5 * h));
    add(kTranslateX, inverse(0, 0, 0, right, 0, 0, 0));
    add(kTranslateY, inverse(0, 0, 0, 0, down, 0, 0));
    add(kRotate, inverse(-turn * kDegree, 0, 0, 0, 0, 0, 0));
    ratio[opposite] = 1 + sign * spaced(0, 0.9, magnitude);
    for (int64_t v = 0; v < kLevels; v++) {
      for (int64_t other = 0; other < kLevels; other++) blended[opposite][v * kLevels + other] = blend(static_cast<uint8_t>(v), static_cast<float>(other), ratio[opposite]);
    }
  }

  void run(Operation o, bool opposite, uint8_t *image) const {
    switch (o) {
      case kShearX:
      case kShearY:
      case kTranslateX:
      case kTranslateY:
      case kRotate: return move(moves[opposite][o], image);
      case kBrightness: return mix(opposite, image, [](int64_t, int64_t) { return 0; });
      case kColor: return color(opposite, image);
      case kContrast: return contrast(opposite, image);
      case kSharpness: return sharpness(opposite, image);
      case kPosterize:
      case kSolarize: return replace(levels[o].data(), image);
      case kAutoContrast: return each_plane(image, stretch);
      case kEqualize: return each_plane(image, equalize);
      default: return;
    }
  }

  template <typename Body>
  void each_plane(uint8_t *image, const Body &body) const {
    for (int64_t c = 0; c < size.channels; c++) body(image + c * size.pixels(), size.pixels());
  }

  void move(const std::vector<int32_t> &from, uint8_t *image) const {
    Bytes was(size.pixels());
    each_plane(image, [&](uint8_t *plane, int64_t pixels) {
      std::memcpy(was.data(), plane, pixels);
      for (int64_t k = 0; k < pixels; k++) plane[k] = from[k] == 0 ? 0 : was[from[k] - 1];
    });
  }

  void replace(const uint8_t *table, uint8_t *image) const {
    for (int64_t k = 0; k < size.channels * size.pixels(); k++) image[k] = table[image[k]];
  }

  // Blends each value with that of other(channel, pixel).
  template <typename Other>
  void mix(bool opposite, uint8_t *image, const Other &other) const {
    for (int64_t c = 0; c < size.channels; c++) {
      uint8_t *plane = image + c * size.pixels();
      for (int64_t k = 0; k < size.pixels(); k++) plane[k] = blended[opposite][plane[k] * kLevels + other(c, k)];
    }
  }

  void color(bool opposite, uint8_t *image) const {
    if (size.channels == 1) return;
    const Bytes light = gray(image, size.channels, size.pixels());
    mix(opposite, image, [&](int64_t, int64_t k) { return light[k]; });
  }

  void contrast(bool opposite, uint8_t *image) const {
    int64_t sum = 0;
    for (const uint8_t v : gray(image, size.channels, size.pixels())) sum += v;
    const float mean = static_cast<float>(sum) / static_cast<float>(size.pixels());
    std::array<uint8_t, kLevels> table{};
    for (int64_t v = 0; v < kLevels; v++) table[v] = blend(static_cast<uint8_t>(v), mean, ratio[opposite]);
    replace(table.data(), image);
  }

  void sharpness(bool opposite, uint8_t *image) const {
    if (size.height <= 2 || size.width <= 2) return;
    const int64_t w = size.width;
    Bytes soft(image, image + size.channels * size.pixels());
    for (int64_t c = 0; c < size.channels; c++) {
      for (int64_t y = 1; y + 1 < size.height; y++) {
        for (int64_t x = 1; x + 1 < w; x++) {
          const uint8_t *p = image + c * size.pixels() + y * w + x;
          const int sum = p[-w - 1] + p[-w] + p[-w + 1] + p[-1] + 5 * p[0] + p[1] + p[w - 1] + p[w] + p[w + 1];
          soft[p - image] = static_cast<uint8_t>((2 * sum + 13) / 26);  // a thirteenth is never halfway
        }
      }
    }
    mix(opposite, image, [&](int64_t c, int64_t k) { return soft[c * size.pixels() + k]; });
  }
};

RandAugment::RandAugment(int64_t count, int64_t magnitude) : count_(count), magnitude_(magnitude) {
  TORCH_CHECK(count >= 0 && magnitude >= 0 && magnitude < kStrengths, count, " random operations of strength ", magnitude);
}

const RandAugment::Tables &RandAugment::tables(const at::Tensor &images) const {
  const Size s{images.size(1), images.size(2), images.size(3)};
  if (!tables_ || tables_->size.channels != s.channels || tables_->size.height != s.height || tables_->size.width != s.width)
    tables_ = std::make_shared<const Tables>(magnitude_, s);
  return *tables_;
}

// Copies images to the host, where operations are done.
static at::Tensor on_host(const at::Tensor &images) {
  TORCH_CHECK(images.dim() == 4 && images.scalar_type() == at::kByte && (images.size(1) == 1 || images.size(1) == 3),
              "RandAugment is for images [N, C, H, W] of bytes with 1 or 3 channels, not for ", images.toString(), " ", images.sizes());
  return images.to(at::kCPU).contiguous().clone();
}

at::Tensor RandAugment::operator()(const at::Tensor &images, const c10::optional<at::Generator> &generator) const {
  at::Tensor out = on_host(images);
  const at::Device device = generator.has_value() ? generator->device() : images.device();
  const int64_t rows = sharing() == nullptr ? images.size(0) : sharing()->total;
  at::Tensor draws = at::empty({rows, count_, 2}, at::TensorOptions().dtype(at::kLong).device(device));
  draws.random_(generator);
  draws = own_rows(draws).to(at::kCPU).contiguous();
  const Tables &tables = this->tables(out);
  const int64_t *drawn = draws.data_ptr<int64_t>(), bytes = out.numel() / std::max<int64_t>(1, out.size(0));
  uint8_t *image = out.data_ptr<uint8_t>();
  at::parallel_for(0, out.size(0), 8, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; n++) {
      for (int64_t k = 0; k < count_; k++) {
        const int64_t *draw = drawn + 2 * (n * count_ + k);
        tables.run(static_cast<Operation>(draw[0] % kOperations), draw[1] % 2 != 0, image + n * bytes);
      }
    }
  });
  return out.to(images.device());
}

at::Tensor RandAugment::apply(const at::Tensor &images, Operation operation, bool opposite) const {
  at::Tensor out = on_host(images);
  TORCH_CHECK(operation >= 0 && operation < kOperations, "operation ", static_cast<int>(operation), " of ", static_cast<int>(kOperations));
  const Tables &tables = this->tables(out);
  for (int64_t n = 0; n < out.size(0); n++) tables.run(operation, opposite, out[n].data_ptr<uint8_t>());
  return out.to(images.device());
}

}  // namespace graft
