// Package torch is the only access to LibTorch.
//
// It is built on gotorch, whose tensors, devices and operators it uses, and on one small C++ shim for features that
// gotorch lacks. Four rules make it safe to use from Go:
//
//   - A [Scope] owns every tensor made in it and frees them when it closes. No finalizer and no forced garbage
//     collection is involved.
//   - A scope stores its first error and then does nothing more, so a chain of operators is checked once, with
//     [Scope.Err]. Neither a Go panic nor a C++ exception leaves the package.
//   - LibTorch is opened with the first scope, not when the program starts. Commands that need no tensor start at
//     once, and on a machine without a usable LibTorch, the error explains what to do instead of being a loader's
//     message.
//   - Work crosses the boundary between Go and C++ in large calls: a [Program] describes a network as data, and
//     [Train] runs many steps of it in one call.
//
// Weights go in and out of files in the package torch/weights, which does not need LibTorch.
//
// # Design
//
// Only torch has its own cgo and imports gotorch.
//
// Opened at run time, not linked. door.S holds one jump for each C function that gotorch's Go code and ours call;
// door.c opens libgrafttorch.so and sets the jumps. gotorch asks the linker for four libraries; torch/link supplies
// four empty archives. Consequences: commands without tensors start in milliseconds; a machine without a usable
// LibTorch gets an error message; go build needs no LibTorch; one binary runs on every LibTorch that the library was
// built for; and OpenMP's waiting policy can be set before OpenMP is loaded.
//
// One library, pure C. scripts/library.sh compiles gotorch's C++ half, unmodified, from the module cache, and
// torch/csrc into one library. All code with LibTorch's headers is one translation unit, since compiling the headers
// costs more than our code. graft.h is the C interface: handles, numbers and arrays, no C++ type. Its version number is
// incremented with every change; other versions are rejected.
//
// Ownership. gotorch frees tensors by finalizer, keeps nothing alive during a call, and can deadlock in a forced
// garbage collection. Here a scope takes over each result, removes its finalizer and frees the handles of the scope
// in one call. Small operators call gotorch's C half directly. This saves the finalizer and a second cgo call, which
// would take a quarter of a small operator's time.
//
// Errors. gotorch reports errors by panic, and in some places lets a C++ exception escape. torch recovers the panics.
// Backward, gradients, optimizers and all large calls run inside guarded() in torch/csrc, which converts exceptions to
// errors. A scope keeps its first error, like a bufio.Writer, so a chain of operators stays readable.
//
// Programs. A network is passed to C++ as data: a list of instructions on registers, and their tensors. Train runs
// forward, loss, backward, optimizer and counters for k steps in one call, and returns the metrics once, at the end.
// Weights are ordinary tensors that Go reads and changes between calls. Moments and step counts of an optimizer are
// ordinary tensors too, so surgery and checkpoints need no special case.
//
// Calls. An imported network is data too: a list of ATen's operators with named arguments, which LibTorch's dispatcher
// looks up by name and runs in one call. Network in torch/csrc is the interface that training and evaluation need;
// Program and Calls implement it, so both train with the same code. Go allows only operators without side effects.
// Three kinds of operators are our own, registered with the same schemas: operators that LibTorch 1.13 lacks, dropout,
// which draws from the caller's generator, and arithmetic on sizes.
//
// Foreign operators run in a child process first. LibTorch does not check all arguments, our checks cannot find all
// faults, and a fault in a kernel ends the process. A graph from a file therefore runs once in a child, with limits
// that follow from its shapes. The C++ half records each operator before the operator runs, so the error names it.
// Lists have the length given by the schema, for all operators. Unknown operators are called if they are in a list.
//
// Speed. Three measures:
//
//   - Freed blocks of memory are kept, since each training step allocates blocks of the same sizes again: malloc keeps
//     small ones, and csrc/blocks.cc keeps blocks of 32 MiB and more, which malloc returns to the system.
//     GRAFT_KEEP_BLOCKS=0 leaves them to malloc. Results are bit-identical.
//   - A 2 × 2 average pool and the ReLU before it run in one kernel of ours, with PyTorch's operations in
//     PyTorch's order. Results are bit-identical, which a test checks.
//   - Fast, an option, keeps images channels-last and fuses BatchNorm, ReLU and average pool into one layer with four
//     passes over memory, with kernels for AVX-512, AVX2 and plain processors. It fuses the bias of a preceding
//     convolution: the batch's mean cancels it, so it changes only the running mean, and its gradient is zero where
//     PyTorch finds rounding errors. Results are equal up to rounding, which a test checks against float64. Sums are
//     split into a fixed number of parts, so the results of these layers do not depend on the number of threads.
//
// bfloat16 is an option too: convolutions and linear layers round their inputs, and their results are float32 again.
// Weights, gradients, moments, normalisation, softmax and loss stay float32. The casts are instructions of the
// program, so they are the same on every device and with every LibTorch.
//
// Idle OpenMP threads spin three thousand times and then sleep. The default, spinning for seconds, collapses when
// several jobs share a machine; sleeping immediately costs a sixth of the speed on an idle machine. Debian's OpenBLAS
// with OpenMP uses the same threads. OpenBLAS with threads of its own computes on one, because its idle threads spin
// too.
//
// Several processes communicate by LibTorch's c10d, inside the large calls. Each process takes a contiguous share of
// every batch's rows. All processes make the same calls: a process without a row of a short batch computes another
// process's row with weight zero. Gradients are weighted so that their sum is the gradient of the mean over the whole
// batch, and sent in one message. Batch normalisation sums over the whole batch, in float64, forward and backward.
// Every process draws the random numbers of the whole batch, and uses the numbers of its rows. Evaluation shares
// whole batches, so its results stay bit-identical. Without NCCL, Gloo works on copies on the host.
//
// A call that loses a process throws, in backward as well, and returns ErrPeer; it restores weights, moments, running
// statistics and generator first. The c10d headers are in one file, which is compiled separately, first with all
// features, then with fewer. The library can therefore be built even for a LibTorch that lacks these headers or has
// different ones. Its Gloo header needs Gloo's own headers, which no LibTorch ships; csrc/gloo declares the few
// names, used only as pointers. NCCL compiles but has not been run.
//
// JPEG files are decoded by Go, or by libjpeg-turbo if the data select it. torch/csrc/jpeg.cc opens it at run time, as
// the door opens LibTorch; the interface is five functions, declared there. The two decoders round differently, so the
// choice is a key of the data, never a fallback.
//
// Debug builds. With -tags graftdebug, each scope that is dropped without Close raises an alarm with a stack. Use after
// close is an error in every build.
package torch

// #cgo LDFLAGS: -L${SRCDIR}/link -ldl
import "C"
