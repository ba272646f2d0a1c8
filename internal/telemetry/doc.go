// Package telemetry measures devices: their use, power and energy, and the energy of a time interval on a device.
//
// A [Source] reads devices: [OpenNVML] NVIDIA's GPUs, [OpenRAPL] processors. A [Sampler] reads a source at a fixed
// interval, passes each [Reading] to a sink such as [Table], and measures intervals: [Sampler.Begin] and [Sampler.End]
// return a [Measurement]. [Measure] does the same for stored readings, for example from [ReadSMI]. [WriteDCGM] writes
// readings for Prometheus.
//
// Every value of a reading is an [Optional]: an unknown value is never zero. It is an empty cell in tables, null in
// JSON, and has no sample in Prometheus.
//
// # Design
//
// Unknown is a value. A GPU without a value, a failing driver and a file with [N/A] give unknown values, never zeros. A
// failed reading is a row without values, and sampling continues. Every energy states its method, or the reason why it
// is unknown.
//
// The driver's library is not trusted. NVIDIA's binding calls functions by lazy linking: a function missing in the
// library would end the process. So each symbol is looked up before it is called, and a build asks the linker for lazy
// binding; with LD_BIND_NOW set graft does not start. Tests run a fake library in separate processes.
//
// A job's energy has its own table. runner/train ends a segment at each row of epochs and each checkpoint, and writes
// it to energy.csv. So a resumed job has the sum over its kept work, without any state in a checkpoint, and epochs.csv
// stays bit-identical on the virtual clock.
//
// Energy is pure. Measure and Meter compute only from readings. The sampler feeds meters in constant memory, so its
// memory does not grow with the length of a run.
package telemetry
