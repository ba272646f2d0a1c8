package agent

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
	"graft/cluster/failures"
	"graft/cluster/schedtest"
	"graft/cluster/schedulers"
	"graft/cluster/trace"
	"graft/learn"
	"graft/learn/candidates"
	"graft/learn/learntest"
	"graft/torch/weights"
)

// drawn returns a workload in which jobs must wait. Users submit jobs of similar durations.
func drawn(t *testing.T, seed uint64, jobs int, resizable func(j *trace.Job) bool) *Workload {
	t.Helper()
	for k := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, k))
		w := &Workload{Study: cluster.Study{VCs: []trace.VC{{Name: "a", Nodes: 2}}, Resizable: resizable}}
		at := int64(0)
		for n := range jobs {
			at += r.Int64N(400)
			user := r.IntN(4)
			w.Study.Jobs = append(w.Study.Jobs, trace.Job{ID: fmt.Sprint(n), VC: "a", User: fmt.Sprint(user),
				Submit: at, GPUs: 1 << r.IntN(5), Duration: 1 + int64(float64(r.IntN(100))*math.Pow(6, float64(user)))})
		}
		decides, err := w.Measure(t.Context())
		require.NoError(t, err)
		if decides {
			return w
		}
	}
	t.Fatal("no drawn workload has a decision")
	return nil
}

func several(t *testing.T, count, jobs int) (all []*Workload) {
	for k := range count {
		all = append(all, drawn(t, uint64(k), jobs, nil))
	}
	return all
}

// odd jobs can be resized.
func odd(j *trace.Job) bool { return j.ID[len(j.ID)-1]%2 == 1 }

// The rewards of an episode sum to the negative time from arrival to completion relative to fair, except for the time
// before the first decision. Observations have the promised sizes and finite values.
func TestRewardsAreCosts(t *testing.T) {
	for k := range uint64(20) {
		w := drawn(t, k, 40, []func(*trace.Job) bool{nil, odd}[k%2])
		e, err := NewEnv([]*Workload{w})
		require.NoError(t, err)
		random, total, done, steps := rand.New(rand.NewPCG(4, k)), 0.0, false, 0
		require.NoError(t, e.Reset(random))
		first := e.before
		for ; !done; steps++ {
			o := e.Observe()
			n := len(e.scheduler.candidates)
			require.Positive(t, n)
			require.Len(t, o.Values, Globals+n*Features)
			for _, v := range o.Values {
				require.False(t, math.IsNaN(v) || math.Abs(v) > 10, "%v", o.Values)
			}
			out, err := e.Act(random.IntN(n))
			require.NoError(t, err)
			require.GreaterOrEqual(t, out.Elapsed, 0)
			require.LessOrEqual(t, out.Reward, 0.0)
			total, done = total+out.Reward, out.Done
		}
		require.Zero(t, e.scheduler.spent.jobs, "all jobs have ended")
		require.InDelta(t, -float64(e.scheduler.spent.before-first)/w.scale.spent, total, 1e-9, "workload %d", k)
		require.Greater(t, steps, 20)
	}
}

// An abandoned episode leaves nothing behind: the next episode of the same seed is the same.
func TestEpisodesCanBeAbandoned(t *testing.T) {
	e, err := NewEnv(several(t, 3, 30))
	require.NoError(t, err)
	play := func(steps int) (values [][]float64) {
		require.NoError(t, e.Reset(rand.New(rand.NewPCG(5, 5))))
		for range steps {
			values = append(values, append([]float64(nil), e.Observe().Values...))
			o, err := e.Act(0)
			require.NoError(t, err)
			if o.Done {
				break
			}
		}
		return values
	}
	want := play(1000)
	for _, steps := range []int{0, 1, 7} {
		play(steps)
		require.Equal(t, want, play(1000))
	}
}

// Following a teacher gives, up to the steps by which devices are given, the teacher's schedule.
func TestLessonsFollowTheTeacher(t *testing.T) {
	for _, teacher := range schedulers.Teachers() {
		for k := range uint64(6) {
			w := drawn(t, k, 40, []func(*trace.Job) bool{nil, odd}[k%2])
			e := &Env{workloads: []*Workload{w}, teach: teacher.Split}
			random := rand.New(rand.NewPCG(1, k))
			require.NoError(t, e.Reset(random))
			examples, err := candidates.Lesson{Env: e, Right: e.right}.Give(t.Context(), random)
			require.NoError(t, err)
			require.NotEmpty(t, examples)
			for i, one := range examples {
				require.NotEmpty(t, one.Actions)
				require.LessOrEqual(t, one.Return, 0.0)
				if i > 0 {
					require.GreaterOrEqual(t, one.Return, examples[i-1].Return-1e-12)
				}
			}
			want, err := w.MeanJCT(t.Context(), TeacherPolicy(teacher))
			require.NoError(t, err)
			got := float64(e.scheduler.spent.before) / float64(len(w.Study.Jobs))
			require.InDelta(t, 1, got/want, 0.25, "%s, workload %d: %v instead of %v", teacher.Name, k, got, want)
		}
	}
}

func quick(method string) candidates.Options {
	return candidates.Options{Method: method, Lessons: 4, LessonRate: 3e-3, Rounds: 3, Hidden: 8, Envs: 2, Actions: 64,
		Batch: 32, Every: 2}
}

// A learner that is stopped or killed at any step continues to bit-identical policies.
func TestLearnersGoOnToTheBit(t *testing.T) {
	all := several(t, 5, 20)
	for _, method := range []string{candidates.PPO, candidates.ActorCritic} {
		learntest.GoesOnToTheBit(t, func() *candidates.Learner {
			l, err := NewLearner(all[:3], all[3:], quick(method), 7)
			require.NoError(t, err)
			return l
		})
	}
}

// Learned from other workloads, a scheduler closes at least a fifth of the gap between fair and the oracle that it
// imitates. It has no durations, but remembers the users' earlier jobs.
func TestLearnedSchedulersGeneralise(t *testing.T) {
	all := several(t, 48, 60)
	o := candidates.Options{Teacher: "srsf", Method: candidates.OnlyImitate, Lessons: 96, Every: 2, Batch: 32}
	l, err := NewLearner(all[:24], all[24:32], o, 1)
	require.NoError(t, err)
	for l.Ended() == "" {
		require.NoError(t, l.Advance(t.Context()))
	}
	p, err := l.Policy()
	require.NoError(t, err)
	oracle, err := schedulers.Teachers().Named("teacher", "srsf")
	require.NoError(t, err)
	fair, err := schedulers.Named("fair")
	require.NoError(t, err)
	mean := func(policy cluster.Policy) (sum float64) {
		for _, w := range all[32:] {
			cost, err := w.MeanJCT(t.Context(), policy)
			require.NoError(t, err)
			sum += cost
		}
		return sum
	}
	learned, best, worst := mean(Policy("learned", p.Agent)), mean(TeacherPolicy(oracle)), mean(fair)
	t.Logf("learned %.0f, oracle %.0f, fair %.0f", learned, best, worst)
	require.Less(t, learned-best, 4./5*(worst-best))
}

// model returns an agent with random weights.
func model(t *testing.T, seed uint64) *learn.Set {
	t.Helper()
	m, err := learn.NewSet(learn.SetOptions{Globals: Globals, Features: Features, Hidden: 8},
		rand.New(rand.NewPCG(seed, 9)))
	require.NoError(t, err)
	return m
}

// Any agent is a scheduler that conforms, also with fixed jobs and failing nodes.
func TestAnyAgentConforms(t *testing.T) {
	schedtest.Run(t, Policy("random", model(t, 1)))
	for seed := range uint64(12) {
		policy := Policy("random", model(t, seed))
		w := drawn(t, seed, 60, odd)
		var list []failures.Outage
		for k := range int64(8) {
			list = append(list, failures.Outage{Node: int(k % 2), From: 500 + 3000*k, To: 1500 + 3000*k})
		}
		w.Study.Failures = &cluster.Failures{Pools: map[string]failures.Schedule{"a": {Listed: list}},
			Shrink: seed%2 == 0, Checkpoint: 600}
		out, err := w.Study.Run(t.Context(), policy, cluster.Options{Changes: true})
		require.NoError(t, err)
		require.Len(t, out.Jobs, 60)
		for _, j := range out.Jobs {
			require.NotEqual(t, cluster.Never, j.End)
		}
		for _, c := range out.Changes {
			if !odd(c.Job.Trace) && c.GPUs > 0 && c.What == "start" {
				require.Equal(t, c.Job.Trace.GPUs, c.GPUs, "a fixed job has the devices that it requests")
			}
		}
	}
}

// Users' ended jobs predict the durations of their next jobs. A job that failed predicts nothing.
func TestUsersPredictDurations(t *testing.T) {
	var u users
	log, known := u.expect(&trace.Job{User: "a", GPUs: 1})
	require.Zero(t, log)
	require.Zero(t, known)
	for range 30 {
		u.ended(&trace.Job{User: "a", GPUs: 1, Duration: 99})
		u.ended(&trace.Job{User: "b", GPUs: 8, Duration: 9999})
	}
	for user, want := range map[trace.Job][2]float64{
		{User: "a", GPUs: 1}: {math.Log(100), 1}, {User: "a", GPUs: 2}: {math.Log(100), 0.5},
		{User: "b", GPUs: 8}: {math.Log(10_000), 1}} {
		log, known := u.expect(&user)
		require.InDelta(t, want[0], log, 1e-9)
		require.InDelta(t, want[1], known, 0)
	}
	_, known = u.expect(&trace.Job{User: "c"})
	require.InDelta(t, 0.25, known, 0)
}

// Environments, learners and policies refuse invalid input.
func TestWhatIsRefused(t *testing.T) {
	_, err := NewEnv(nil)
	require.ErrorContains(t, err, "there are no workloads")
	all := several(t, 2, 20)
	e, err := NewEnv(all)
	require.NoError(t, err)
	require.NoError(t, e.Reset(rand.New(rand.NewPCG(1, 1))))
	for _, action := range []int{-1, 999} {
		_, err = e.Act(action)
		require.ErrorContains(t, err, "unknown action")
	}
	_, err = NewLearner(nil, all, candidates.Options{}, 1)
	require.ErrorContains(t, err, "0 training workloads and 2 validation workloads")
	o := quick(candidates.PPO)
	o.Teacher = "tiresias"
	_, err = NewLearner(all, all, o, 1)
	require.ErrorContains(t, err, `unknown teacher "tiresias"; expected one of: fair, offers, srsf; "best" and "none"`)
	_, err = ReadPolicy(&weights.Set{})
	require.ErrorContains(t, err, "does not contain a learned scheduler for the jobs of a cluster")
}

// Every useful device is given: no job waits or has fewer devices than it requests while devices are left.
func TestDivisionsLeaveNoDevice(t *testing.T) {
	divisions := 0
	for seed := range uint64(20) {
		w := drawn(t, seed, 60, []func(*trace.Job) bool{nil, odd}[seed%2])
		r := rand.New(rand.NewPCG(seed, 3))
		s := newScheduler(func(s *state) int { return r.IntN(len(s.candidates)) })
		s.Scheduler = schedulers.NewDivider(func(p *cluster.Pool, jobs []*cluster.Job) []int {
			shares := s.split(p, jobs)
			left := p.GPUs()
			for _, n := range shares {
				left -= n
			}
			require.GreaterOrEqual(t, left, 0)
			for k, j := range jobs {
				if least := map[bool]int{true: 1, false: j.Trace.GPUs}[j.Resizable()]; shares[k] < j.Trace.GPUs {
					require.Less(t, left, least, "job %d has %d of %d devices", k, shares[k], j.Trace.GPUs)
				}
			}
			divisions++
			return shares
		})
		made := func(cluster.Setup) (cluster.Scheduler, error) { return s, nil }
		_, err := w.run(t.Context(), cluster.Policy{Name: "any", New: made})
		require.NoError(t, err)
	}
	require.Greater(t, divisions, 500)
}

// Observations do not depend on the second at which a trace begins.
func TestTimesAreRelative(t *testing.T) {
	for k := range uint64(4) {
		w := drawn(t, k, 30, nil)
		late := *w
		late.Study.Begin, late.Study.Jobs = 30_000_000, append([]trace.Job(nil), w.Study.Jobs...)
		for i := range late.Study.Jobs {
			late.Study.Jobs[i].Submit += 30_000_000
		}
		a, b := &Env{workloads: []*Workload{w}}, &Env{workloads: []*Workload{&late}}
		require.NoError(t, a.Reset(rand.New(rand.NewPCG(1, 1))))
		require.NoError(t, b.Reset(rand.New(rand.NewPCG(1, 1))))
		for done := false; !done; {
			require.Equal(t, a.Observe().Values, b.Observe().Values)
			o, err := a.Act(0)
			require.NoError(t, err)
			_, err = b.Act(0)
			require.NoError(t, err)
			done = o.Done
		}
	}
}
