package treap

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/trace"
)

// idle is a scheduler that starts every third job.
type idle struct{ start []*cluster.Job }

func (s *idle) Arrived(j *cluster.Job) {
	if j.Number%3 == 0 {
		s.start = append(s.start, j)
	}
}

func (s *idle) Ended(*cluster.Job) {}

// jobsSomeRunning calls a test in the middle of a simulation with jobs of random sizes. Every third job runs.
func jobsSomeRunning(t *testing.T, r *rand.Rand, count int, try func(jobs []*cluster.Job)) {
	t.Helper()
	study := &cluster.Study{VCs: []trace.VC{{Name: "a", Nodes: 100}}}
	for k := range count {
		study.Jobs = append(study.Jobs,
			trace.Job{VC: "a", Duration: 5, GPUs: []int{1, 2, 3, 8, 1 + r.IntN(20)}[r.IntN(5)], CPUs: k})
	}
	tried := false
	policy := cluster.Policy{Name: "idle", New: func(s cluster.Setup) (cluster.Scheduler, error) {
		return &trying{idle: &idle{}, try: func() {
			if !tried {
				tried = true
				try(s.Pool.Jobs)
			}
		}}, nil
	}}
	_, err := study.Run(t.Context(), policy, cluster.Options{})
	require.ErrorContains(t, err, "no jobs are running")
	require.True(t, tried)
}

type trying struct {
	*idle
	try func()
}

func (s *trying) Schedule(p *cluster.Pool) int64 {
	for _, j := range s.start {
		p.Start(j)
	}
	s.start = nil
	s.try()
	return cluster.Never
}

// After random insertions and removals, a tree gives the same answers as a sorted list: the jobs that fit, the jobs
// that do not, and the next job, for the whole tree and for its parts.
func TestTree(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 150 {
		jobsSomeRunning(t, r, 2+r.IntN(30), func(jobs []*cluster.Job) {
			all := &Arena{}
			o := all.Tree()
			var plain []placed
			for seq := range int64(60) {
				j := jobs[r.IntN(len(jobs))]
				at := slices.IndexFunc(plain, func(p placed) bool { return p.job == j })
				require.Equal(t, at >= 0, o.has(j))
				if at >= 0 {
					o.Take(j)
					plain = slices.Delete(plain, at, at+1)
				} else {
					k := Key{r.Int64N(3) - 1, r.Int64N(2), seq}
					o.Put(j, k)
					plain = append(plain, placed{k, j})
				}
				slices.SortFunc(plain, func(a, b placed) int { return slices.Compare(a.key[:], b.key[:]) })
				requireTree(t, r, o, plain)
			}
		})
	}
}

type placed struct {
	key Key
	job *cluster.Job
}

func requireTree(t *testing.T, r *rand.Rand, o *Tree, plain []placed) {
	t.Helper()
	room := r.IntN(60)
	left, start, stop := fillPlainly(plain, room)
	gotLeft, gotStart, gotStop := o.Fill(int64(room)*cluster.Whole, nil, nil)
	require.Equal(t, int64(left)*cluster.Whole, gotLeft)
	require.Equal(t, start, gotStart)
	require.Equal(t, stop, gotStop)

	behind := Key{r.Int64N(3) - 1, r.Int64N(2), r.Int64N(60)}
	room = r.IntN(20)
	var first, next *cluster.Job
	for _, p := range plain {
		if p.job.GPUs > room {
			continue
		}
		if first == nil {
			first = p.job
		}
		if next == nil && slices.Compare(p.key[:], behind[:]) > 0 {
			next = p.job
		}
	}
	require.Equal(t, first, o.Next(nil, int64(room)*cluster.Whole))
	require.Equal(t, next, o.Next(&behind, int64(room)*cluster.Whole))

	a := o.Cut(&behind)
	at, _ := slices.BinarySearchFunc(plain, behind, func(p placed, k Key) int { return slices.Compare(p.key[:], k[:]) })
	_, start, stop = fillPlainly(plain[:at], room)
	_, gotStart, gotStop = a.Fill(int64(room)*cluster.Whole, nil, nil)
	require.Equal(t, start, gotStart)
	require.Equal(t, stop, gotStop)
	a.Append(*o)
	*o = a
}

// fillPlainly computes the result of Fill from a list.
func fillPlainly(plain []placed, room int) (left int, start, stop []*cluster.Job) {
	for _, p := range plain {
		switch fits := p.job.GPUs <= room; {
		case fits && !p.job.Running():
			room -= p.job.GPUs
			start = append(start, p.job)
		case fits:
			room -= p.job.GPUs
		case p.job.Running():
			stop = append(stop, p.job)
		}
	}
	return room, start, stop
}
