package torch

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// original holds the sizes of the original's policy.
var original = PolicyShape{Tokens: 18, Embedding: 16, Hidden: 50, Memory: 16, Linear: 128, Time: 8, Actions: 4}

// rule holds the original's training options.
var rule = PolicyRule{LRDecay: 0.99, LRLeast: 1e-9, LREvery: 500, HeatDecay: 0.9, HeatEvery: 1, Batch: 1, Beta1: 0.9,
	Beta2: 0.999, Eps: 1e-8}

// study is a policy with its tree, embedding and parameters.
type study struct {
	*Policy
	tree      *PolicyTree
	embedding []float64
	values    []float64
}

func numbers(r *rand.Rand, n int, size float64) []float64 {
	values := make([]float64, n)
	for k := range values {
		values[k] = float64(float32(size * (2*r.Float64() - 1)))
	}
	return values
}

// treeOf returns all sequences of a number of decisions. Tokens are few and states extend other states, so states share
// beginnings and ends, and some are equal.
func treeOf(r *rand.Rand, shape PolicyShape, decisions, longest int) *PolicyTree {
	tree := &PolicyTree{}
	token := func() int32 { return int32(r.IntN(min(shape.Tokens, 3))) }
	var first []int32
	for range 1 + r.IntN(longest) {
		first = append(first, token())
	}
	words, depths := [][]int32{first}, []int{1}
	for k := 0; k < len(words); k++ {
		var children []int32
		for a := range shape.Actions {
			if depths[k] == decisions {
				children = append(children, int32(-1-len(tree.Rewards)))
				tree.Rewards = append(tree.Rewards, 100+100*r.Float64())
				continue
			}
			children = append(children, int32(len(words)))
			at := a * len(words[k]) / shape.Actions
			word := append([]int32{}, words[k][:at]...)
			if a+1 < shape.Actions {
				word = append(word, int32(a%shape.Tokens), token())
			}
			words, depths = append(words, append(word, words[k][at:]...)), append(depths, depths[k]+1)
		}
		tree.Tokens, tree.Children = append(tree.Tokens, words[k]), append(tree.Children, children)
		tree.Time = append(tree.Time, numbers(r, shape.Time, 5))
	}
	return tree
}

// studyOf returns a policy with parameters that cover the range of tanh.
func studyOf(t require.TestingT, s *Scope, shape PolicyShape, seed uint64,
	decisions, longest, instructions int) *study {

	r := rand.New(rand.NewPCG(seed, 1))
	st := &study{tree: treeOf(r, shape, decisions, longest), embedding: numbers(r, shape.Tokens*shape.Embedding, 1.5)}
	var err error
	st.Policy, err = s.newPolicy(shape, st.embedding, instructions)
	require.NoError(t, err)
	require.NoError(t, st.Grow(st.tree))
	count, err := st.Read(PolicyParameters)
	require.NoError(t, err)
	st.values = numbers(r, len(count), 0.4)
	require.NoError(t, st.Write(PolicyParameters, st.values))
	return st
}

// states returns all states of the tree.
func (st *study) states() []int32 {
	all := make([]int32, len(st.tree.Tokens))
	for k := range all {
		all[k] = int32(k)
	}
	return all
}

// oracle computes the policy with LibTorch's own operators, in float64.
type oracle struct {
	s         *Scope
	shape     PolicyShape
	embedding *Tensor
	params    []*Tensor
}

func newOracle(s *Scope, st *study) *oracle {
	o := &oracle{s: s, shape: st.shape, embedding: From(s, st.embedding, st.shape.Tokens, st.shape.Embedding)}
	p, rest := st.shape, st.values
	add := func(sizes ...int) {
		n := 1
		for _, size := range sizes {
			n *= size
		}
		o.params = append(o.params, s.RequireGrad(From(s, rest[:n], sizes...), true))
		rest = rest[n:]
	}
	for _, l := range [][2]int{{p.Embedding, p.Hidden}, {p.Embedding, p.Hidden}, {2 * p.Hidden, p.Memory}} {
		add(4*l[1], l[0])
		add(4*l[1], l[1])
		add(4 * l[1])
		add(4 * l[1])
	}
	for _, l := range [][2]int{{p.Time + p.Memory, p.Linear}, {p.Linear, p.Linear}, {p.Linear, p.Actions}} {
		add(l[1], l[0])
		add(l[1])
	}
	return o
}

// ask returns the probabilities [1, actions] in a state.
func (o *oracle) ask(tokens []int32, time []float64, temperature float64) *Tensor {
	s, n := o.s, len(tokens)
	ids := make([]int64, n)
	for k, token := range tokens {
		ids[k] = int64(token)
	}
	x := s.Reshape(s.Embedding(o.embedding, From(s, ids, n)), n, 1, o.shape.Embedding)
	zeros := func(d, units int) *Tensor { return s.Zeros(Float64, CPU, d, 1, units) }
	x, _, _ = s.LSTM(LSTM{Weights: o.params[:8], Bidirectional: true}, x, zeros(2, o.shape.Hidden),
		zeros(2, o.shape.Hidden))
	x, _, _ = s.LSTM(LSTM{Weights: o.params[8:12]}, x, zeros(1, o.shape.Memory), zeros(1, o.shape.Memory))
	h := s.Reshape(s.Narrow(x, 0, n-1, 1), 1, o.shape.Memory)
	h = s.Cat(1, From(s, time, 1, len(time)), h)
	h = s.ReLU(s.Linear(h, o.params[12], o.params[13]))
	h = s.ReLU(s.Linear(h, o.params[14], o.params[15]))
	p := s.Softmax(s.Linear(h, o.params[16], o.params[17]), 1)
	if temperature > 1 {
		p = s.Softmax(s.Scale(p, 1/temperature, 0), 1)
	}
	return p
}

// gradient computes the gradient of a loss over all parameters.
func (o *oracle) gradient(t require.TestingT, loss *Tensor) []float64 {
	o.s.Backward(loss)
	var all []float64
	for _, p := range o.params {
		values, err := Values[float64](o.s.Grad(p))
		require.NoError(t, err)
		all = append(all, values...)
	}
	return all
}

// apart returns the largest difference relative to the largest value.
func apart(want, got []float64) float64 {
	most, worst := 0.0, 0.0
	for k := range want {
		most, worst = max(most, math.Abs(want[k])), max(worst, math.Abs(want[k]-got[k]))
	}
	if most == 0 {
		return worst
	}
	return worst / most
}

// near returns the tolerance of a precision against LibTorch's float64.
func near(precise bool) float64 {
	if precise {
		return 1e-11
	}
	return 1e-5
}

// compare checks probabilities and a gradient against LibTorch's.
func (st *study) compare(t require.TestingT, s *Scope, r *rand.Rand, temperature float64) {
	o := newOracle(s, st)
	states := st.states()
	got, err := st.Probabilities(states, temperature)
	require.NoError(t, err)
	loss := s.Zeros(Float64, CPU)
	var coefficients [][]float64
	for k := range states {
		p := o.ask(st.tree.Tokens[k], st.tree.Time[k], temperature)
		want, err := Values[float64](p)
		require.NoError(t, err)
		require.Less(t, apart(want, got[k]), near(st.shape.Precise), "state %d", k)
		c := numbers(r, st.shape.Actions, 3)
		coefficients = append(coefficients, c)
		loss = s.Add(loss, s.Sum(s.Mul(s.Log(p), From(s, c, 1, len(c)))))
	}
	require.NoError(t, st.Gradient(states, coefficients, temperature))
	gradient, err := st.Read(PolicyGradient)
	require.NoError(t, err)
	require.Less(t, apart(o.gradient(t, loss), gradient), near(st.shape.Precise))
}

// Each set of instructions gives LibTorch's probabilities and its autograd's gradients, in each precision.
func TestPolicyIsLibTorchs(t *testing.T) {
	for instructions := range 4 {
		for _, precise := range []bool{false, true} {
			for _, temperature := range []float64{1, 2.5} {
				within(t, func(s *Scope) {
					shape := original
					shape.Precise = precise
					if _, err := s.newPolicy(shape, make([]float64, 18*16), instructions); err != nil {
						require.ErrorContains(t, err, "this processor has no instructions")
						return
					}
					st := studyOf(t, s, shape, 3, 3, 10, instructions)
					st.compare(t, s, rand.New(rand.NewPCG(4, 4)), temperature)
				})
			}
		}
	}
}

// Policies of any size equal LibTorch's.
func TestPoliciesOfAnySize(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		size := func(name string, most int) int { return rapid.IntRange(1, most).Draw(rt, name) }
		shape := PolicyShape{Tokens: size("tokens", 9), Embedding: size("embedding", 20), Hidden: size("hidden", 40),
			Memory: size("memory", 20), Linear: size("linear", 40), Time: size("time", 9), Actions: size("actions", 5),
			Precise: true}
		seed, instructions := rapid.Uint64().Draw(rt, "seed"), rapid.IntRange(0, 1).Draw(rt, "instructions")
		temperature := rapid.SampledFrom([]float64{0, 1, 1.25, 40}).Draw(rt, "temperature")
		require.NoError(rt, With(func(s *Scope) error {
			st := studyOf(rt, s, shape, seed, size("decisions", 2), size("longest", 6), instructions)
			st.compare(rt, s, rand.New(rand.NewPCG(seed, 2)), temperature)
			return s.Err()
		}))
	})
}

// objective returns the loss of the exact gradient: minus the expected reward for each decision.
func (st *study) objective(t *testing.T, temperature float64, decisions int) float64 {
	reward, _, err := st.Expect(temperature, 0)
	require.NoError(t, err)
	return -reward / float64(decisions)
}

// The exact gradient equals finite differences of the expected reward.
func TestExactGradientIsTheSlope(t *testing.T) {
	for _, temperature := range []float64{1, 3} {
		within(t, func(s *Scope) {
			shape := original
			shape.Precise = true
			st := studyOf(t, s, shape, 5, 3, 10, 0)
			_, ends, err := st.Expect(temperature, 0)
			require.NoError(t, err)
			sum := 0.0
			for _, p := range ends {
				sum += p
			}
			require.InDelta(t, 1, sum, 1e-12)
			gradient, err := st.Read(PolicyGradient)
			require.NoError(t, err)
			r := rand.New(rand.NewPCG(9, 9))
			worst := 0.0
			const h = 1e-4
			for range 60 {
				k := r.IntN(len(st.values))
				was := st.values[k]
				st.values[k] = was + h
				require.NoError(t, st.Write(PolicyParameters, st.values))
				above := st.objective(t, temperature, 3)
				st.values[k] = was - h
				require.NoError(t, st.Write(PolicyParameters, st.values))
				below := st.objective(t, temperature, 3)
				st.values[k] = was
				worst = max(worst, math.Abs((above-below)/(2*h)-gradient[k]))
			}
			require.Less(t, worst, 1e-6)
			t.Logf("measured: at a temperature of %v the exact gradient is at most %.1g from slopes of 60 parameters",
				temperature, worst)
		})
	}
}

// The gradient of the entropy equals LibTorch's, weighted by the probability of each state.
func TestEntropyGradient(t *testing.T) {
	within(t, func(s *Scope) {
		const temperature, weight = 2.0, 0.7
		shape := PolicyShape{Tokens: 4, Embedding: 3, Hidden: 5, Memory: 4, Linear: 6, Time: 2, Actions: 3,
			Precise: true}
		st := studyOf(t, s, shape, 6, 2, 5, 0)
		for k := range st.tree.Rewards {
			st.tree.Rewards[k] = 0
		}
		require.NoError(t, st.Grow(st.tree))
		rows, err := st.Probabilities(st.states(), temperature)
		require.NoError(t, err)
		o := newOracle(s, st)
		loss := s.Zeros(Float64, CPU)
		reach := append([]float64{1}, rows[0]...)
		for k := range st.tree.Tokens {
			p := o.ask(st.tree.Tokens[k], st.tree.Time[k], temperature)
			loss = s.Add(loss, s.Scale(s.Sum(s.Mul(p, s.Log(p))), weight*reach[k]/2, 0))
		}
		_, _, err = st.Expect(temperature, weight)
		require.NoError(t, err)
		got, err := st.Read(PolicyGradient)
		require.NoError(t, err)
		require.Less(t, apart(o.gradient(t, loss), got), 1e-11)
	})
}

// playOne plays an episode without changing the parameters, and returns its end and gradient.
func (st *study) playOne(t *testing.T, random *Generator, r PolicyRule, temperature float64) (int32, []float64) {
	at := PolicyProgress{Temperature: temperature}
	e, err := st.Learn(1, random, r, &at)
	require.NoError(t, err)
	gradient, err := st.Read(PolicyGradient)
	require.NoError(t, err)
	return e.Ends[0], gradient
}

// The mean gradient of many episodes equals the exact gradient within its standard error, and ends come as often as
// their probabilities state.
func TestEpisodesAreTheExactGradientOnAverage(t *testing.T) {
	within(t, func(s *Scope) {
		const temperature, episodes, entropy = 1.5, 4000, 5.0
		shape := PolicyShape{Tokens: 4, Embedding: 3, Hidden: 6, Memory: 4, Linear: 8, Time: 2, Actions: 3,
			Precise: true}
		st := studyOf(t, s, shape, 8, 2, 5, 0)
		_, ends, err := st.Expect(temperature, entropy)
		require.NoError(t, err)
		want, err := st.Read(PolicyGradient)
		require.NoError(t, err)
		r := rule
		r.HeatDecay, r.Entropy = 1, entropy
		random := s.NewGenerator(CPU, 1)
		sum, squares, count := make([]float64, len(want)), make([]float64, len(want)), make([]float64, len(ends))
		for range episodes {
			end, g := st.playOne(t, random, r, temperature)
			count[end]++
			for k, v := range g {
				sum[k] += v / episodes
				squares[k] += v * v / episodes
			}
		}
		// In standard errors, the mean square of the parameters' errors is about one, and the largest of some hundreds
		// is rarely above five.
		mean, worst, n := 0.0, 0.0, 0
		for k := range want {
			if variance := (squares[k] - sum[k]*sum[k]) / episodes; variance > 1e-20 {
				z := (sum[k] - want[k]) / math.Sqrt(variance)
				mean, worst, n = mean+z*z, max(worst, math.Abs(z)), n+1
			}
		}
		require.Greater(t, n, len(want)/2)
		require.Less(t, mean/float64(n), 3.0)
		require.Less(t, worst, 6.0)
		chi := 0.0
		for k, p := range ends {
			chi += (count[k] - p*episodes) * (count[k] - p*episodes) / (p * episodes)
		}
		require.Less(t, chi, 30.0, "eight degrees of freedom")
		t.Logf("measured: %d gradients of episodes are on average %.2f standard errors from the exact one, "+
			"at most %.1f", episodes, math.Sqrt(mean/float64(n)), worst)
	})
}

// The order of states changes nothing, and neither does merging equal states.
func TestOrderOfStatesIsNothing(t *testing.T) {
	within(t, func(s *Scope) {
		shape := original
		shape.Precise = true
		st := studyOf(t, s, shape, 12, 3, 9, 0)
		reward, _, err := st.Expect(1, 0)
		require.NoError(t, err)
		want, err := st.Read(PolicyGradient)
		require.NoError(t, err)
		// The states of the last decision come after all others.
		first := len(st.tree.Tokens) - len(st.tree.Rewards)/shape.Actions
		swap := rand.New(rand.NewPCG(1, 1)).Perm(len(st.tree.Tokens) - first)
		other := &PolicyTree{Rewards: st.tree.Rewards}
		place := func(k int) int {
			if k < first {
				return k
			}
			return first + swap[k-first]
		}
		back := make([]int, len(st.tree.Tokens))
		for k := range back {
			back[place(k)] = k
		}
		for k := range back {
			other.Tokens, other.Time = append(other.Tokens, st.tree.Tokens[back[k]]),
				append(other.Time, st.tree.Time[back[k]])
			var children []int32
			for _, c := range st.tree.Children[back[k]] {
				if c >= 0 {
					c = int32(place(int(c)))
				}
				children = append(children, c)
			}
			other.Children = append(other.Children, children)
		}
		require.NoError(t, st.Grow(other))
		again, _, err := st.Expect(1, 0)
		require.NoError(t, err)
		require.InDelta(t, reward, again, 1e-12*reward)
		got, err := st.Read(PolicyGradient)
		require.NoError(t, err)
		require.Less(t, apart(want, got), 1e-12)
	})
}

// Steps equal LibTorch's Adam.
func TestPolicyStepsAreAdams(t *testing.T) {
	within(t, func(s *Scope) {
		shape := original
		shape.Precise = true
		st := studyOf(t, s, shape, 13, 2, 6, 0)
		twin := s.RequireGrad(From(s, st.values, len(st.values)), true)
		adam := s.NewOptimizer(Group{Params: []*Tensor{twin}, OptimizerOptions: OptimizerOptions{Rule: Adam, LR: 0.01}})
		at := PolicyProgress{LR: 0.01, Temperature: 1}
		for range 5 {
			_, _, err := st.Expect(1, 0)
			require.NoError(t, err)
			gradient, err := st.Read(PolicyGradient)
			require.NoError(t, err)
			s.SetGrad(twin, From(s, gradient, len(gradient)))
			require.NoError(t, adam.Step())
			require.NoError(t, st.Step(rule, &at))
			got, err := st.Read(PolicyParameters)
			require.NoError(t, err)
			want, err := Values[float64](twin)
			require.NoError(t, err)
			require.Less(t, apart(want, got), 1e-13)
		}
		require.EqualValues(t, 5, at.Steps)
	})
}

// One call of many episodes gives the same bits as one call for each batch, with every option.
func TestEpisodesInOneCallAreTheSameEpisodes(t *testing.T) {
	for name, change := range map[string]func(*PolicyRule){
		"as the original": func(*PolicyRule) {},
		"with a baseline": func(r *PolicyRule) { r.Baseline = 0.1 },
		"with an entropy": func(r *PolicyRule) { r.Entropy = 0.5 },
		"in batches":      func(r *PolicyRule) { r.Batch = 4 },
	} {
		within(t, func(s *Scope) {
			r := rule
			r.LREvery, r.HeatDecay = 5, 0.95
			change(&r)
			one, many := studyOf(t, s, original, 14, 3, 8, 0), studyOf(t, s, original, 14, 3, 8, 0)
			a, b := s.NewGenerator(CPU, 2), s.NewGenerator(CPU, 2)
			at, bt := PolicyProgress{LR: 1e-3, Temperature: 2}, PolicyProgress{LR: 1e-3, Temperature: 2}
			all, err := many.Learn(24, b, r, &bt)
			require.NoError(t, err)
			var parts Episodes
			for range 24 / r.Batch {
				e, err := one.Learn(r.Batch, a, r, &at)
				require.NoError(t, err)
				parts.Ends, parts.Objectives = append(parts.Ends, e.Ends...), append(parts.Objectives, e.Objectives...)
			}
			require.Equal(t, all, parts, name)
			require.Equal(t, bt, at, name)
			require.EqualValues(t, 24/r.Batch, at.Steps, name)
			require.InDelta(t, 1e-3*math.Pow(0.99, 4), at.LR, 1e-12, name)
			require.Equal(t, 1.0, at.Temperature, name)
			for part := PolicyParameters; part <= PolicySecond; part++ {
				x, err := one.Read(part)
				require.NoError(t, err)
				y, err := many.Read(part)
				require.NoError(t, err)
				require.Equal(t, x, y, name)
			}
		})
	}
}

// Skipped numbers are the next ones in the generator's stream.
func TestSkippedNumbersAreOfTheStream(t *testing.T) {
	within(t, func(s *Scope) {
		shape := PolicyShape{Tokens: 2, Embedding: 2, Hidden: 2, Memory: 2, Linear: 2, Time: 1, Actions: 1}
		for _, skipped := range []int{0, 1, 620, 621, 622, 623, 624, 625, 1248, 100_001} {
			for _, before := range []int{0, 1, 7, 622, 623} {
				p, err := s.NewPolicy(shape, make([]float64, 4))
				require.NoError(t, err)
				tree := &PolicyTree{Tokens: [][]int32{{1}}, Time: [][]float64{{0}}, Children: [][]int32{{-1}},
					Rewards: []float64{1}, Skips: [][]int32{{int32(skipped)}}}
				require.NoError(t, p.Grow(tree))
				a, b := s.NewGenerator(CPU, 3), s.NewGenerator(CPU, 3)
				s.Uniform(s.Zeros(Float32, CPU, before), 0, 1, a)
				_, err = p.Learn(1, a, rule, &PolicyProgress{Temperature: 1})
				require.NoError(t, err)
				s.Uniform(s.Zeros(Float32, CPU, before+2+skipped), 0, 1, b)
				got, err := a.State()
				require.NoError(t, err)
				want, err := b.State()
				require.NoError(t, err)
				x, y := s.Zeros(Float32, CPU, 2000), s.Zeros(Float32, CPU, 2000)
				s.Uniform(x, 0, 1, a)
				s.Uniform(y, 0, 1, b)
				require.Equal(t, floats(t, y), floats(t, x), "%d after %d", skipped, before)
				require.Len(t, got, len(want))
			}
		}
	})
}

// Ascent of the exact gradient reaches nearly the best reward.
func TestExactGradientFindsTheBest(t *testing.T) {
	within(t, func(s *Scope) {
		st := studyOf(t, s, original, 15, 3, 8, 0)
		at := PolicyProgress{LR: 1e-3, Temperature: 1}
		rewards, err := st.Ascend(400, rule, &at)
		require.NoError(t, err)
		best := 0.0
		for _, r := range st.tree.Rewards {
			best = max(best, r)
		}
		require.Greater(t, rewards[399], rewards[0]+0.9*(best-rewards[0]))
	})
}

func TestWhatPoliciesRefuse(t *testing.T) {
	within(t, func(s *Scope) {
		_, err := s.NewPolicy(original, make([]float64, 7))
		require.ErrorContains(t, err, "got 7 values, expected 18 embeddings of 16 values")
		bad := original
		bad.Hidden = 0
		_, err = s.NewPolicy(bad, make([]float64, 18*16))
		require.ErrorContains(t, err, "hidden of 0")
		empty, err := s.NewPolicy(original, make([]float64, 18*16))
		require.NoError(t, err)
		_, _, err = empty.Expect(1, 0)
		require.ErrorContains(t, err, "the policy has no tree of decision states; add one with Grow")
		require.ErrorContains(t, empty.Write(PolicyParameters, make([]float64, 3)), "3 values for part 0")
		_, err = empty.Read(9)
		require.ErrorContains(t, err, "unknown part 9")

		st := studyOf(t, s, original, 16, 2, 4, 0)
		for says, change := range map[string]func(tree *PolicyTree){
			"has no tokens":           func(tree *PolicyTree) { tree.Tokens[1] = nil },
			"the token 18; there are": func(tree *PolicyTree) { tree.Tokens[1][0] = 18 },
			"leads to 0":              func(tree *PolicyTree) { tree.Children[1][2] = 0 },
			"leads to -99":            func(tree *PolicyTree) { tree.Children[1][2] = -99 },
			"no action leads":         func(tree *PolicyTree) { tree.Children[0][1] = tree.Children[0][0] },
			"some ends come after":    func(tree *PolicyTree) { tree.Children[0][3] = -1 },
			"time values":             func(tree *PolicyTree) { tree.Time[0] = nil },
			"child lists":             func(tree *PolicyTree) { tree.Children = nil },
			"lists of skip counts":    func(tree *PolicyTree) { tree.Skips = make([][]int32, 1) },
			"has skip counts":         func(tree *PolicyTree) { tree.Skips = make([][]int32, len(tree.Tokens)) },
		} {
			tree := treeOf(rand.New(rand.NewPCG(1, 2)), original, 2, 4)
			change(tree)
			require.ErrorContains(t, st.Grow(tree), says)
		}
		_, err = st.Probabilities([]int32{0, 99}, 1)
		require.ErrorContains(t, err, "state 99; there are 5")
		_, err = st.Probabilities([]int32{1, 1}, 1)
		require.ErrorContains(t, err, "named twice")
		require.ErrorContains(t, st.Gradient([]int32{0}, nil, 1), "0 coefficients for 1 states")
		at := PolicyProgress{LR: 1e-3, Temperature: 1}
		r := rule
		r.Batch = 2
		_, err = st.Learn(3, nil, r, &at)
		require.ErrorContains(t, err, "3 episodes in batches of 2")
		r.LREvery = 0
		_, err = st.Ascend(1, r, &at)
		require.ErrorContains(t, err, "decays every 0")
		_, err = st.Learn(-1, nil, rule, &at)
		require.ErrorContains(t, err, "episodes is -1")
		_, err = st.Ascend(-1, rule, &at)
		require.ErrorContains(t, err, "steps is -1")
		require.Equal(t, PolicyProgress{LR: 1e-3, Temperature: 1}, at)
	})
	var closed *Policy
	within(t, func(s *Scope) { closed = studyOf(t, s, original, 17, 1, 3, 0).Policy })
	_, err := closed.Read(PolicyParameters)
	require.ErrorIs(t, err, ErrClosed)
	_, err = closed.Learn(1, nil, rule, &PolicyProgress{})
	require.ErrorIs(t, err, ErrClosed)
}

func BenchmarkPolicy(b *testing.B) {
	require.NoError(b, With(func(s *Scope) error {
		st := studyOf(b, s, original, 1, 3, 10, 0)
		at := PolicyProgress{LR: 1e-4, Temperature: 1}
		random := s.NewGenerator(CPU, 1)
		b.Run("episode", func(b *testing.B) {
			_, err := st.Learn(b.N, random, rule, &at)
			require.NoError(b, err)
		})
		b.Run("exact step", func(b *testing.B) {
			_, err := st.Ascend(b.N, rule, &at)
			require.NoError(b, err)
		})
		return nil
	}))
}
