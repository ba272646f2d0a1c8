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
package telemetry
