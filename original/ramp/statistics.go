package ramp

import (
	"cmp"
	"slices"

	"graft/cluster/fabric"
)

// Statistics returns the statistics of an episode, under their names in PAC-ML's published simulator. Each
// statistic is a number, or a list with a value for each job that was completed or blocked. A job that is still running
// at the end is counted as blocked.
func Statistics(w *fabric.World) map[string]any {
	stats := map[string]any{}
	totals(w, stats)
	lists := map[string][]float64{}
	for _, job := range over(w) {
		if job.Status == fabric.Completed {
			completed(w, job, lists)
		}
		demand(w, job, lists)
	}
	for name, list := range lists {
		stats[name] = list
	}
	return stats
}

// over lists jobs in the order in which the simulator observed their end: completed jobs, blocked jobs, jobs running at
// the end.
func over(w *fabric.World) (jobs []*fabric.Job) {
	for k := range w.Jobs {
		switch w.Jobs[k].Status {
		case fabric.Completed, fabric.Blocked, fabric.Running:
			jobs = append(jobs, &w.Jobs[k])
		}
	}
	slices.SortStableFunc(jobs, func(a, b *fabric.Job) int {
		if a.Status != b.Status {
			return cmp.Compare(rank(a.Status), rank(b.Status))
		}
		if a.Status == fabric.Completed {
			return cmp.Compare(a.Ended, b.Ended)
		}
		return 0
	})
	return jobs
}

func rank(s fabric.Status) int {
	return slices.Index([]fabric.Status{fabric.Completed, fabric.Blocked, fabric.Running}, s)
}

// totals adds the numbers of an episode.
func totals(w *fabric.World, stats map[string]any) {
	r := &w.Record
	arrived := 0
	for k := range w.Jobs {
		if w.Jobs[k].Status != fabric.Absent {
			arrived++
		}
	}
	span := r.Sum.To - r.Sum.From
	events := max(float64(r.Events), 1)
	for name, value := range map[string]float64{
		"num_jobs_arrived": float64(arrived), "num_jobs_completed": float64(r.Completed),
		"num_jobs_blocked":   float64(r.Blocked),
		"episode_start_time": r.Sum.From, "episode_end_time": r.Sum.To, "episode_time": span,
		"blocking_rate":              float64(r.Blocked) / float64(arrived),
		"acceptance_rate":            float64(r.Completed) / float64(arrived),
		"mean_load_rate":             r.Load / float64(arrived),
		"mean_compute_overhead_frac": r.Sum.Compute / events, "mean_communication_overhead_frac": r.Sum.Wire / events,
		"mean_num_jobs_running": float64(r.Sum.Jobs) / events, "mean_num_mounted_workers": r.Sum.Servers / events,
		"mean_mounted_worker_utilisation_frac": r.Sum.Busy / events,
		"mean_cluster_worker_utilisation_frac": r.Sum.ClusterBusy / events,
	} {
		stats[name] = value
	}
	for name, sum := range map[string]float64{
		"compute": r.Sum.Memory, "dep": r.Sum.Dep, "flow": r.Sum.Flow, "cluster": r.Sum.Memory + r.Sum.Dep,
		"demand_compute": r.Sum.DemandMemory, "demand_dep": r.Sum.DemandDep,
		"demand_total": r.Sum.DemandMemory + r.Sum.DemandDep,
	} {
		stats[name+"_info_processed"] = sum
		stats["mean_"+name+"_throughput"] = sum / span
	}
}

// completed appends the data of completed jobs.
func completed(w *fabric.World, job *fabric.Job, lists map[string][]float64) {
	run := job.Run
	time := job.Ended - job.Arrival
	for name, value := range map[string]float64{
		"job_completion_time": time, "job_completion_time_speedup": sequential(w, job) / time,
		"job_communication_overhead_time": run.Wire, "job_computation_overhead_time": run.Compute,
		"jobs_completed_max_partitions_per_op":                float64(run.Parted.Degree),
		"jobs_completed_num_mounted_workers":                  float64(len(run.Placed.Servers)),
		"jobs_completed_num_mounted_channels":                 float64(run.Placed.Lanes),
		"jobs_completed_mean_mounted_worker_utilisation_frac": run.Busy,
	} {
		lists[name] = append(lists[name], value)
	}
}

// sequential returns the time of a job on one server, summed over its parts.
func sequential(w *fabric.World, job *fabric.Job) float64 {
	return job.Run.Parted.Details.Compute * w.Study().Timing().Unit * float64(job.Steps)
}

// demand appends a job's demand: for a completed job after and before splitting.
func demand(w *fabric.World, job *fabric.Job, lists map[string][]float64) {
	whole := &w.Study().Models[job.Model]
	g, d := whole.Graph, &whole.Details
	prefix, time := "jobs_blocked_", w.Study().Sequential(job)
	if job.Status == fabric.Completed {
		prefix, time = "jobs_completed_", sequential(w, job)
		g, d = job.Run.Parted.Graph, &job.Run.Parted.Details
	}
	for name, value := range map[string]float64{
		"num_nodes": float64(len(g.Ops)), "num_edges": float64(len(g.Deps)),
		"total_operation_memory_cost": d.Memory, "total_dependency_size": d.Transfer,
		"job_sequential_completion_time": time, "max_acceptable_job_completion_time_frac": job.Limit,
		"max_acceptable_job_completion_time":          job.Limit * time,
		"original_demand_num_nodes":                   float64(len(whole.Graph.Ops)),
		"original_demand_num_edges":                   float64(len(whole.Graph.Deps)),
		"original_demand_total_operation_memory_cost": whole.Details.Memory,
		"original_demand_total_dependency_size":       whole.Details.Transfer,
	} {
		lists[prefix+name] = append(lists[prefix+name], value)
	}
}
