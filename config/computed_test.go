package config

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/stat"
	"graft/model"
	"graft/model/transformer"
	"graft/net2net"
	"graft/trainer/clock"
	"graft/trainer/costs"
	"graft/trainer/operators"
)

// gpuStep holds measured times of a network on a GPU: a training step, and an evaluation of a batch of the same size.
type gpuStep struct {
	network         *model.Network
	rows            int
	step, batch     float64 // measured seconds
	tensors, others int     // tensors: trained tensors; others: operators of the forward pass
}

// gpuSteps reads the measured networks of a profile in scenarios/profiles.
func gpuSteps(t *testing.T, name string) (all []gpuStep) {
	p, err := ReadProfile(files.OS{}, "../scenarios/profiles/"+name+".toml")
	require.NoError(t, err)
	counter := operators.NewRooflinePredictor(&must(clock.FindProfile("h100")).Computed)
	for _, m := range p.Measured {
		n, err := model.Zoo(m.Network, model.ZooOptions{Input: model.Shape{3, 32, 32}, Classes: 10})
		require.NoError(t, err)
		for _, a := range m.Actions {
			_, err := net2net.Apply(n, a, net2net.Options{})
			require.NoError(t, err)
		}
		require.Equal(t, m.Fingerprint, net2net.Fingerprint(n))
		parts, err := counter.Parts(n, m.Batch)
		require.NoError(t, err)
		s := gpuStep{network: n, rows: m.Batch, step: m.StepSeconds, batch: m.BatchSeconds}
		for _, part := range parts[:len(parts)-1] {
			if part.Update {
				s.tensors++
			} else {
				s.others++
			}
		}
		all = append(all, s)
	}
	return all
}

// The host times of the library are the least-squares fit of relative errors to the measured steps of an H200.
func TestHostTimesAreTheFit(t *testing.T) {
	var steps, batches [][]float64
	for _, s := range gpuSteps(t, "nvidia-h200") {
		steps = append(steps, []float64{1 / s.step, float64(s.tensors) / s.step})
		batches = append(batches, []float64{1 / s.batch, float64(s.others) / s.batch})
	}
	ones := slices.Repeat([]float64{1}, len(steps))
	step, batch := stat.NonNegative(steps, ones), stat.NonNegative(batches, ones)
	for _, h := range costs.Library() {
		for k, want := range []float64{step[0], step[1], batch[0], batch[1]} {
			got := []float64{h.Steps.Step, h.Steps.Tensor, h.Steps.Batch, h.Steps.Operator}[k]
			require.InEpsilon(t, want, got, 1e-3, "%s: constant %d of the host", h.Name, k+1)
		}
	}
}

// gpt returns a GPT like the networks of bench gpt.
func gpt(t *testing.T, width, heads, depth, context int) *model.Network {
	g, err := transformer.New(transformer.Config{Vocabulary: 86, Context: context, Width: width, Heads: heads,
		Depth: depth, Stacked: true})
	require.NoError(t, err)
	n, err := model.FromGraph(g)
	require.NoError(t, err)
	return n
}

// predictedOn returns the times that a computed profile predicts.
func predictedOn(t *testing.T, profile string, n *model.Network, rows int) operators.Prediction {
	made, err := must(clock.FindProfile(profile)).Predict(n, rows)
	require.NoError(t, err)
	return made
}

// The stated errors of computed profiles are the errors on measurements outside the fit. The H100 uses steps and
// evaluations of the networks in its profile. The H200 uses docs/measurements.md. The time of a kernel is the value
// with which the smaller GPT takes 1.4 ms on an H100.
func TestStatedErrorsOfComputedProfiles(t *testing.T) {
	var steps, batches []float64
	for _, s := range gpuSteps(t, "nvidia-h100") {
		made := predictedOn(t, "h100", s.network, s.rows)
		steps, batches = append(steps, made.Step/s.step-1), append(batches, made.Forward/s.batch-1)
	}
	small, large := gpt(t, 128, 4, 4, 64), gpt(t, 768, 12, 12, 256)
	convolutional := must(model.Zoo("ConvNet2", model.ZooOptions{Input: model.Shape{3, 32, 32}, Classes: 10}))
	recorded := predictedOn(t, "h200:graphs", convolutional, 64)
	checks := map[string][]costs.StepCheck{
		"h100": {checkOf("steps of 30 small networks in float32", steps),
			checkOf("evaluations of 30 small networks in float32", batches)},
		"h200": {checkOf("step of a GPT of 0.8 million parameters in float32",
			[]float64{predictedOn(t, "h200", small, 32).Step/5.6e-3 - 1}),
			checkOf("step of a GPT of 85 million parameters in TF32",
				[]float64{predictedOn(t, "h200:tf32", large, 32).Step/31.4e-3 - 1}),
			checkOf("epoch of ConvNet2 with CUDA graphs, 200 steps and 40 evaluations",
				[]float64{(200*recorded.Step+40*recorded.Forward)/81e-3 - 1})},
	}
	for _, h := range costs.Library() {
		require.Equal(t, len(checks[h.Name]), len(h.Steps.Checked), h.Name)
		for k, c := range checks[h.Name] {
			require.Equal(t, c, h.Steps.Checked[k])
		}
	}
	require.InEpsilon(t, 1.4e-3, predictedOn(t, "h100:graphs", small, 32).Step, 0.01)
}

func checkOf(on string, misses []float64) costs.StepCheck {
	for k := range misses {
		misses[k] = math.Abs(misses[k])
	}
	digits := func(v float64) float64 { return math.Round(v*1e3) / 1e3 }
	return costs.StepCheck{On: on, Rows: len(misses), Median: digits(stat.Median(misses)),
		Worst: digits(slices.Max(misses))}
}

// Faster number formats and CUDA graphs never increase a step time. Every computed profile charges more for wider
// layers.
func TestComputedProfiles(t *testing.T) {
	n, wider := gpt(t, 768, 12, 2, 128), gpt(t, 1536, 12, 2, 128)
	for _, h := range costs.Library() {
		last := math.Inf(1)
		for _, options := range []string{"", ":float16", ":float16,graphs"} {
			step := predictedOn(t, h.Name+options, n, 64).Step
			require.LessOrEqual(t, step, last, h.Name+options)
			require.Less(t, step, predictedOn(t, h.Name+options, wider, 64).Step, h.Name+options)
			last = step
		}
		p := must(clock.FindProfile(h.Name))
		require.NoError(t, p.Validate())
		require.False(t, p.WidthIsFree())
		one := p.Cost(clock.Work{Kind: clock.Steps, Rows: 512, Network: wider})
		eight := p.Cost(clock.Work{Kind: clock.Steps, Rows: 512, Network: wider, Devices: 8})
		require.Less(t, eight, one, "%s: 8 devices divide a batch", h.Name)
		text := FormatProfile(p)
		again, err := parseProfile("again.toml", []byte(text))
		require.NoError(t, err)
		require.Equal(t, text, FormatProfile(again))
		require.Equal(t, chargedText(p), chargedText(again))
		require.NotEqual(t, chargedText(p), chargedText(must(clock.FindProfile(h.Name+":graphs"))))
		require.NotContains(t, chargedText(p), "checked = \"s")
	}
	for name, want := range map[string]string{
		"h100:tf33":     `unknown option "tf33"; expected graphs, or one of: float32, bfloat16, float16, tf32`,
		"h100:":         `unknown option ""`,
		"v100:bfloat16": "the device has no matrix units for bfloat16; use float32 or float16",
		"steady:graphs": `steady was not computed and has no options; use "steady"`,
		"h1000":         `unknown profile "h1000"; expected one of: v100-original, steady, round-gpu, a100, h100`,
	} {
		_, err := clock.FindProfile(name)
		require.ErrorContains(t, err, want)
	}
}

// A job with a computed profile gets a warning that states the profile's error.
func TestComputedProfilesWarn(t *testing.T) {
	job := func(profile string) *Job {
		return must(ReadJob(files.OS{}, "", []string{"time.profile=" + profile, "data.synthetic={train=100, test=20}"}))
	}
	require.Contains(t, strings.Join(job("h100:graphs").Warnings(), "\n"),
		"the profile h100 was computed from the constants of the hardware, not measured (60 steps of 30 small networks")
	require.Contains(t, strings.Join(job("l4").Warnings(), "\n"), "no computed step was compared with a measured one")
	require.NotContains(t, strings.Join(job("round-gpu").Warnings(), "\n"), "computed")
}

// A job gets a warning if the steps of its profile were measured, or computed, under other conditions.
func TestProfilesOfOtherConditionsWarn(t *testing.T) {
	p := must(clock.FindProfile("round-gpu"))
	p.Name = "mine"
	p.Made = clock.Provenance{Date: "2026-01-31", Device: "cpu", Optimizer: "adam", Precision: "bfloat16"}
	path := filepath.Join(t.TempDir(), "mine.toml")
	require.NoError(t, WriteProfile(files.OS{}, path, p))
	warnings := func(set ...string) string {
		set = append(set, "data.synthetic={train=100, test=20}")
		return strings.Join(must(ReadJob(files.OS{}, "", set)).Warnings(), "\n")
	}
	own := "time.profile=" + path
	const other = "measured under other conditions"
	require.NotContains(t, warnings(own, "train.precision=bfloat16"), other)
	require.Contains(t, warnings(own), "number format bfloat16 (the job: float32); measure")
	require.Contains(t, warnings(own, "train.precision=bfloat16", "optimizer.rule=sgd", "train.exact=true"),
		": optimizer adam (the job: sgd), train.exact false (the job: true); measure")
	require.NotContains(t, warnings("time.profile=round-gpu", "train.precision=bfloat16"), other)
	require.Contains(t, warnings("time.profile=h100", "train.precision=bfloat16"), `set time.profile = "h100:bfloat16"`)
	require.Contains(t, warnings("time.profile=v100", "train.precision=bfloat16"), "choose another profile")
	for _, set := range [][]string{{"time.profile=h100:bfloat16"}, {"time.profile=h100:bfloat16",
		"train.precision=bfloat16"}} {
		require.NotContains(t, warnings(set...), "was computed for")
	}
}
