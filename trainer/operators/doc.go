// Package operators computes the time of a training step from measured operators on the same device. There are two
// sources of measurements:
//
//   - A Table holds the operators of one network in a program. It comes from a trace of PyTorch, and predicts steps of
//     the traced network after surgery and at other batch sizes.
//   - A Device holds the operators of graft's own steps in many small networks. It predicts steps of any network.
//
// # Tables
//
// A network is a list of calls of operators with shapes. Surgery changes shapes and repeats operators, so most calls of
// a grown network were measured: a measured call takes its measured time. For other shapes, the time of a measured call
// of the same operator is divided into launches and work. The launches take constant time, estimated from the cheapest
// operators of the trace. The rest of the time is in proportion to the work: floating-point operations and bytes at
// rates fitted to all operators, which is a roofline that adds instead of taking the maximum. If the operator was
// measured with several shapes, the results are averaged, weighted by the inverse fourth power of the distance in work
// (Shepard, A two-dimensional interpolation function for irregularly-spaced data, ACM 1968). The prediction is
// therefore continuous: it equals the measurement at a measured shape, interpolates between shapes, and follows the
// roofline beyond them.
//
// The time of the host between two operators belongs to the second operator, because the host prepares its call. So the
// parts add up to the step. The times of operators that the network does not have, such as the loss, are the rest of
// the step, which surgery does not change. On CUDA, the host and the device work at the same time; a step takes as long
// as the slower of the two.
//
// The profiler takes time for each operator. If the time of a step without the profiler is known, the difference is
// subtracted from the operators in proportion to the recorded calls.
//
// # Devices
//
// LibTorch tells when a node of the backward pass ends, and graft's instructions run one after another, so each step is
// divided into its operators without gaps (torch.StepTimes). Layers that graft computes together, such as a norm with
// the ReLU after it, are one operator; an operator whose kernel depends on its neighbours has several names, such as a
// convolution that needs no gradient of its input, or a layer before a pool, whose gradient has another layout. The
// time of an operator also depends on the whole step: on its memory, which is the footprint, because after a large step
// inputs are no longer in a cache, and on its number of different operators, because their instructions leave the cache
// too.
//
// The times of a network's operators are scaled so that they add up to a step in which operators are not timed. Without
// this, the sum of the usual times is some per cent less than a step, in which some operator is always slower than
// usual.
//
// The time for sizes that were not measured is the product of a base and a factor. The base is a constant, operations,
// bytes and weights at rates that are not negative. The factor is interpolated by kriging; see surface. No measured
// time is used unchanged, because most sizes of a new network were not measured. An operator that no measured network
// has takes the times of another operator of about the same work; see standIns.
//
// Each measured network is also predicted from the others, which estimates the errors for new networks and determines
// the weights of sizes; see Device.LeaveOut and weightsOf.
package operators
