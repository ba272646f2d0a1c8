// Package telemetry measures devices: their use, power and energy, and the energy of an
// interval of time on one of them.
//
// A [Source] reads devices: [OpenNVML] NVIDIA's GPUs, [OpenRAPL] processors. A [Sampler] reads a
// source at a fixed interval, passes each [Reading] to a sink such as [Table], and measures
// intervals: [Sampler.Begin] and [Sampler.End] return a [Measurement]. [Measure] does the same on
// readings that were kept, such as those of [ReadSMI]. [WriteDCGM] writes readings for Prometheus.
//
// Every value of a reading is an [Optional]: an unknown value is never zero. Tables have an empty
// cell for it, JSON null, and Prometheus no sample.
//
// # Design
//
// Unknown is a value. A GPU that does not offer a value, a driver that fails and a file with [N/A] give unknown
// values, never zeros. A failed reading is a row without values, and sampling goes on. Every energy says by
// which method it was found, or why it is unknown.
//
// The driver's library is distrusted. NVIDIA's binding calls functions by lazy linking: a function that the
// library lacks would end the process. So each symbol is looked up before it is called, and a build asks the
// linker for lazy binding; with LD_BIND_NOW set graft does not start. Tests run a fake library in processes of
// their own.
//
// A job's energy has a table of its own. runner/train ends a segment at each row of epochs and each checkpoint,
// and writes it to energy.csv. So a resumed job has the sum of what it kept, without any state in a checkpoint,
// and epochs.csv stays equal to the bit on the virtual clock.
//
// Energy is pure. Measure and Meter compute from readings alone. The sampler feeds meters in constant memory,
// so its memory does not grow with the length of a run.
package telemetry
