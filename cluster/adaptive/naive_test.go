package adaptive

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
)

// naive simulates Tiresias and Optimus from their descriptions. Its only state is a list of jobs.
type naive struct {
	s       Study
	optimus bool
	now     float64
	jobs    []*naiveJob
}

type naiveJob struct {
	Spec
	order                                        int     // sequence number of entering its queue
	progress, stopped, executed, attained, ended float64 // ended is -1 until the job ends
	epoch, queue, restarts                       int
	ran, seen                                    bool
	shares                                       []Share
}

func (n *naive) run() []*naiveJob {
	for k := range n.s.Jobs {
		n.jobs = append(n.jobs, &naiveJob{Spec: n.s.Jobs[k], ended: -1, restarts: -1})
	}
	entered := 0
	for slices.ContainsFunc(n.jobs, func(j *naiveJob) bool { return j.ended < 0 }) {
		spread := map[int]int{}
		for _, j := range n.jobs {
			for _, s := range j.shares {
				if len(j.shares) > 1 && j.ended < 0 {
					spread[s.Node]++
				}
			}
		}
		for _, j := range n.jobs {
			n.work(j, len(j.shares) > 1 && slices.ContainsFunc(j.shares,
				func(s Share) bool { return spread[s.Node] > 1 }))
		}
		n.now += n.s.Options.Interval
		if n.optimus {
			n.divide()
		} else {
			n.schedule(&entered)
		}
	}
	return n.jobs
}

// work trains a job for one round, epoch by epoch.
func (n *naive) work(j *naiveJob, disturbed bool) {
	if len(j.shares) == 0 || j.ended >= 0 {
		return
	}
	left, devices := n.s.Options.Interval, 0.0
	for _, s := range j.shares {
		devices += float64(s.Devices)
	}
	pause := math.Min(j.stopped, left)
	j.stopped, left = j.stopped-pause, left-pause
	j.attained += pause * devices
	turns := math.Max(1, math.Ceil(math.Ceil(float64(j.Batch)/devices-1e-8)/float64(j.App.Limits.DeviceMost)-1e-8))
	if devices == 1 && j.Batch > j.App.Limits.Least {
		turns = math.Max(turns, 2)
	}
	each := math.Ceil(math.Ceil(float64(j.Batch)/devices-1e-8)/turns - 1e-8)
	each = math.Min(each, math.Floor(float64(j.App.Limits.Most)/(devices*turns)))
	for left > 0 && j.ended < 0 {
		var placement []int
		for _, s := range j.shares {
			placement = append(placement, s.Devices)
		}
		step, sync, _ := j.App.times.Step(placement, int(each))
		noise, _ := j.App.Noise(int(each*turns*devices), j.epoch)
		scale := each * turns * devices / float64(j.App.Limits.Least)
		rate := (noise.Variance + noise.Square) / (noise.Variance/scale + noise.Square) / (step + (step-sync)*(turns-1))
		if disturbed {
			rate *= 1 - n.s.Options.Interference
		}
		goal := j.App.Progress(j.epoch + 1)
		spent := left
		if j.progress+rate*left >= goal {
			spent = (goal - j.progress) / rate
			if n.s.Options.Quirks.Keeps(WholeSeconds) {
				spent = math.RoundToEven(spent)
			}
			spent = math.Min(spent, left)
			if j.epoch++; j.epoch == j.App.Epochs {
				j.ended = n.now + n.s.Options.Interval - left + spent
			}
			j.progress = goal
		} else {
			j.progress += rate * left
		}
		j.attained += spent * devices
		left -= spent
	}
}

// schedule starts the jobs of the first queue, then of the second, in order of entry.
func (n *naive) schedule(entered *int) {
	var active []*naiveJob
	for _, j := range n.jobs {
		if j.Submitted > n.now || j.ended >= 0 {
			continue
		}
		if !j.seen {
			j.seen, j.order = true, *entered
			*entered++
		}
		if j.ran {
			j.executed += n.s.Options.Interval
		}
		if j.ran && j.queue == 0 && j.executed*float64(j.Devices) >= attainedMost {
			j.queue, j.order = 1, *entered
			*entered++
		}
		active = append(active, j)
	}
	slices.SortFunc(active, func(a, b *naiveJob) int { return cmp.Or(a.queue-b.queue, a.order-b.order) })
	free := n.s.Options.Nodes * n.s.Options.Devices
	room := make([]int, n.s.Options.Nodes)
	for k := range room {
		room[k] = n.s.Options.Devices
	}
	for _, j := range active {
		if j.ran = j.Devices <= free; !j.ran {
			j.shares = nil
			continue
		}
		free -= j.Devices
		for _, s := range j.shares {
			room[s.Node] -= s.Devices
		}
	}
	for _, j := range active {
		if !j.ran || len(j.shares) > 0 {
			continue
		}
		n.place(j, j.Devices, room)
	}
}

// divide gives each job a device in order of submission, and each further device to the job that saves most time by it.
func (n *naive) divide() {
	var active []*naiveJob
	for _, j := range n.jobs {
		if j.Submitted <= n.now && j.ended < 0 {
			active = append(active, j)
		}
	}
	free := n.s.Options.Nodes * n.s.Options.Devices
	counts := make([]int, len(active))
	for k := range active {
		counts[k] = min(1, free)
		free -= counts[k]
	}
	for ; free > 0; free-- {
		best, most := -1, 0.0
		for k, j := range active {
			if saved := n.saved(j, counts[k]); saved > most {
				best, most = k, saved
			}
		}
		if best < 0 {
			break
		}
		counts[best]++
	}
	room := make([]int, n.s.Options.Nodes)
	for k := range room {
		room[k] = n.s.Options.Devices
	}
	for k, j := range active {
		had := 0
		for _, s := range j.shares {
			had += s.Devices
		}
		if had != counts[k] {
			j.shares = nil
		}
		for _, s := range j.shares {
			room[s.Node] -= s.Devices
		}
	}
	for need := 1; need <= n.s.Options.Nodes*n.s.Options.Devices; need++ { // small jobs are placed first
		for k, j := range active {
			if counts[k] == need && len(j.shares) == 0 {
				n.place(j, need, room)
			}
		}
	}
}

// saved returns the time that one more device saves a job over all its remaining steps.
func (n *naive) saved(j *naiveJob, devices int) float64 {
	if j.App.Alone > 0 || devices+1 > j.Batch/j.App.Limits.DeviceLeast {
		return 0
	}
	step := func(devices int) (float64, bool) {
		var placement []int
		for left := devices; left > 0; left -= n.s.Options.Devices {
			placement = append(placement, min(left, n.s.Options.Devices))
		}
		turns := max(1,
			math.Ceil(math.Ceil(float64(j.Batch)/float64(devices)-1e-8)/float64(j.App.Limits.DeviceMost)-1e-8))
		if devices == 1 && j.Batch > j.App.Limits.Least {
			turns = max(turns, 2)
		}
		each := math.Ceil(math.Ceil(float64(j.Batch)/float64(devices)-1e-8)/turns - 1e-8)
		each = min(each, math.Floor(float64(j.App.Limits.Most)/(float64(devices)*turns)))
		whole, sync, err := j.App.times.Step(placement, int(each))
		return whole + (whole-sync)*(turns-1), err == nil
	}
	now, known := step(devices)
	then, alsoKnown := step(devices + 1)
	if !known || !alsoKnown {
		return 0
	}
	left := 0.0
	for e := j.epoch; e < j.App.Epochs; e++ {
		until, _ := j.App.Iterations(j.Batch, e)
		if e > 0 {
			before, _ := j.App.Iterations(j.Batch, e-1)
			until -= before
		}
		if e == j.epoch {
			until *= 1 - (j.progress-j.App.Progress(e))/(j.App.Progress(e+1)-j.App.Progress(e))
		}
		left += until
	}
	return (now - then) * left
}

// place gives a job devices of the nodes with the most free devices.
func (n *naive) place(j *naiveJob, need int, room []int) {
	for need > 0 {
		node := slices.Index(room, slices.Max(room))
		take := min(need, room[node])
		room[node], need = room[node]-take, need-take
		j.shares = append(j.shares, Share{node, take})
	}
	j.stopped = n.s.Options.Delay
	j.restarts++
}

// World and naive agree on random studies under both schedulers.
func TestNaive(t *testing.T) {
	for _, name := range []string{"tiresias", "optimus"} {
		kind, err := Named(name)
		require.NoError(t, err)
		moved := false
		for k := range 300 {
			s := drawStudy(rand.New(rand.NewPCG(31, uint64(k))), nil)
			if k%2 == 0 {
				s.Options.Quirks = cluster.Quirks{WholeSeconds.Name}
			}
			w, err := s.Run(context.Background(), kind)
			require.NoError(t, err)
			for i, j := range (&naive{s: s, optimus: name == "optimus"}).run() {
				got := w.Jobs()[i]
				require.InDelta(t, j.ended, got.Ended, 1e-6, "%s, case %d, job %d", name, k, i)
				require.InDelta(t, j.attained, got.Attained, 1e-5, "%s, case %d, job %d", name, k, i)
				require.Equal(t, j.restarts, got.Restarts, "%s, case %d, job %d", name, k, i)
				moved = moved || j.restarts > 0
			}
		}
		require.True(t, moved, "no job was moved in any case under %s", name)
	}
}
