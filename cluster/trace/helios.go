package trace

// heliosFormat is the table in which SenseTime's clusters were published, with the
// columns that the simulator of Lucid adds: what a job trains, and how that fares alone.
var heliosFormat = format{
	Format: Format{Name: "helios", About: "CSV of the Helios clusters, with the columns that Lucid adds"},
	knows:  func(head []byte) bool { return hasColumns(head, "job_id", "gpu_num", "submit_time", "duration") },
	open: func(source lines, _ *Options) (rows, error) {
		return openTable(source, "helios", heliosColumns)
	},
}

// heliosColumns are those that are read; the published logs have others beside them.
var heliosColumns = []column{
	{[]string{"job_id"}, true, setID},
	{[]string{"user"}, false, setUser},
	{[]string{"vc"}, false, setVC},
	{[]string{"jobname"}, false, setName},
	{[]string{"gpu_num"}, true, setGPUs},
	{[]string{"cpu_num"}, false, setCPUs},
	{[]string{"state"}, false, setState},
	{[]string{"submit_time"}, true, setSubmit},
	{[]string{"duration"}, true, setDuration},
	{[]string{"dataset"}, false, setDataset},
	{[]string{"model"}, false, setModel},
	{[]string{"batchsize"}, false, setBatch},
	{[]string{"amp"}, false, setAMP},
	{[]string{"speed"}, false, setSpeed},
	{[]string{"gpu_util"}, false, setGPUUtil},
	{[]string{"gmem_util"}, false, setMemoryUtil},
	{[]string{"gmem"}, false, setMemory},
}
