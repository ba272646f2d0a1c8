// Package failures handles failures of cluster nodes: it reads fault traces, lists of outages and the node events of
// Slurm, computes their statistics, fits a generator to a trace, and plans when the nodes of a simulated cluster fail
// and recover.
//
// A fault is a period in which a node has one problem. Faults of a node can overlap. An outage is a period in which a
// node has at least one fault. Times are whole seconds since the start of the trace. A fault or outage covers the
// seconds from From up to, but not including, To; one that begins and ends in the same second still stops the jobs of
// the node.
package failures
