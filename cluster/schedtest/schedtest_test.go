package schedtest

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster"
)

// A case that is written reads back unchanged.
func TestParse(t *testing.T) {
	for k := range uint64(200) {
		c := Draw(rand.New(rand.NewPCG(1, k)), Shape{Span: 200, Jobs: 12, Faulty: true, Scales: k%2 == 0,
			Parts: k%3 == 0, Types: k%5 < 2, Limits: k%7 < 3, Quirks: []string{"a", "b"}})
		again, err := Parse("# a remark\n\n" + c.String())
		require.NoError(t, err)
		again.Options.Follow = c.Options.Follow
		require.Equal(t, c, again)
	}
}

func TestParseRefuses(t *testing.T) {
	for script, want := range map[string]string{
		"node 3":                 `line 1: unknown keyword "node"`,
		"each 3\nvc a":           "line 2: the line ends early; expected another word",
		"each three":             `parsing "three"`,
		"vc a 3 4":               `line 1: unexpected word "4"`,
		"job j1 vc a beside 4":   `unknown key "beside" of a job`,
		"profiler beside 4":      `unknown key "beside" of a profiler`,
		"pair m1 m2 0.5":         "the line ends early",
		"job j1 at 3 for 1 on x": `parsing "x"`,
	} {
		_, err := Parse(script)
		require.ErrorContains(t, err, want, script)
	}
}

// faulty is a scheduler that runs a function of the test.
type faulty struct {
	waiting []*cluster.Job
	act     func(s *faulty, p *cluster.Pool) int64
}

func (s *faulty) Arrived(j *cluster.Job) { s.waiting = append(s.waiting, j) }

func (s *faulty) Ended(*cluster.Job) {}

func (s *faulty) Schedule(p *cluster.Pool) int64 { return s.act(s, p) }

func (s *faulty) start(p *cluster.Pool) {
	for len(s.waiting) > 0 && p.Start(s.waiting[0]) {
		s.waiting = s.waiting[1:]
	}
}

const script = `each 2
vc a 1
job j1 vc a at 0 for 100 on 1
job j2 vc a at 3 for 100 on 1
job j3 vc a at 3 for 50 on 2
`

// Hold finds the fault of each faulty policy and accepts a correct policy.
func TestHold(t *testing.T) {
	runs := 0
	for name, c := range map[string]struct {
		act  func(s *faulty, p *cluster.Pool) int64
		want string
	}{
		"none": {func(s *faulty, p *cluster.Pool) int64 { s.start(p); return cluster.Never }, ""},
		"it wants to be asked in the past": {
			func(s *faulty, p *cluster.Pool) int64 { s.start(p); return p.Now() - 5 },
			"the scheduler requested its next call at second -5",
		},
		"it starts nothing": {
			func(*faulty, *cluster.Pool) int64 { return cluster.Never }, "no jobs are running",
		},
		"it changes how much work there is": {
			func(s *faulty, p *cluster.Pool) int64 {
				for j := range p.Running() {
					j.Trace.Duration++
				}
				for _, j := range s.waiting {
					j.Queue++
				}
				s.start(p)
				return cluster.Never
			}, "job j1 waited for 0 seconds, but its counter is 1",
		},
		"it starts jobs elsewhere the second time": {
			func(s *faulty, p *cluster.Pool) int64 {
				if runs++; runs == 6 { // the first second of the second run
					return p.Now() + 1
				}
				s.start(p)
				return cluster.Never
			}, "two simulations of the same case have different outcomes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			made, err := Parse(script)
			require.NoError(t, err)
			policy := cluster.Policy{Name: "faulty", New: func(cluster.Setup) (cluster.Scheduler, error) {
				return &faulty{act: c.act}, nil
			}}
			err = Hold(policy, made)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}
