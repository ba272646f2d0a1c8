package genetic

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/random/twister"
	"graft/internal/stat"
	"graft/trainer/goodput"
)

const recorded = "../../../../shared/reference/pollux/unit/pollux_optimizer.json"

// limits holds the limits of Pollux's applications.
var limits = map[string]goodput.Limits{
	"bert":        {Least: 12, Most: 384, DeviceLeast: 4, DeviceMost: 12},
	"cifar10":     {Least: 128, Most: 4096, DeviceLeast: 32, DeviceMost: 1024},
	"deepspeech2": {Least: 20, Most: 640, DeviceLeast: 10, DeviceMost: 80},
	"imagenet":    {Least: 200, Most: 12800, DeviceLeast: 20, DeviceMost: 200},
	"ncf":         {Least: 256, Most: 32768, DeviceLeast: 32, DeviceMost: 32768},
	"yolov3":      {Least: 8, Most: 512, DeviceLeast: 4, DeviceMost: 8},
}

// rows holds small integers in rows.
type rows [][]int

func (r rows) bytes() (flat []byte) {
	for _, row := range r {
		for _, v := range row {
			flat = append(flat, byte(v))
		}
	}
	return flat
}

// recordedCase holds a recorded case of the original optimiser.
type recordedCase struct {
	Nodes   int `json:"num_nodes"`
	Devices int `json:"gpus_per_node"`
	Jobs    []struct {
		Name     string
		App      string      `json:"application"`
		Speed    *[7]float64 `json:"perf_params"`
		Noise    *[2]float64 `json:"grad_params"`
		Most     int         `json:"max_replicas"`
		Restarts int         `json:"num_restarts"`
		Age      float64
	}
	Base   rows `json:"base_state"`
	Fair   int  `json:"fair_replicas"`
	Repair struct {
		Input, Output []rows
		Draws         []drawn
	}
	Evaluate struct {
		F        []objectives
		Speedups [][]float64
	}
	Mutation struct {
		Draws  []drawn
		Output []rows
	}
	Crossover struct {
		Draws  []drawn
		Output [][]rows
	}
	Short struct {
		Draws       json.RawMessage
		Generations []struct {
			X        rows
			F        []objectives
			Rank     []int32
			Crowding []*float64
		}
		Result rows `json:"result_X"`
	} `json:"short_run"`
	Calls struct {
		Seed  uint32
		Calls []struct {
			In   map[string][]int `json:"allocations_in"`
			Out  map[string][]int `json:"allocations_out"`
			F    objectives
			Size int `json:"front_size"`
		}
	} `json:"policy_calls"`
	Seeds []float64 `json:"first_call_objective_over_seeds_1000_to_1007"`
}

func cases(t *testing.T) []recordedCase {
	t.Helper()
	text, err := os.ReadFile(recorded)
	if os.IsNotExist(err) {
		t.Skip("left out: the recorded values of Pollux are not there")
	}
	require.NoError(t, err)
	var file struct{ Cases []recordedCase }
	require.NoError(t, json.Unmarshal(text, &file))
	return file.Cases
}

// problem returns the case with some allocations as a problem.
func (c *recordedCase) problem(base []byte) *Problem {
	p := &Problem{Nodes: c.Nodes, Devices: c.Devices, Fairness: -1, Neighbour: true, Incoming: true}
	for k := range c.Jobs {
		j := &c.Jobs[k]
		age := j.Age
		p.Jobs = append(p.Jobs, Job{
			Present: base[k*c.Nodes : (k+1)*c.Nodes], Most: j.Most,
			Keeps: max(age-float64(30*j.Restarts), 0) / (age + 30), Speedup: c.speedup(k),
		})
	}
	return p
}

func (c *recordedCase) speedup(k int) func(bool, int) float64 {
	j := &c.Jobs[k]
	if j.Speed == nil {
		return func(_ bool, devices int) float64 { return float64(devices) / float64(c.Fair) }
	}
	s, n := j.Speed, j.Noise
	job := goodput.Job{
		Speed: goodput.Speed{ComputeStart: s[0], ComputeExample: s[1], NodesStart: s[2], NodesDevice: s[3],
			NodeStart: s[4], NodeDevice: s[5], Overlap: s[6]}, Noise: goodput.Noise{Square: n[0], Variance: n[1]},
		Limits: limits[j.App],
	}
	fair, _ := job.Best(1, c.Fair)
	return func(spans bool, devices int) float64 {
		nodes := 1
		if spans {
			nodes = 2
		}
		best, _ := job.Best(nodes, devices)
		return best / fair
	}
}

// inBatch starts a search whose batch holds the given states.
func inBatch(p *Problem, draw draws, states []rows) *search {
	s := newSearch(p, len(states), draw)
	s.reserve(len(states))
	for k, state := range states {
		for job, row := range state {
			for node, devices := range row {
				setByte(s.p.row(s.state(k), job), node, uint64(devices))
			}
		}
	}
	return s
}

// rows returns a state as rows.
func (s *search) rows(state []uint64) (list rows) {
	for k := range s.p.Jobs {
		row := make([]int, s.p.Nodes)
		for node := range row {
			row[node] = int(byteAt(s.p.row(state, k), node))
		}
		list = append(list, row)
	}
	return list
}

func TestRepairOfPollux(t *testing.T) {
	for _, c := range cases(t) {
		s := inBatch(c.problem(c.Base.bytes()), replayed(c.Repair.Draws), c.Repair.Input)
		s.draw.repairs(len(c.Repair.Input), len(c.Jobs), c.Nodes)
		for k, want := range c.Repair.Output {
			s.repair(s.state(k), k)
			require.Equal(t, want, s.rows(s.state(k)), "state %d", k)
		}
	}
}

// Objectives equal the recorded ones exactly for recorded speedups. Speedups from the tables differ in the last bits of
// logarithms and powers.
func TestObjectivesOfPollux(t *testing.T) {
	for _, c := range cases(t) {
		for k, want := range c.Evaluate.F {
			s := inBatch(c.problem(c.Base.bytes()), nil, c.Repair.Output)
			near(t, want, s.p.evaluate(s.state(k), s.fair, s.use))
			for job, speedup := range c.Evaluate.Speedups[k] {
				nodes, devices := count(s.p.row(s.state(k), job))
				if devices > 0 {
					require.InEpsilon(t, speedup, c.speedup(job)(nodes > 1, devices), lastBits)
				}
				s.p.Jobs[job].Speedup = func(bool, int) float64 { return speedup }
			}
			s.p.prepare()
			require.Equal(t, want, s.p.evaluate(s.state(k), s.fair, s.use), "state %d", k)
		}
	}
}

// lastBits is the relative difference between Go and the original in logarithms and powers.
const lastBits = 1e-15

func near(t *testing.T, want, got objectives) {
	t.Helper()
	require.InEpsilon(t, want[0], got[0], lastBits)
	require.InEpsilon(t, want[1], got[1], lastBits)
}

func TestMutationOfPollux(t *testing.T) {
	for _, c := range cases(t) {
		s := inBatch(c.problem(c.Base.bytes()), replayed(c.Mutation.Draws), c.Repair.Output)
		s.mutate(len(c.Repair.Output))
		for k, want := range c.Mutation.Output {
			require.Equal(t, want, s.rows(s.state(k)), "state %d", k)
		}
	}
}

// The record lacks the draws for swaps of rows, because all rows are swapped.
func TestCrossoverOfPollux(t *testing.T) {
	for _, c := range cases(t) {
		n := len(c.Repair.Output)
		draw := replayed(c.Crossover.Draws)
		draw.real = func(n int) []float64 { return make([]float64, n) }
		s := inBatch(c.problem(c.Base.bytes()), draw, c.Repair.Output)
		for k := range n {
			s.scores[k] = objectives{float64(k), 0}
			copy(s.at(int32(k)), s.state(k))
			s.parents = append(s.parents, int32(k), int32(n-1-k))
		}
		s.batch = make([]uint64, 2*n*s.size)
		s.cross(n)
		for child, states := range c.Crossover.Output {
			for k, want := range states {
				require.Equal(t, want, s.rows(s.state(child*n+k)), "child %d of mating %d", child, k)
			}
		}
	}
}

func TestShortSearchesOfPollux(t *testing.T) {
	replays := 0
	for _, c := range cases(t) {
		var draws []drawn
		if json.Unmarshal(c.Short.Draws, &draws) != nil {
			continue // the record lacks the draws of the largest case
		}
		replays++
		s := newSearch(c.problem(c.Base.bytes()), 8, replayed(draws))
		var first [][]byte
		for _, state := range c.Repair.Output {
			first = append(first, state.bytes())
		}
		s.begin(first)
		for g, want := range c.Short.Generations {
			if g > 0 {
				require.True(t, s.generation())
			}
			require.Len(t, s.pop, len(want.F))
			for k, slot := range s.pop {
				require.Equal(t, want.X[k:k+1].bytes(), s.rows(s.at(slot)).bytes(), "generation %d, member %d", g, k)
				near(t, want.F[k], s.scores[slot])
				require.Equal(t, want.Rank[k], s.ranks[slot], "generation %d, member %d", g, k)
				crowd := math.Inf(1)
				if want.Crowding[k] != nil {
					crowd = *want.Crowding[k]
				}
				require.True(t, crowd == s.crowds[slot] || math.Abs(crowd-s.crowds[slot]) < 1e-12,
					"generation %d, member %d: %v, not %v", g, k, s.crowds[slot], crowd)
			}
		}
		found := front(s.members())
		require.Len(t, found, len(c.Short.Result))
		for k, m := range found {
			require.Equal(t, c.Short.Result[k:k+1].bytes(), m.Rows)
		}
	}
	require.Equal(t, 3, replays)
}

// front returns the members that no other member dominates.
func front(all []Member) []Member {
	return slices.DeleteFunc(all, func(m Member) bool { return m.Rank > 0 })
}

// chosen returns the first member of a front with the fairest speedups.
func chosen(front []Member) (best int) {
	for k, m := range front {
		if m.Fair > front[best].Fair {
			best = k
		}
	}
	return best
}

// call searches as the policy does, with a generator seeded by a draw.
func (c *recordedCase) call(r *twister.Random, base []byte, first [][]byte) []Member {
	seed := seeded(r).integer([]int{0}, 9_999_999)[0]
	*r = *twister.New(uint32(seed))
	s := newSearch(c.problem(base), 100, seeded(r))
	s.begin(first)
	for range 99 {
		s.generation()
	}
	return front(s.members())
}

// With NumPy's draws, searches equal the original if no front that is cut has more than 16 members. NumPy orders equal
// members of larger fronts differently, so the larger cases only come close.
func TestSeededCallsOfPollux(t *testing.T) {
	for k, c := range cases(t) {
		r := twister.New(c.Calls.Seed)
		var first [][]byte
		for i, want := range c.Calls.Calls {
			base := c.allocations(want.In)
			if i == 0 {
				first = [][]byte{base}
			}
			front := c.call(r, base, first)
			best := front[chosen(front)]
			require.InEpsilon(t, -want.F[0], best.Fair, 2e-3, "case %d, call %d", k, i)
			if k < 2 {
				require.Len(t, front, want.Size)
				require.Equal(t, c.allocations(want.Out), best.Rows)
				near(t, want.F, objectives{-best.Fair, -best.Use})
			}
			first = first[:0]
			for _, m := range front {
				first = append(first, m.Rows)
			}
		}
	}
}

// With its own draws, the search is as good as the original in the mean of eight seeds.
func TestObjectiveOverSeedsOfPollux(t *testing.T) {
	for k, c := range cases(t) {
		var want, got []float64
		for seed, f := range c.Seeds {
			base := c.allocations(c.Calls.Calls[0].In)
			front := Search(c.problem(base), [][]byte{base}, rand.New(rand.NewPCG(uint64(seed), 1)), Options{100, 100})
			want, got = append(want, -f), append(got, front[chosen(front)].Fair)
		}
		require.InEpsilon(t, stat.Mean(want), stat.Mean(got), 5e-3, "case %d: %v, not %v", k, got, want)
	}
}

func (c *recordedCase) allocations(byName map[string][]int) []byte {
	flat := make([]byte, len(c.Jobs)*c.Nodes)
	for k := range c.Jobs {
		for _, node := range byName[c.Jobs[k].Name] {
			flat[k*c.Nodes+node]++
		}
	}
	return flat
}
