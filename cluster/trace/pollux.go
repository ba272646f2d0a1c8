package trace

// polluxFormat is the table of jobs of Pollux (Qiao et al., OSDI 2021). Jobs last as long as what they
// train, so that there are no durations.
var polluxFormat = format{
	Format: Format{Name: "pollux", About: "CSV of the workloads of Pollux, jobs of named applications"},
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
