// Package operators computes the time of a training step from the measured operators of a related network, on the same
// device and in the same program. A Table holds the measured times by operator and shapes. It comes from a trace of
// PyTorch, and predicts steps of the traced network after surgery and at other batch sizes.
//
// # Design
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
package operators
