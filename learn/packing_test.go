package learn_test

import (
	"cmp"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/learn"
)

// reference is the folder of recorded results.
const reference = "../../shared/reference/gpu-tasks/"

// recorded reads a recorded result, or leaves the test out.
func recorded(t *testing.T, name string, file any) {
	t.Helper()
	data, err := os.ReadFile(filepath.FromSlash(reference + name))
	if os.IsNotExist(err) {
		t.Skipf("left out: %s is not there; put the recorded results beside the tree", name)
	}
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, file))
}

// task asks a GPU for shares of its cores and memory, in percent, for a number of steps.
type task struct {
	Cores    int `json:"gpu_demand"`
	Memory   int `json:"memory_demand"`
	Duration int `json:"duration"`
	Priority int `json:"priority"`
}

// placed is a running task.
type placed struct {
	task
	gpu, left int
}

// packing is the environment of the recorded learning curves: each action puts the next task of a
// queue on a GPU, and a task that does not fit is lost.
type packing struct {
	gpus         int
	intN         func(n int) int // of a stream that outlives Reset; nil takes that of Reset
	queue        []task
	running      []placed
	cores, mem   []int
	steps, waits int // of the episode; of all tasks in the queue
	lost         int
}

// demands are the ranges of each type of task, both ends inclusive: cores, memory, duration, priority.
var demands = [3][4][2]int{
	{{20, 40}, {10, 30}, {5, 10}, {1, 3}},
	{{30, 50}, {40, 60}, {7, 15}, {2, 4}},
	{{50, 80}, {30, 50}, {10, 20}, {3, 5}},
}

// Reset draws 40 to 50 tasks.
func (p *packing) Reset(random *rand.Rand) error {
	intN := p.intN
	if intN == nil {
		intN = random.IntN
	}
	var tasks []task
	for range 40 + intN(11) {
		ranges, drawn := demands[intN(3)], [4]int{}
		for k, r := range ranges {
			drawn[k] = r[0] + intN(r[1]-r[0]+1)
		}
		tasks = append(tasks, task{drawn[0], drawn[1], drawn[2], drawn[3]})
	}
	p.begin(tasks)
	return nil
}

// begin starts an episode with the most urgent tasks first.
func (p *packing) begin(tasks []task) {
	p.queue = slices.Clone(tasks)
	slices.SortStableFunc(p.queue, func(a, b task) int { return cmp.Compare(b.Priority, a.Priority) })
	p.running, p.cores, p.mem, p.steps, p.waits, p.lost = nil, make([]int, p.gpus), make([]int, p.gpus), 0, 0, 0
}

func (p *packing) Observe() learn.Observation {
	var o learn.Observation
	for _, v := range slices.Concat(p.cores, p.mem) {
		o.Values = append(o.Values, float64(v))
	}
	return o
}

func (p *packing) fits(k task, gpu int) bool {
	return p.cores[gpu]+k.Cores <= 100 && p.mem[gpu]+k.Memory <= 100
}

// Act adds rewards in the order of the published program, since sums of floats depend on it.
func (p *packing) Act(gpu int) (o learn.Outcome, err error) {
	p.running = slices.DeleteFunc(p.running, func(r placed) bool { return r.left == 1 && p.release(r, &o) })
	for k := range p.running {
		p.running[k].left--
	}
	if len(p.queue) > 0 {
		next := p.queue[0]
		p.queue = p.queue[1:]
		p.waits++
		if p.fits(next, gpu) {
			p.running = append(p.running, placed{next, gpu, next.Duration})
			p.cores[gpu] += next.Cores
			p.mem[gpu] += next.Memory
			o.Reward += float64(20-p.waits) * 0.1
		} else {
			p.lost++
			o.Reward -= 2
		}
	}
	p.steps++
	o.Elapsed = 1
	if o.Done = len(p.queue)+len(p.running) == 0; o.Done {
		o.Reward += float64(-p.steps) * 0.1
	}
	return o, nil
}

func (p *packing) release(r placed, o *learn.Outcome) bool {
	p.cores[r.gpu] -= r.Cores
	p.mem[r.gpu] -= r.Memory
	o.Reward += float64(10 + 2*r.Priority)
	return true
}

// python is the generator of Python's random module: MT19937 (Matsumoto and Nishimura, ACM TOMACS 8,
// 1998), seeded by an array as in the authors' program mt19937ar.c of 2002.
type python struct {
	state [624]uint32
	at    int
}

func newPython(seed uint32) *python {
	p := &python{at: 624}
	s := &p.state
	mix := func(k int) uint32 { return s[k-1] ^ s[k-1]>>30 }
	s[0] = 19650218
	for k := 1; k < 624; k++ {
		s[k] = 1812433253*mix(k) + uint32(k)
	}
	k := 1
	step := func(factor, add uint32) {
		s[k] = (s[k] ^ mix(k)*factor) + add
		if k++; k == 624 {
			s[0], k = s[623], 1
		}
	}
	for range 624 {
		step(1664525, seed)
	}
	for range 623 {
		step(1566083941, -uint32(k))
	}
	s[0] = 1 << 31
	return p
}

func (p *python) bits() uint32 {
	s := &p.state
	if p.at == 624 {
		for k := range s {
			y := s[k]&(1<<31) | s[(k+1)%624]&(1<<31-1)
			s[k], p.at = s[(k+397)%624]^y>>1^y&1*0x9908b0df, 0
		}
	}
	y := s[p.at]
	p.at++
	y ^= y >> 11
	y ^= y << 7 & 0x9d2c5680
	y ^= y << 15 & 0xefc60000
	return y ^ y>>18
}

// intN draws by rejection from as many high bits as n has.
func (p *python) intN(n int) int {
	size := 0
	for n>>size > 0 {
		size++
	}
	for {
		if v := int(p.bits() >> (32 - size)); v < n {
			return v
		}
	}
}

// Each step of the recorded episodes has the recorded reward, to the bit, and the recorded state.
func TestPackingIsThePublishedEnvironment(t *testing.T) {
	cases, steps := 0, 0
	for _, name := range []string{"env_seed0", "env_seed1", "env_seed2", "env_seed3", "env_seed4"} {
		var tasks []task
		var file struct {
			Cases []struct {
				Name    string     `json:"name"`
				GPUs    int        `json:"num_gpus"`
				Total   float64    `json:"total_reward"`
				Lost    []int      `json:"dropped"`
				Actions []int      `json:"actions"`
				Steps   []struct { // of some episodes
					Values []float64 `json:"obs"`
					Reward float64   `json:"reward"`
					Done   bool      `json:"done"`
				} `json:"steps"`
			} `json:"cases"`
		}
		recorded(t, "tasks/"+name+".json", &tasks)
		recorded(t, "golden/"+name+".json", &file)
		for _, c := range file.Cases {
			p, total := &packing{gpus: c.GPUs}, 0.0
			p.begin(tasks)
			for at, action := range c.Actions {
				o, err := p.Act(action)
				require.NoError(t, err)
				total += o.Reward
				require.Equal(t, at == len(c.Actions)-1, o.Done)
				if len(c.Steps) > 0 {
					require.Equal(t, c.Steps[at].Reward, o.Reward, "%s, step %d", c.Name, at)
					require.Equal(t, c.Steps[at].Values, p.Observe().Values)
					steps++
				}
			}
			require.Equal(t, c.Total, total)
			require.Equal(t, len(c.Lost), p.lost)
			cases++
		}
	}
	require.Equal(t, 100, cases)
	require.Greater(t, steps, 1000)
}

// evaluate plays 200 episodes, those of the recorded evaluations, and returns their mean reward.
func evaluate(choose func(p *packing) int) (mean float64) {
	p := &packing{gpus: 4, intN: newPython(12345).intN}
	for range 200 {
		_ = p.Reset(nil)
		for done := false; !done; {
			o, _ := p.Act(choose(p))
			mean += o.Reward / 200
			done = o.Done
		}
	}
	return mean
}

// The 200 episodes of the recorded evaluations are drawn again from their seed: simple policies reach
// the recorded rewards.
func TestEvaluationEpisodesAreTheRecordedOnes(t *testing.T) {
	var want map[string]struct {
		Mean float64 `json:"mean_reward"`
	}
	recorded(t, "golden/baselines_200ep.json", &want)
	require.InDelta(t, want["gpus4_gpu0"].Mean, evaluate(func(*packing) int { return 0 }), 1e-9)
	require.InDelta(t, want["gpus4_round_robin"].Mean, evaluate(func(p *packing) int { return p.steps % 4 }), 1e-9)
	require.InDelta(t, want["gpus4_least_gpu"].Mean, evaluate(func(p *packing) int {
		return slices.Index(p.cores, slices.Min(p.cores))
	}), 1e-9)
}
