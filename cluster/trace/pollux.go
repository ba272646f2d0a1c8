package trace

// polluxFormat is Pollux's table of jobs (Qiao et al., OSDI 2021). It has no durations, since they depend on the
// training.
var polluxFormat = format{
	Format: Format{Name: "pollux", About: "CSV of Pollux's workloads: jobs of named applications"},
	knows:  func(head []byte) bool { return hasColumns(head, "name", "time", "application", "num_replicas") },
	open: func(source lines, _ *Options) (rows, error) {
		return openTable(source, "pollux", polluxColumns)
	},
}

var polluxColumns = []column{
	{[]string{"name"}, true, setID},
	{[]string{"time"}, true, setSeconds},
	{[]string{"application"}, true, setModel},
	{[]string{"num_replicas"}, true, setGPUs},
	{[]string{"batch_size"}, false, setBatch},
}
