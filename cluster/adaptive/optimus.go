package adaptive

import (
	"slices"

	"graft/cluster"
)

// Quirks of Optimus.
var (
	EpochLeftOut = cluster.Quirk{Name: "epoch-left-out",
		Fixed: "a job's remaining work includes the current epoch"}
	AlwaysTwice = cluster.Quirk{Name: "always-twice",
		Fixed: "predictions for a job on one device assume gradient accumulation only if the job accumulates"}
)

// optimus gives the next device to the job whose remaining time it reduces most (Peng et al., "Optimus: An Efficient
// Dynamic Resource Scheduler for Deep Learning Clusters", EuroSys 2018). It uses the true remaining steps and step
// times of jobs.
type optimus struct {
	w     *World
	times map[pace]float64 // cached step times; negative if none exists
}

// pace is a key of step times.
type pace struct {
	app            *Application
	batch, devices int
}

func newOptimus(w *World) Scheduler { return &optimus{w: w, times: map[pace]float64{}} }

func (o *optimus) Schedule(w *World, active []*Job) [][]Share {
	counts := o.counts(active)
	chosen := make([][]Share, len(active))
	for k, j := range active {
		if counts[k] == j.devices {
			chosen[k] = j.Allocation
		}
	}
	free := roomsOf(w, chosen)
	for _, k := range order(len(active), func(k int) int { return counts[k] }) {
		if counts[k] > 0 && len(chosen[k]) == 0 {
			chosen[k] = free.take(counts[k])
		}
	}
	return chosen
}

// counts returns numbers of devices: one for each job in order of submission, then each further device where it saves
// the most time.
func (o *optimus) counts(active []*Job) []int {
	free := o.w.Devices()
	counts, gains := make([]int, len(active)), make([]float64, len(active))
	for k, j := range active {
		if free > 0 {
			counts[k], free = 1, free-1
			gains[k] = o.gain(j, 1, free)
		}
	}
	for free > 0 && len(gains) > 0 {
		k := slices.Index(gains, slices.Max(gains))
		if gains[k] <= 0 {
			break
		}
		counts[k]++
		gains[k] = o.gain(active[k], counts[k], free)
		free--
	}
	return counts
}

// gain returns the time that one more device saves.
func (o *optimus) gain(j *Job, devices, free int) float64 {
	if free < 1 || devices+1 > o.most(j) {
		return 0
	}
	now, then := o.time(j, devices), o.time(j, devices+1)
	if now < 0 || then < 0 {
		return 0
	}
	return (now - then) * o.left(j)
}

// most is the largest number of devices that a job can use.
func (o *optimus) most(j *Job) int {
	if j.App.Alone > 0 {
		return 1
	}
	return j.Spec.Batch / j.App.Limits.DeviceLeast
}

// left returns the remaining steps of a job.
func (o *optimus) left(j *Job) float64 {
	last := j.App.Epochs - 1
	if !o.w.options.Quirks.Keeps(EpochLeftOut) {
		return j.stepsLeft()
	}
	if last <= j.Epoch {
		return 1
	}
	all, err := j.App.Iterations(j.Spec.Batch, last)
	done, _ := j.App.Iterations(j.Spec.Batch, j.Epoch)
	if err != nil {
		return 0
	}
	return (all - done) * j.Multiple()
}

// stepsLeft returns the remaining steps of the job with the batch that its user requests.
func (j *Job) stepsLeft() float64 {
	all, err := j.App.Iterations(j.Spec.Batch, j.App.Epochs-1)
	if err != nil {
		return 0
	}
	begin, end := 0.0, all
	if j.Epoch > 0 {
		begin, _ = j.App.Iterations(j.Spec.Batch, j.Epoch-1)
	}
	end, _ = j.App.Iterations(j.Spec.Batch, j.Epoch)
	low, high := j.begins(j.Epoch), j.begins(j.Epoch+1)
	share := 0.0
	if high > low {
		share = (j.Progress - low) / (high - low)
	}
	return (all - begin - (end-begin)*share) * j.Multiple()
}

// time returns the time of a step on full nodes.
func (o *optimus) time(j *Job, devices int) float64 {
	key := pace{j.App, j.Spec.Batch, devices}
	if t, ok := o.times[key]; ok {
		return t
	}
	b := j.App.Limits.Share(j.Spec.Batch, devices, o.w.options.Quirks.Keeps(AlwaysTwice))
	t := -1.0
	if step, sync, err := j.App.times.Step(full(devices, o.w.options), b.Device); err == nil {
		t = step + float64((step-sync)*float64(b.Accumulate))
	}
	o.times[key] = t
	return t
}

// publishedNode is the number of devices per node that Optimus's placement assumes, regardless of the cluster.
const publishedNode = 4

// FullNodes reproduces a bug of the original simulator: predictions assume that each node has four devices.
var FullNodes = cluster.Quirk{Name: "nodes-of-four",
	Fixed: "predicted times use the cluster's number of devices per node"}

// full returns a placement on as few nodes as possible.
func full(devices int, o Options) []int {
	if o.Quirks.Keeps(FullNodes) {
		return compact(devices, publishedNode)
	}
	return compact(devices, o.Devices)
}
