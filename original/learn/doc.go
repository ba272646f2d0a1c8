// Package learn trains a policy in the original system's format on a table, either in episodes, as the original
// system does, or by the exact gradient.
//
// # Design
//
// The gradient has its own kernels. A policy's networks are so small that calling LibTorch's operators costs many
// times as much as the arithmetic. In torch, such a policy is a tree of states and a flat vector of parameters;
// forward, backward, Adam and the drawing of actions are one loop in C++, and many episodes are one call. Sequences
// with a common beginning share the cells of one direction, and sequences with a common end share the cells of the
// other. Operands are padded to cache lines, and sums stay in registers. The kernels are compiled for float32 and
// float64 and each instruction set; LibTorch's autograd in float64 is their test oracle.
//
// Exact if possible. A table holds every sequence, so the expected reward and its gradient are sums over states,
// weighted by their probability under the policy. The loop over episodes reproduces the original system, draw for
// draw.
//
// A learning study is its state: parameters, moments, counters and the generator, as tensors and a JSON value. Its bits
// depend neither on how it is divided into calls nor on the times of checkpoints.
package learn
