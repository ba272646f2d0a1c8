// Package costs computes the time of training work from operators, without measuring the network. Hardware holds the
// constants of a device, of the links inside a server and of the network between servers. Transformer lists the
// operators of a language model, and Hardware.Iteration returns the time of a training iteration under a Plan of
// tensor, data and pipeline parallelism.
//
// # Design
//
// Few constants, each with a physical meaning. The time of an operator on the device is a roofline that adds instead
// of taking the maximum: operations divided by the attained rate, plus bytes divided by the attained bandwidth. Matrix
// products run in square tiles, and the tiles run in waves over the device's units, so small products waste units
// (Matrix Multiplication Background User's Guide, NVIDIA, 2023). The sum replaces a separate curve of efficiency by
// shape: a product with a short inner dimension reads and writes more bytes per operation.
//
// The host launches each operator. Device and host overlap, so a pass takes about as long as the slower of the two; a
// norm blends them where they are equally slow. The ranks of a collective wait for the slowest rank, which adds a skew
// for each further rank.
//
// A ring of n devices sends 2(n-1)/n of the message over each link in 2(n-1) steps (Patarasuk and Yuan, Bandwidth
// optimal all-reduce algorithms for clusters of workstations, JPDC 2009). Each device also passes the message through
// its memory once, which explains why the bus bandwidth grows with n. Between servers, the rings that run at the same
// time share the network of a server.
//
// A pipeline runs one forward pass, then one backward pass (Narayanan et al., Efficient large-scale language model
// training on GPU clusters using Megatron-LM, SC 2021). Its schedule is simulated, because the first and the last stage
// do more than the others. Gradients are summed after the last backward pass, without overlap.
//
// A test fits the constants to published measurements. The file of the hardware states the sources of the constants,
// and the errors on measurements that were not fitted.
package costs
