// Package kineto reads traces of torch.profiler, which PyTorch writes in the format of Chrome's trace viewer, with
// record_shapes=True, on the CPU and on CUDA.
//
// # Design
//
// A trace comes from another machine, so it is untrusted input: the size of the file, the number of events, the nesting
// of operators and the digits of numbers are limited. Each error states the event and its byte in the file.
//
// Times are decimal numbers of microseconds with three decimals. They are read as whole nanoseconds, because float64
// cannot hold their 16 digits. Operators nest by time within a thread; nothing else in the file states the nesting.
// The own time of an operator is its duration without the operators directly inside. The own times of a thread add up
// to the durations of its outermost operators.
//
// On CUDA, an operator launches kernels through calls of the runtime. A call and its kernel share a correlation number
// (CUPTI documentation, NVIDIA, 2024, activity records). A kernel therefore belongs to the innermost operator around
// the call, and its time is device time of that operator.
package kineto
