// Kernels of the fast path, free of LibTorch: plain float32 arrays in, out.
// kernels.cc is compiled once for each instruction set; kernels() picks.
#pragma once

#include <cstdint>

namespace graft {

// Images of height x width pixels with their channels side by side (NHWC),
// averaged over window x window pixels after normalisation and activation.
// A window of 1 pools nothing; pixels that no whole window covers are dropped.
struct NormShape {
  int64_t height, width, channels;
  int64_t window_height, window_width;
  bool relu;

  int64_t pixels() const { return height * width; }
  int64_t pooled_height() const { return height / window_height; }
  int64_t pooled_width() const { return width / window_width; }
  int64_t pooled() const { return pooled_height() * pooled_width(); }
};

struct Kernels {
  const char *name;
  // Adds each channel's sum and sum of squares of (x - shift) over one image.
  void (*sums)(const float *x, const NormShape &s, const float *shift, double *sum, double *squares);
  // y = pool(act(x * scale + offset)) over one image.
  void (*forward)(const float *x, const NormShape &s, const float *scale, const float *offset, float *y);
  // Adds each channel's sums of dz and dz * (x - mean) over one image, where dz
  // is the gradient before the activation.
  void (*backward_sums)(const float *x, const float *dy, const NormShape &s, const float *scale,
                        const float *offset, const float *mean, double *dz, double *dzx);
  // dx = scale * dz + slope * x + level over one image.
  void (*backward)(const float *x, const float *dy, const NormShape &s, const float *scale, const float *offset,
                   const float *slope, const float *level, float *dx);
  // Average over 2 x 2 windows of one plane (NCHW) after an optional ReLU, with
  // the operations of PyTorch in PyTorch's order: bits are equal.
  void (*pool2_forward)(const float *x, int64_t height, int64_t width, bool relu, float *y);
  void (*pool2_backward)(const float *x, const float *dy, int64_t height, int64_t width, bool relu, float *dx);
  // One Adam step over n values (Kingma and Ba 2015, with decoupled decay).
  void (*adam)(float *p, const float *g, float *m, float *v, int64_t n, float beta1, float beta2, float step,
               float root_correction, float eps, float l2, float decay);
  // y = x Φ(x), GELU, and unless slope is nullptr its derivative; with Φ as Hendrycks and Gimpel (2016) approximate it by tanh,
  // if asked for.
  void (*gelu)(const float *x, int64_t n, bool by_tanh, float *y, float *slope);
};

const Kernels &kernels();

}  // namespace graft
