package elastic

import (
	"slices"
	"strconv"
)

// End simulates the training of all jobs in the current slot, ends the slot, and returns its reward.
func (w *World) End() (reward float64) {
	w.gain = 0
	w.line = w.line[:0]
	for _, j := range w.unfinished {
		if j.running() {
			reward += w.train(j) / j.Epochs
			w.note(j)
		}
	}
	w.allocations.Write(w.line)
	w.unfinished = slices.DeleteFunc(w.unfinished, (*Job).done)
	if w.options.Reward == Unfinished {
		reward = float64(len(w.unfinished))
	}
	w.rewards = append(w.rewards, reward)
	w.slot++
	return reward
}

// train runs a job for a slot and returns the completed epochs.
func (w *World) train(j *Job) float64 {
	if len(j.Workers) == 0 || len(j.Servers) == 0 && !w.options.AllReduce {
		return 0
	}
	slot := w.options.Slot
	lost := min(w.scaling.Seconds(j.changed()), slot)
	j.lastWorkers, j.lastServers = len(j.Workers), len(j.Servers)
	epochs := w.positive(w.speed.Epochs(Deployment{j.Model, j.Workers, j.Servers}, slot-lost))
	if w.Errors != nil {
		epochs *= 1 + float64(w.options.SpeedError*(2*w.Errors(j)-1))
	}
	epochs = w.advance(j, epochs, lost)
	w.gain += max(0, epochs) / j.RealEpochs
	return epochs
}

// advance adds epochs to a job's progress and returns the epochs that it used.
func (w *World) advance(j *Job, epochs, lost float64) float64 {
	slot := w.options.Slot
	if j.Progress+epochs > j.RealEpochs {
		rest := j.RealEpochs - j.Progress
		j.RunTime = rest / epochs
		if lost > 0 {
			j.RunTime = (lost + (slot-lost)*j.RunTime) / slot
		}
		epochs, j.Progress = rest, j.RealEpochs
	} else {
		j.Progress, j.RunTime = j.Progress+epochs, 1
	}
	if j.done() {
		j.End = float64(w.slot) + j.RunTime
		if w.options.WholeSlots {
			j.End = float64(w.slot + 1)
		}
	}
	return epochs
}

func (w *World) positive(epochs float64) float64 {
	if epochs < 0 && !w.Keeps(Backward) {
		return 0
	}
	return epochs
}

// note adds a job's counts to the text whose digest identifies all allocations of a run.
func (w *World) note(j *Job) {
	for k, n := range []int{w.slot, j.ID, len(j.Workers), len(j.Servers)} {
		w.line = strconv.AppendInt(w.line, int64(n), 10)
		w.line = append(w.line, ":::;"[k])
	}
}

// Estimate returns the epochs that a job would complete in a slot with additional workers and servers on the least
// loaded node. It ignores speed errors and the cost of scaling. It returns zero if a count exceeds its maximum. With
// the quirk [NoCost], it returns zero only if a count exceeds its maximum by more than one.
func (w *World) Estimate(j *Job, workers, servers int) float64 {
	least := w.nodes.least()
	d := Deployment{Model: j.Model, Workers: extend(j.Workers, least, workers),
		Servers: extend(j.Servers, least, servers)}
	if len(d.Workers) == 0 || len(d.Servers) == 0 && !w.options.AllReduce ||
		max(len(d.Workers), len(d.Servers)) > w.options.mostEstimated() {
		return 0
	}
	return w.positive(w.speed.Epochs(d, w.options.Slot))
}

// extend appends a node the given number of times. It may overwrite memory behind the end of the list, which must be
// unused.
func extend(list []int, node, times int) []int {
	for range times {
		list = append(list, node)
	}
	return list
}
