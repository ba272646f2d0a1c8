// Package torch is the only door to LibTorch.
//
// It is built on gotorch, whose tensors, devices and operators it uses, and on one small C++
// shim for what gotorch lacks. Four rules make it safe to use from Go:
//
//   - A [Scope] owns every tensor made in it and frees them when it closes. No
//     finalizer and no forced garbage collection takes part.
//   - A scope keeps its first error and does nothing more after it, so a chain of
//     operators is checked once, with [Scope.Err]. Neither a Go panic nor a C++
//     exception leaves the package.
//   - LibTorch is opened with the first scope, not when the program starts.
//     Commands that need no tensor start at once, and a machine without a usable
//     LibTorch gets an error that says what to do, not a loader's message.
//   - Work crosses the border in large calls: a [Program] describes a network as
//     data, and [Train] runs many steps of it in one call.
//
// Weights go in and out of files in the package torch/weights, which needs no
// LibTorch at all.
package torch

// #cgo LDFLAGS: -L${SRCDIR}/link -ldl
import "C"
