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

// naive simulates Tiresias from its description, with one list of jobs and no state but theirs.
type naive struct {
	s    Study
	now  float64
	jobs []*naiveJob
}

type naiveJob struct {
	Spec
	order                                        int     // of entering its queue
	progress, stopped, executed, attained, ended float64 // ended is negative while it runs
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
			n.work(j, len(j.shares) > 1 && slices.ContainsFunc(j.shares, func(s Share) bool { return spread[s.Node] > 1 }))
		}
		n.now += n.s.Options.Interval
		n.schedule(&entered)
	}
	return n.jobs
}

// work lets a job train for a round, an epoch at a time.
func (n *naive) work(j *naiveJob, disturbed bool) {
	if len(j.shares) == 0 || j.ended >= 0 {
		return
	}
	left, devices := n.s.Options.Interval, float64(j.Devices)
	pause := math.Min(j.stopped, left)
	j.stopped, left = j.stopped-pause, left-pause
	j.attained += pause * devices
	turns := math.Max(1, math.Ceil(math.Ceil(float64(j.Batch)/devices-1e-8)/float64(j.App.Limits.DeviceMost)-1e-8))
	if j.Devices == 1 && j.Batch > j.App.Limits.Least {
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

// schedule starts jobs of the first queue, then of the second, in the order in which they entered it.
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
		for need := j.Devices; need > 0; {
			node := slices.Index(room, slices.Max(room))
			take := min(need, room[node])
			room[node], need = room[node]-take, need-take
			j.shares = append(j.shares, Share{node, take})
		}
		j.stopped = n.s.Options.Delay
		j.restarts++
	}
}

// The simulator of the world and the naive one agree on random studies under Tiresias.
func TestNaive(t *testing.T) {
	kind, err := Named("tiresias")
	require.NoError(t, err)
	moved := false
	for k := range 300 {
		s := drawStudy(rand.New(rand.NewPCG(31, uint64(k))), nil)
		if k%2 == 0 {
			s.Options.Quirks = cluster.Quirks{WholeSeconds.Name}
		}
		w, err := s.Run(context.Background(), kind)
		require.NoError(t, err)
		for i, j := range (&naive{s: s}).run() {
			got := w.Jobs()[i]
			require.InDelta(t, j.ended, got.Ended, 1e-6, "case %d, job %d", k, i)
			require.InDelta(t, j.attained, got.Attained, 1e-5, "case %d, job %d", k, i)
			require.Equal(t, j.restarts, got.Restarts, "case %d, job %d", k, i)
			moved = moved || j.restarts > 0
		}
	}
	require.True(t, moved, "no job was preempted in any case")
}
