package tasks_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/stat"
	"graft/original/tasks"
)

var update = flag.Bool("update", false, "learn the curves again; minutes")

// curve holds the figures of one seed.
type curve struct {
	Points []tasks.Point `json:"curve"` // after each rollout
	// Evaluation is of the last policy, with its likeliest actions.
	Evaluation evaluation `json:"deterministic_eval_200_episodes"`
}

type evaluation struct {
	Reward float64 `json:"mean_reward"`
}

// train learns with the defaults of Stable-Baselines3, which are also graft's.
func train(t require.TestingT, seed uint64, rollouts int) (c curve) {
	m, err := tasks.LearnPPO(context.Background(), 4, seed, rollouts, func(p tasks.Point) error {
		for _, v := range []*float64{&p.Reward, &p.Length, &p.ValueLoss, &p.Entropy, &p.KL, &p.Clipped, &p.Explained} {
			*v = stat.Round(*v, 8)
		}
		c.Points = append(c.Points, p)
		return nil
	})
	require.NoError(t, err)
	s, err := tasks.Evaluate(4, 200, tasks.EvaluationSeed, func(uint64) tasks.Policy { return tasks.Likeliest(m) })
	require.NoError(t, err)
	c.Evaluation.Reward = s.Reward
	return c
}

// curves holds the curves of seeds 1 to 16.
const (
	curves = "testdata/packing_curves.json"
	seeds  = 16
)

// columns holds the quantities of a point that both programs define alike.
var columns = map[string]func(p tasks.Point) float64{
	"reward":         func(p tasks.Point) float64 { return p.Reward },
	"length":         func(p tasks.Point) float64 { return p.Length },
	"value loss":     func(p tasks.Point) float64 { return p.ValueLoss },
	"entropy":        func(p tasks.Point) float64 { return p.Entropy },
	"divergence":     func(p tasks.Point) float64 { return p.KL },
	"clipped ratios": func(p tasks.Point) float64 { return p.Clipped },
	"explained":      func(p tasks.Point) float64 { return p.Explained },
}

// PPO learns like recorded runs of a PyTorch version of Stable-Baselines3's PPO. The mean of the recorded runs lies in
// the prediction interval of graft's seeds, for each quantity in each part of learning and for the last policy. The
// generators of weights and draws differ, so curves agree only in distribution. Together, the intervals reject equal
// programs in 5% of cases (Bonferroni). All seeds are fixed, so the result is deterministic.
func TestPPOLearnsAsStableBaselines3(t *testing.T) {
	t.Parallel()
	ours := readCurves(t)
	var theirs []curve
	for _, name := range []string{"ppo_ref_seed0", "ppo_ref_seed2"} {
		var c curve
		recorded(t, "golden/"+name+".json", &c)
		theirs = append(theirs, c)
	}
	parts := [][2]int{{0, 5}, {5, 15}, {15, 25}}
	miss := stat.Bonferroni(0.05, len(parts)*len(columns)+1)
	for name, of := range columns {
		for _, part := range parts {
			mean := func(c curve) (sum float64) {
				for _, p := range c.Points[part[0]:part[1]] {
					sum += of(p) / float64(part[1]-part[0])
				}
				return sum
			}
			predicts(t, ours, theirs, miss, mean, fmt.Sprintf("%s of rollouts %d to %d", name, part[0]+1, part[1]))
		}
	}
	predicts(t, ours, theirs, miss, func(c curve) float64 { return c.Evaluation.Reward }, "reward of the last policy")
}

// predicts checks that the mean of another sample lies in the prediction interval of ours, for normal values with one
// variance (Hahn and Meeker, Statistical Intervals, 1991, section 4.2).
func predicts(t *testing.T, ours, theirs []curve, miss float64, of func(c curve) float64, what string) {
	t.Helper()
	values := func(all []curve) (list []float64) {
		for _, c := range all {
			list = append(list, of(c))
		}
		return list
	}
	sample, other := values(ours), stat.Mean(values(theirs))
	n := float64(len(ours))
	half := stat.StudentQuantile(1-miss/2, n-1) * stat.Deviation(sample) * math.Sqrt(1/n+1/float64(len(theirs)))
	t.Logf("%s: %.4g ± %.2g, recorded %.4g", what, stat.Mean(sample), half, other)
	require.InDelta(t, stat.Mean(sample), other, half, what)
}

// readCurves reads the curves of graft's seeds, and checks the first one by repeating its beginning.
func readCurves(t *testing.T) (all []curve) {
	if *update {
		all = make([]curve, seeds)
		for k := range all {
			all[k] = train(t, uint64(k+1), 25)
		}
		data, err := json.Marshal(all)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.FromSlash(curves), append(data, '\n'), 0o644))
		return all
	}
	data, err := os.ReadFile(filepath.FromSlash(curves))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(data, &all))
	require.Len(t, all, seeds)
	for k, p := range train(t, 1, 3).Points {
		for name, of := range columns {
			require.InEpsilon(t, of(all[0].Points[k]), of(p), 1e-5,
				"%s of rollout %d; learn the curves again with -update", name, k+1)
		}
	}
	return all
}

// BenchmarkPPO learns 51,200 steps with the published settings.
func BenchmarkPPO(b *testing.B) {
	for b.Loop() {
		train(b, 1, 25)
	}
}
