package dl2_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
	"graft/cluster/elastic/elastictest"
	"graft/internal/random/numpy"
	"graft/original/dl2"
	"graft/torch/weights"
)

// tiny returns a cluster with three job types, workload options, and validation workloads of six jobs.
func tiny(t *testing.T, change func(o *elastic.Options)) (elastic.Study, elastic.GenerateOptions, []elastic.Study) {
	r := rand.New(rand.NewPCG(4, 4))
	s := elastic.Study{Options: elastic.Options{Nodes: 5, Most: 4}}
	for k := range 3 {
		s.Types = append(s.Types, elastic.JobType{Name: fmt.Sprint("m", k), Worker: elastic.Resources{2, 4 * (k % 2)},
			Server: elastic.Resources{2, 0}, EpochSize: 50, Length: 0.4 + 0.3*float64(k), Compute: 0.1,
			ModelSize: 50, BetweenBW: 100, WithinBW: 200})
	}
	s.Speed = elastictest.DrawTable(r, s.Types, 6)
	if change != nil {
		change(&s.Options)
	}
	g := elastic.GenerateOptions{Jobs: 6, MaxEpochs: 2500, EpochError: 0.1}
	var validation []elastic.Study
	for seed := range 3 {
		v := s
		jobs, err := elastic.Generate(s.Types, g, numpy.New(uint32(100+seed)))
		require.NoError(t, err)
		v.Jobs = jobs
		validation = append(validation, v)
	}
	return s, g, validation
}

// quick returns the options of a training that takes a second.
func quick() dl2.Options {
	o := dl2.Options{Agents: 1}
	o.Shape.Size, o.Shape.Neurons = 4, 8
	o.Supervised = dl2.SupervisedOptions{Steps: 5, Batch: 16, Teacher: "optimus"}
	o.Reinforced.Steps, o.Reinforced.Batch = 7, 16
	o.Replay.Capacity, o.Workloads.Count, o.Validation.Every = 64, 3, 4
	return o
}

// forms holds trainings that differ in their saved state.
var forms = map[string]struct {
	options func(o *dl2.Options)
	cluster func(o *elastic.Options)
}{
	"published": {},
	"agents":    {options: func(o *dl2.Options) { o.Agents, o.Optimizer = 3, dl2.RMSProp }},
	"asynchronous": {options: func(o *dl2.Options) {
		o.Agents, o.Asynchronous, o.Reinforced.EpsilonGreedy = 3, true, true
	}},
	"speed errors": {cluster: func(o *elastic.Options) { o.SpeedError = 0.3 },
		options: func(o *dl2.Options) { o.Reinforced.Reward, o.Replay.EvictLeast = dl2.JobProgress, true }},
	"no servers": {cluster: func(o *elastic.Options) { o.AllReduce = true }, options: func(o *dl2.Options) {
		o.Reinforced.Reward, o.Reinforced.NoCritic, o.Replay.Even, o.Shape.Bits = dl2.Discounted, true, true, true
	}},
	"more types": {options: func(o *dl2.Options) {
		o.Workloads = dl2.WorkloadOptions{Count: 2, FirstTypes: 1, TypesEvery: 2}
		o.Reinforced.Every, o.Replay.Fill, o.Reinforced.Reward = 2, 5, dl2.JobsLeft
	}},
	"other policy": {options: func(o *dl2.Options) {
		o.Shape = dl2.ShapeOptions{WindowOptions: elastic.WindowOptions{Size: 4, Apart: true, Rescale: true},
			NoStart: true, Front: dl2.ByJob, Shortcut: true}
		o.Reinforced.NoCritic, o.Reinforced.NoMean, o.Reinforced.Entropy, o.Validation.Likeliest = true, true, -1, true
	}},
}

func formed(t *testing.T, name string) *dl2.Trainer {
	f, o := forms[name], quick()
	if f.options != nil {
		f.options(&o)
	}
	study, generate, validation := tiny(t, f.cluster)
	trainer, err := dl2.NewTrainer(study, generate, validation, o)
	require.NoError(t, err)
	return trainer
}

// file returns the whole saved state as bytes.
func file(t *testing.T, trainer *dl2.Trainer) []byte {
	set, err := trainer.Save()
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, weights.WriteSafetensors(&b, set))
	return b.Bytes()
}

func readFile(t *testing.T, text []byte) *weights.Set {
	set, err := weights.ReadSafetensors(bytes.NewReader(text), int64(len(text)), weights.Options{})
	require.NoError(t, err)
	return set
}

// interrupted is a context that is cancelled after a number of checks.
type interrupted struct {
	context.Context
	looks int
}

func (i *interrupted) Err() error {
	if i.looks--; i.looks < 0 {
		return context.Canceled
	}
	return nil
}

// A training that is interrupted at random, saved and restored, before and after the hand-over, ends in the same state
// to the bit as an uninterrupted one.
func TestRestoredTrainings(t *testing.T) {
	for name := range forms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			straight, stopped, random := formed(t, name), formed(t, name), rand.New(rand.NewPCG(9, 9))
			for straight.Ended() == "" {
				require.NoError(t, straight.Advance(t.Context()))
			}
			stops := 0
			for stopped.Ended() == "" {
				looks := []int{random.IntN(40), 1 << 30}[random.IntN(2)]
				if err := stopped.Advance(&interrupted{t.Context(), looks}); err != nil {
					require.ErrorIs(t, err, context.Canceled)
					stops++
				}
				if random.IntN(2) == 0 {
					text := file(t, stopped)
					stopped = formed(t, name)
					require.NoError(t, stopped.Restore(readFile(t, text)))
					require.Equal(t, text, file(t, stopped))
				}
			}
			require.Positive(t, stops)
			require.Equal(t, file(t, straight), file(t, stopped))
			imitated, reinforced := stopped.Updates()
			require.Equal(t, []int{5, 7, 12}, []int{imitated, reinforced, stopped.Steps()})
			figures, err := stopped.Figures()
			require.NoError(t, err)
			require.Len(t, figures, len(dl2.FigureNames()))
			require.NoError(t, stopped.Advance(t.Context()))
			require.Equal(t, file(t, straight), file(t, stopped), "nothing is left to do")
		})
	}
}

// tensors returns the tensors of the whole state whose names begin with a prefix, concatenated.
func tensors(t *testing.T, trainer *dl2.Trainer, prefix string) (all []float64) {
	set, err := trainer.Save()
	require.NoError(t, err)
	for _, one := range set.Tensors {
		if strings.HasPrefix(one.Name, prefix) {
			values, err := one.Float64s()
			require.NoError(t, err)
			all = append(all, values...)
		}
	}
	return all
}

// parameters returns the tensors PREFIX.0, PREFIX.1 and so on; moments have longer names.
func parameters(t *testing.T, trainer *dl2.Trainer, prefix string) (all []float64) {
	for k := range 10 {
		all = append(all, tensors(t, trainer, fmt.Sprintf("%s.%d", prefix, k))...)
	}
	return all
}

// Reinforcement learning starts with the weights and moments of imitation, resets Adam's step count, uses its own
// learning rate, and initializes its critic.
func TestHandOver(t *testing.T) {
	trainer := formed(t, "published")
	for range 5 {
		require.NoError(t, trainer.Advance(t.Context()))
	}
	weights := parameters(t, trainer, "policy")
	first, second := tensors(t, trainer, "policy.moment1"), tensors(t, trainer, "policy.moment2")
	require.Len(t, first, len(weights))
	require.Zero(t, slices.Max(tensors(t, trainer, "value.moment")))
	require.NoError(t, trainer.Advance(t.Context()))
	now := parameters(t, trainer, "policy")
	m, v := tensors(t, trainer, "policy.moment1"), tensors(t, trainer, "policy.moment2")
	require.NotZero(t, slices.Max(tensors(t, trainer, "value.moment")))
	const rate, b1, b2 = 1e-4, 0.9, 0.999
	for k := range weights {
		g := (m[k] - b1*first[k]) / (1 - b1)
		require.InDelta(t, b2*second[k]+(1-b2)*g*g, v[k], 1e-12, "moments were kept")
		step := rate * math.Sqrt(1-b2) / (1 - b1) * m[k] / (math.Sqrt(v[k]) + 1e-8)
		require.InDelta(t, weights[k]-step, now[k], 1e-12, "steps were not")
	}
}

// Synchronous agents act with the weights before the last update of all agents. Asynchronous agents act with the newest
// weights after their own last update.
func TestAgentsActWithOldWeights(t *testing.T) {
	trainer := formed(t, "agents")
	for range 8 {
		before := parameters(t, trainer, "policy")
		require.NoError(t, trainer.Advance(t.Context()))
		if _, reinforced := trainer.Updates(); reinforced > 0 { // the hand-over creates new agents
			for k := range 3 {
				require.Equal(t, before, parameters(t, trainer, fmt.Sprintf("agent%d.policy", k)))
			}
		}
	}
	trainer = formed(t, "asynchronous")
	for range 5 {
		require.NoError(t, trainer.Advance(t.Context()))
	}
	var behind [3][]float64
	for k := range behind {
		behind[k] = parameters(t, trainer, "policy")
	}
	for k := range 7 {
		require.NoError(t, trainer.Advance(t.Context()))
		require.Equal(t, behind[k%3], parameters(t, trainer, fmt.Sprintf("agent%d.policy", k%3)))
		behind[k%3] = parameters(t, trainer, "policy")
		require.Equal(t, behind[k%3], parameters(t, trainer, fmt.Sprintf("agent%d.sent.policy", k%3)))
	}
}

// Files of other trainings and damaged files are errors, and none of them panics.
func TestFilesThatAreNotRestored(t *testing.T) {
	trainer := formed(t, "published")
	for range 7 {
		require.NoError(t, trainer.Advance(t.Context()))
	}
	text := file(t, trainer)
	require.ErrorContains(t, formed(t, "agents").Restore(readFile(t, text)), "different options, workloads or speeds")
	require.ErrorContains(t, trainer.Restore(&weights.Set{}), "no metadata entry graft.dl2.training")
	for name, damage := range map[string]func(head map[string]any, agent map[string]any){
		"version": func(head, _ map[string]any) { head["version"] = 9 },
		"random":  func(head, _ map[string]any) { head["random"] = "AAAA" },
		"agents":  func(head, _ map[string]any) { head["agents"] = []any{} },
		"turn":    func(head, _ map[string]any) { head["turn"] = -1 },
		"phase":   func(head, _ map[string]any) { head["imitated"] = 1 },
		"drawn":   func(_, agent map[string]any) { agent["drawn"] = "AAAA" },
		"types":   func(_, agent map[string]any) { agent["types"] = 77 },
		"next":    func(_, agent map[string]any) { agent["next"] = -5 },
		"place":   func(_, agent map[string]any) { agent["place"] = 6400 },
		"beta":    func(_, agent map[string]any) { agent["beta"] = -1 },
	} {
		set := readFile(t, text)
		var head map[string]any
		require.NoError(t, json.Unmarshal([]byte(set.Metadata["graft.dl2.training"]), &head))
		damage(head, head["agents"].([]any)[0].(map[string]any))
		changed, err := json.Marshal(head)
		require.NoError(t, err)
		set.Metadata["graft.dl2.training"] = string(changed)
		require.Error(t, formed(t, "published").Restore(set), name)
	}
	for k := range readFile(t, text).Tensors {
		for _, values := range [][]float64{{}, {0.5}, {-7}, {1e9, 1}} {
			set := readFile(t, text)
			if len(set.Tensors[k].Data) == 8*len(values) {
				continue
			}
			name := set.Tensors[k].Name
			set.Tensors[k] = weights.FromFloat64s(name, values)
			require.Error(t, formed(t, "published").Restore(set), "%s %v", name, values)
		}
	}
}

// A gradient that is NaN is an error that names phase and update.
func TestGradientThatIsNoNumber(t *testing.T) {
	trainer := formed(t, "no servers")
	for range 6 {
		require.NoError(t, trainer.Advance(t.Context()))
	}
	set, err := trainer.Save()
	require.NoError(t, err)
	for k, one := range set.Tensors {
		if one.Name == "agent0.memory.rewards" {
			values, err := one.Float64s()
			require.NoError(t, err)
			for at := range values {
				values[at] = math.NaN()
			}
			set.Tensors[k] = weights.FromFloat64s(one.Name, values)
		}
	}
	require.NoError(t, trainer.Restore(set))
	require.ErrorContains(t, trainer.Advance(t.Context()),
		"train DL2: reinforcement, update 2: policy: gradient of step 2: value")
}

func TestTrainingsThatCannotBegin(t *testing.T) {
	study, generate, validation := tiny(t, nil)
	for want, change := range map[string]func(o *dl2.Options){
		`teacher`:                                          func(o *dl2.Options) { o.Supervised.Teacher = "teacher" },
		`optimizer is "sgd"`:                               func(o *dl2.Options) { o.Optimizer = "sgd" },
		`reinforced.reward is "none"`:                      func(o *dl2.Options) { o.Reinforced.Reward = "none" },
		`supervised.loss is "L3"`:                          func(o *dl2.Options) { o.Supervised.Loss = "L3" },
		`supervised.batch per agent is 100; exp`:           func(o *dl2.Options) { o.Supervised.Batch = 100 },
		`front is "rows"`:                                  func(o *dl2.Options) { o.Shape.Front = "rows" },
		`shortcut is set, but requires front`:              func(o *dl2.Options) { o.Shape.Shortcut = true },
		`first_types is 9, but there are only 3 job types`: func(o *dl2.Options) { o.Workloads.FirstTypes = 9 },
		`supervised.lr is -1`:                              func(o *dl2.Options) { o.Supervised.Rate = -1 },
	} {
		o := quick()
		change(&o)
		_, err := dl2.NewTrainer(study, generate, validation, o)
		require.ErrorContains(t, err, want)
	}
	validation[1].Jobs = nil
	_, err := dl2.NewTrainer(study, generate, validation, quick())
	require.ErrorContains(t, err, "validation workload 1")
}
