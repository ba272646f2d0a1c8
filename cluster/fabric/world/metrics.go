package world

import (
	"encoding/binary"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strconv"

	"graft/cluster/fabric"
	"graft/cluster/study"
	"graft/internal/stat"
)

// metrics of a simulation. Times are for completed jobs; a simulation without completed jobs has no times.
var metrics = []study.Metric{
	{Name: "blocked", Unit: "share", Title: "blocked", About: "share of jobs that were not started",
		Better: study.Lower, Main: true},
	{Name: "jct_mean", Unit: "s", Title: "mean JCT", About: "mean time from arrival to completion, over completed jobs",
		Better: study.Lower, Main: true},
	{Name: "jct_p99", Unit: "s", Title: "p99", About: "99th percentile of JCT",
		Better: study.Lower},
	{Name: "speedup_mean", Title: "speedup", About: "mean ratio of a job's time on one server to its completion time",
		Better: study.Higher, Format: "%.2f"},
	{Name: "held", Unit: "share", Title: "held", About: "share of server time that is allocated to jobs",
		Better: study.Neutral, Format: "%.0f%%"},
	{Name: "busy", Unit: "share", Title: "busy", About: "share of server time spent computing",
		Better: study.Neutral, Format: "%.0f%%"},
	{Name: "throughput", Unit: "bytes/s", Title: "throughput",
		About:  "bytes per second of completed operations and transfers, counted as before jobs are split",
		Better: study.Higher, Format: "%.3g"},
	{Name: "jobs", Title: "jobs", About: "number of jobs", Better: study.Neutral, Format: "%.0f", Total: true,
		Hidden: true},
}

// resultOf sums an episode.
func resultOf(w *fabric.World) *study.Result {
	r := &study.Result{Values: study.Values{}, Samples: make([]float64, len(w.Jobs))}
	for k := range w.Jobs {
		if w.Jobs[k].Status == fabric.Blocked {
			r.Samples[k] = 1
		}
	}
	held, busy := use(w)
	set := func(key string, v float64) { r.Values[key] = study.Number(v) }
	set("blocked_share", blockedShare(w))
	set("held_share", held)
	set("busy_share", busy)
	set("throughput_bytes_s", (w.Record.Sum.DemandMemory+w.Record.Sum.DemandDep)/duration(w))
	set("jobs", float64(len(w.Jobs)))
	if times, speedups := completions(w); len(times) > 0 {
		set("jct_mean_s", stat.Mean(times))
		set("speedup_mean", stat.Mean(speedups))
		slices.Sort(times)
		set("jct_p99_s", stat.Quantile(times, 0.99))
	}
	r.Parts = slices.Concat(causes(w), degrees(w))
	return r
}

// blockedShare is the share of blocked jobs.
func blockedShare(w *fabric.World) float64 {
	n := 0
	for k := range w.Jobs {
		if w.Jobs[k].Status == fabric.Blocked {
			n++
		}
	}
	return float64(n) / float64(len(w.Jobs))
}

// duration is the length of an episode in s. If it is zero, no job runs.
func duration(w *fabric.World) float64 {
	return max(w.Record.Sum.To-w.Record.Sum.From, math.SmallestNonzeroFloat64)
}

// use returns the shares of server time that jobs hold and compute.
func use(w *fabric.World) (held, busy float64) {
	span := duration(w) * float64(w.Study().Network.Size())
	for k := range w.Jobs {
		j := &w.Jobs[k]
		if j.Run == nil {
			continue
		}
		until, _ := ended(w, j)
		share := (until - j.Started) * float64(len(j.Run.Placed.Servers)) / span
		held += share
		busy += share * j.Run.Busy
	}
	return held, busy
}

// ended is the time at which a started job ended, or the end of the episode, and how it ended.
func ended(w *fabric.World, j *fabric.Job) (at float64, how string) {
	if math.IsNaN(j.Ended) {
		return w.Now, "stopped"
	}
	return j.Ended, "completed"
}

// completions returns the times in s and the speedups of completed jobs.
func completions(w *fabric.World) (times, speedups []float64) {
	for k := range w.Jobs {
		if j := &w.Jobs[k]; j.Status == fabric.Completed {
			times, speedups = append(times, j.Ended-j.Arrival), append(speedups, w.Study().Sequential(j)/j.Time)
		}
	}
	return times, speedups
}

// Groups of jobs.
const (
	causeGroup  = "cause"  // why jobs were blocked
	degreeGroup = "degree" // degree at which jobs started, followed by the network's name if there are several
)

// causes counts blocked jobs by cause. The usual causes are always listed, other causes only if they occur.
func causes(w *fabric.World) (parts []study.Part) {
	counts := map[fabric.Cause]int{fabric.Refused: 0, fabric.NoServers: 0, fabric.TooSlow: 0}
	for k := range w.Jobs {
		if j := &w.Jobs[k]; j.Status == fabric.Blocked {
			counts[j.Cause]++
		}
	}
	for _, cause := range slices.Sorted(maps.Keys(counts)) {
		parts = append(parts, counted(causeGroup, cause.String(), counts[cause]))
	}
	return parts
}

// degrees counts started jobs by degree, for all networks and for each. Degrees that the cluster offers are always
// listed, so that all schedulers have the same parts.
func degrees(w *fabric.World) (parts []study.Part) {
	models := w.Study().Models
	counts := make([]map[int]int, 1+len(models)) // all networks, then each network
	for k := range counts {
		counts[k] = map[int]int{}
		for _, degree := range w.Study().Offered() {
			counts[k][degree] = 0
		}
	}
	for k := range w.Jobs {
		if j := &w.Jobs[k]; j.Run != nil {
			counts[0][j.Run.Parted.Degree]++
			counts[1+j.Model][j.Run.Parted.Degree]++
		}
	}
	for k := range counts {
		group := degreeGroup
		if k > 0 {
			group += " of " + models[k-1].Name
		}
		for _, degree := range slices.Sorted(maps.Keys(counts[k])) {
			parts = append(parts, counted(group, strconv.Itoa(degree), counts[k][degree]))
		}
		if len(models) == 1 {
			break
		}
	}
	return parts
}

func counted(group, name string, jobs int) study.Part {
	return study.Part{Group: group, Name: name, Values: study.Values{"jobs": study.Number(jobs)}}
}

// statesOf returns a digest per job of how it ended and when it ran.
func statesOf(w *fabric.World) []uint64 {
	all := make([]uint64, len(w.Jobs))
	for k := range w.Jobs {
		j, h := &w.Jobs[k], fnv.New64a()
		_ = binary.Write(h, binary.LittleEndian, [...]uint64{uint64(j.Status), bits(j.Started), bits(j.Ended)})
		all[k] = h.Sum64()
	}
	return all
}

// bits returns the bits of a time; zero for a job without one.
func bits(time float64) uint64 {
	if math.IsNaN(time) {
		return 0
	}
	return math.Float64bits(time)
}
