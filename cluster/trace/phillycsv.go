package trace

import "slices"

// phillyCSVFormat is the Philly trace in the table form of simulators. Each simulator names the columns differently, so
// several names are recognised.
var phillyCSVFormat = format{
	Format: Format{Name: "philly-csv", About: "CSV form of the Philly trace that simulators use"},
	knows: func(head []byte) bool {
		return !slices.ContainsFunc(phillyCSVColumns,
			func(c column) bool { return c.required && !hasColumn(head, c.names) })
	},
	open: func(source lines, _ *Options) (rows, error) {
		t, err := readHeader(source)
		if err != nil {
			return nil, err
		}
		return t, t.bind("philly-csv", phillyCSVColumnsOf(t))
	},
}

var phillyCSVColumns = []column{
	{[]string{"jobid", "job_id"}, false, setID},
	{[]string{"jobname"}, false, setName},
	{[]string{"user"}, false, setUser},
	{[]string{"vc", "queue"}, false, setVC},
	{[]string{"num_gpu", "num_gpus", "gpu_num", "gpus"}, true, setGPUs},
	{[]string{"num_cpu", "num_cpus", "cpu_num"}, false, setCPUs},
	{[]string{"state", "status"}, false, setState},
	{[]string{"submit_time", "submitted_time"}, true, setSubmit},
	{[]string{"duration"}, true, setDuration},
	{[]string{"model", "model_name"}, false, setModel},
}

// phillyCSVColumnsOf uses the column jobname as the job ID without an ID column.
func phillyCSVColumnsOf(t *table) []column {
	known := append([]column{}, phillyCSVColumns...)
	for _, cell := range t.row {
		if named(known[:1], string(cell)) != nil {
			return known
		}
	}
	known[0] = column{[]string{"jobname"}, true, setID}
	return append(known[:1], known[2:]...)
}
