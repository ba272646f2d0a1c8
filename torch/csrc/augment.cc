#include "augment.h"

#include <algorithm>
#include <cstring>

#include <ATen/Parallel.h>

#include "peers.h"

namespace graft {
namespace {

// Random numbers for an image, of 63 bits each.
enum { kDown, kRight, kMirror, kHoleRow, kHoleColumn, kDraws };

// Bytes below which a second thread costs more than it saves.
constexpr int64_t kBytesPerThread = 1 << 16;

// Place maps the pixels of one image: out[y][x] is the image's pixel (y + down, x + right),
// flipped afterwards, with zeros in the hole.
struct Place {
  int64_t down, right;
  bool mirror;
  int64_t top, bottom, left, end;  // of the hole

  Place(const int64_t *draw, const Augment &a, int64_t height, int64_t width)
      : down(draw[kDown] % (2 * a.pad + 1) - a.pad), right(draw[kRight] % (2 * a.pad + 1) - a.pad), mirror(a.flip && draw[kMirror] % 2 != 0) {
    const int64_t y = draw[kHoleRow] % height - a.cutout / 2, x = draw[kHoleColumn] % width - a.cutout / 2;
    top = std::max<int64_t>(y, 0);
    left = std::max<int64_t>(x, 0);
    bottom = std::min(y + a.cutout, height);
    end = std::min(x + a.cutout, width);
  }
};

// Copies count values in reverse order.
template <typename T>
void reversed(const T *from, int64_t count, T *to) {
  std::reverse_copy(from, from + count, to);
}

// Bytes are most of the work: eight at a time.
void reversed(const uint8_t *from, int64_t count, uint8_t *to) {
  for (; count >= 8; count -= 8, to += 8) {
    uint64_t word;
    std::memcpy(&word, from + count - 8, 8);
    word = __builtin_bswap64(word);
    std::memcpy(to, &word, 8);
  }
  std::reverse_copy(from, from + count, to);
}

// One row shifted, and mirrored if asked for.
template <typename T>
void move_row(const T *from, T *to, int64_t width, const Place &p) {
  const int64_t first = std::max<int64_t>(0, p.right), count = width - std::abs(p.right);
  int64_t before = std::max<int64_t>(0, -p.right);
  if (p.mirror) before = width - before - count;
  std::fill(to, to + before, T(0));
  if (p.mirror) {
    reversed(from + first, count, to + before);
  } else {
    std::copy(from + first, from + first + count, to + before);
  }
  std::fill(to + before + count, to + width, T(0));
}

template <typename T>
void move_plane(const T *from, T *to, int64_t height, int64_t width, const Place &p) {
  for (int64_t y = 0; y < height; y++, to += width) {
    const int64_t source = y + p.down;
    if (source < 0 || source >= height) {
      std::fill(to, to + width, T(0));
      continue;
    }
    move_row(from + source * width, to, width, p);
    if (y >= p.top && y < p.bottom && p.left < p.end) std::fill(to + p.left, to + p.end, T(0));
  }
}

// T is any type of the elements' size: a zero of each has all bits zero.
template <typename T>
void move_images(const at::Tensor &images, const int64_t *rows, const int64_t *draws, const Augment &a, at::Tensor &out) {
  const int64_t channels = out.size(1), height = out.size(2), width = out.size(3), pixels = height * width;
  const T *from = static_cast<const T *>(images.data_ptr());
  T *to = static_cast<T *>(out.data_ptr());
  const int64_t bytes = std::max<int64_t>(1, channels * pixels * static_cast<int64_t>(sizeof(T)));
  at::parallel_for(0, out.size(0), std::max<int64_t>(1, kBytesPerThread / bytes), [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; n++) {
      const Place place(draws + n * kDraws, a, height, width);
      const int64_t row = rows == nullptr ? n : rows[n];
      for (int64_t c = 0; c < channels; c++)
        move_plane(from + (row * channels + c) * pixels, to + (n * channels + c) * pixels, height, width, place);
    }
  });
}

at::Tensor on_host(const at::Tensor &all, const at::Tensor &order, const at::Tensor &draws, const Augment &a) {
  const at::Tensor images = all.contiguous(), rows = order.defined() ? order.contiguous() : order;
  const int64_t *places = rows.defined() ? rows.data_ptr<int64_t>() : nullptr;
  for (int64_t n = 0; places != nullptr && n < rows.size(0); n++)
    TORCH_CHECK(places[n] >= 0 && places[n] < images.size(0), "row ", places[n], " of ", images.size(0), " images");
  at::Tensor out = at::empty({draws.size(0), images.size(1), images.size(2), images.size(3)}, images.options());
  const int64_t *drawn = draws.data_ptr<int64_t>();
  switch (images.element_size()) {
    case 1: move_images<uint8_t>(images, places, drawn, a, out); break;
    case 2: move_images<uint16_t>(images, places, drawn, a, out); break;
    case 4: move_images<uint32_t>(images, places, drawn, a, out); break;
    case 8: move_images<uint64_t>(images, places, drawn, a, out); break;
    default: TORCH_CHECK(false, "pixels of ", images.element_size(), " bytes");
  }
  return out;
}

// Whether each of the size places lies in [from, from + length), for each image.
at::Tensor inside(const at::Tensor &from, int64_t length, const at::Tensor &places) {
  return places.ge(from).logical_and(places.lt(from + length));
}

at::Tensor with_operators(const at::Tensor &all, const at::Tensor &rows, const at::Tensor &draws, const Augment &a) {
  const at::Tensor images = rows.defined() ? all.index_select(0, rows) : all.contiguous();
  const int64_t n = images.size(0), channels = images.size(1), height = images.size(2), width = images.size(3);
  auto drawn = [&](int64_t k, int64_t below) { return draws.select(1, k).remainder(below).unsqueeze(1); };
  const at::Tensor ys = at::arange(height, draws.options()).unsqueeze(0), xs = at::arange(width, draws.options()).unsqueeze(0);
  at::Tensor y = ys + drawn(kDown, 2 * a.pad + 1) - a.pad;
  at::Tensor x = a.flip ? at::where(drawn(kMirror, 2).ne(0), width - 1 - xs, xs) : xs;
  x = x + drawn(kRight, 2 * a.pad + 1) - a.pad;
  auto both = [](const at::Tensor &down, const at::Tensor &right) { return down.unsqueeze(2).logical_and(right.unsqueeze(1)); };
  at::Tensor nothing = both(inside(at::zeros_like(y), height, y), inside(at::zeros_like(x), width, x)).logical_not();
  if (a.cutout > 0) {
    const at::Tensor top = drawn(kHoleRow, height) - a.cutout / 2, left = drawn(kHoleColumn, width) - a.cutout / 2;
    nothing = nothing.logical_or(both(inside(top, a.cutout, ys), inside(left, a.cutout, xs)));
  }
  at::Tensor from = (y.clamp(0, height - 1) * width).unsqueeze(2) + x.clamp(0, width - 1).unsqueeze(1);
  at::Tensor out = images.view({n, channels, height * width}).gather(2, from.view({n, 1, -1}).expand({n, channels, height * width}));
  return out.view(images.sizes()).masked_fill(nothing.unsqueeze(1), 0);
}

void check(const at::Tensor &images, const at::Tensor &rows, const Augment &a) {
  TORCH_CHECK(images.dim() == 4, "augmentation is for images [N, C, H, W], not for ", images.sizes());
  const int64_t side = std::min(images.size(2), images.size(3));
  TORCH_CHECK(side > 0 && a.pad >= 0 && a.pad < side, "a shift of up to ", a.pad, " pixels for images of ", images.size(2), " x ", images.size(3));
  TORCH_CHECK(a.cutout >= 0, "a cutout of ", a.cutout, " pixels");
  TORCH_CHECK(!rows.defined() || (rows.dim() == 1 && rows.scalar_type() == at::kLong), "rows are a list of int64");
}

}  // namespace

at::Tensor augment(const at::Tensor &images, const at::Tensor &rows, const Augment &a,
                   const c10::optional<at::Generator> &generator, bool by_operators) {
  check(images, rows, a);
  const int64_t count = rows.defined() ? rows.size(0) : images.size(0);
  const at::Device device = generator.has_value() ? generator->device() : images.device();
  const int64_t drawn = sharing() == nullptr ? count : sharing()->total;
  at::Tensor draws = at::empty({drawn, kDraws}, at::TensorOptions().dtype(at::kLong).device(device));
  draws.random_(generator);
  draws = own_rows(draws).to(images.device());
  if (by_operators || !images.is_cpu()) return with_operators(images, rows, draws, a);
  return on_host(images, rows, draws, a);
}

}  // namespace graft
