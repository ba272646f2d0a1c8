package trace

// alibaba2023Format is the pod list of the trace that Alibaba published in 2023 of a cluster with shared devices.
var alibaba2023Format = format{
	Format: Format{Name: "alibaba2023", About: "CSV of Alibaba's shared cluster from 2023 (openb_pod_list)"},
	knows: func(head []byte) bool {
		return hasColumns(head, "name", "num_gpu", "gpu_milli", "creation_time", "deletion_time")
	},
	open: func(source lines, _ *Options) (rows, error) {
		t, err := readHeader(source)
		if err != nil {
			return nil, err
		}
		return &pods{table: t}, t.bind("alibaba2023", podColumns)
	},
}

var podColumns = []column{
	{[]string{"name"}, true, setID},
	{[]string{"cpu_milli"}, false, setMilliCPUs},
	{[]string{"memory_mib"}, false, setRAM},
	{[]string{"num_gpu"}, true, setGPUs},
	{[]string{"gpu_milli"}, true, setMilliGPU},
	{[]string{"pod_phase"}, false, setState},
	{[]string{"creation_time"}, true, setSubmit},
	{[]string{"deletion_time"}, true, setEnd},
	{[]string{"scheduled_time"}, true, setBegin},
}

// pods converts the times of a pod to a duration.
type pods struct{ *table }

// next reads a pod. A pod that never started has duration zero.
func (p *pods) next(job *Job) error {
	p.began, p.over = missing, missing
	if err := p.table.next(job); err != nil {
		return err
	}
	if p.began != missing && p.over != missing {
		job.Duration = clamped(p.over - p.began)
	}
	if job.GPUs != 1 { // only single devices can be shared
		job.Share = 0
	}
	return nil
}

// missing marks a missing time.
const missing = -maxSeconds - 1

func setBegin(t *table, _ *Job, cell []byte) string { return setTime(&t.began, cell) }
func setEnd(t *table, _ *Job, cell []byte) string   { return setTime(&t.over, cell) }

func setTime(to *int64, cell []byte) string {
	v, ok := seconds(cell)
	switch {
	case ok:
		*to = v
	case !isMissing(cell):
		return wantSeconds
	}
	return ""
}

// setMilliCPUs reads thousandths of a processor and rounds up.
func setMilliCPUs(_ *table, job *Job, cell []byte) string {
	want := setCount(&job.CPUs, cell)
	job.CPUs = (job.CPUs + 999) / 1000
	return want
}

// setMilliGPU reads thousandths of a device. A whole device is not a share.
func setMilliGPU(_ *table, job *Job, cell []byte) string {
	want := setCount(&job.Share, cell)
	if job.Share >= wholeShare {
		job.Share = 0
	}
	return want
}

func setRAM(_ *table, job *Job, cell []byte) string {
	n := 0
	want := setCount(&n, cell)
	job.RAM = int64(n)
	return want
}
