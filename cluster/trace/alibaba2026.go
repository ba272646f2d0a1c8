package trace

import "math"

// alibaba2026Format is the table of jobs that Alibaba published in 2026 of a cluster with spot jobs
// (cluster-trace-v2026-spot-gpu, job_info_df.csv).
var alibaba2026Format = format{
	Format: Format{Name: "alibaba2026", About: "CSV of Alibaba's cluster with spot jobs from 2026 (job_info_df)"},
	knows: func(head []byte) bool {
		return hasColumns(head, "job_name", "gpu_request", "worker_num", "submit_time", "duration", "job_type")
	},
	open: func(source lines, _ *Options) (rows, error) {
		t, err := readHeader(source)
		if err != nil {
			return nil, err
		}
		return &workers{table: t}, t.bind("alibaba2026", workerColumns)
	},
}

var workerColumns = []column{
	{[]string{"job_name"}, true, setID},
	{[]string{"organization"}, false, setUser},
	{[]string{"gpu_model"}, false, setGPUType},
	{[]string{"cpu_request"}, false, setWorkerCPUs},
	{[]string{"gpu_request"}, true, setWorkerGPUs},
	{[]string{"worker_num"}, true, setWorkers},
	{[]string{"submit_time"}, true, setSubmit},
	{[]string{"duration"}, true, setDuration},
	{[]string{"job_type"}, true, setJobType},
}

// workers multiplies the resources of a worker by the number of workers.
type workers struct{ *table }

func (w *workers) next(job *Job) error {
	w.perWorker = perWorker{count: 1}
	if err := w.table.next(job); err != nil {
		return err
	}
	job.NeedsType = job.GPUType != ""
	gpus := w.perWorker.gpus
	if gpus > 0 && gpus < 1 {
		job.Share = min(max(int(math.Round(1000*gpus)), 1), 999)
		gpus = 1
	}
	job.GPUs = whole(gpus * float64(w.perWorker.count))
	job.CPUs = whole(w.perWorker.cpus * float64(w.perWorker.count))
	return nil
}

// perWorker holds the workers of a row and the resources of each.
type perWorker struct {
	gpus, cpus float64
	count      int
}

func setWorkers(t *table, _ *Job, cell []byte) string { return setCount(&t.perWorker.count, cell) }

func setWorkerCPUs(t *table, _ *Job, cell []byte) string {
	if want := setNumber(&t.perWorker.cpus, cell); want != "" || t.perWorker.cpus < 0 {
		return "a number of processors of at least 0"
	}
	return ""
}

// setWorkerGPUs reads whole devices, or a part of one device.
func setWorkerGPUs(t *table, _ *Job, cell []byte) string {
	want, n := setNumber(&t.perWorker.gpus, cell), t.perWorker.gpus
	if want != "" || n < 0 || n > maxCount || n > 1 && n != math.Trunc(n) {
		return "a whole number of GPUs, or a part of one GPU"
	}
	return ""
}

// setJobType reads the priority of a job: the cluster never evicts jobs of high priority.
func setJobType(_ *table, job *Job, cell []byte) string {
	switch string(cell) {
	case "HP":
	case "Spot":
		job.Spot = true
	default:
		return "HP or Spot"
	}
	return ""
}
