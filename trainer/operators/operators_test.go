package operators

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/model"
	"graft/trainer/costs/kineto"
)

// samples are traces of networks from the zoo, recorded with PyTorch 2.11 by 'go run ./bench kineto -kineto.samples'.
var samples = []struct {
	name  string
	input []int
	steps int
}{{"BatchNormConvolution", []int{3, 32, 32}, 6}, {"CIFARResNet20", []int{3, 32, 32}, 1}, {"CharGPT", []int{16}, 1}}

func sampleOf(t testing.TB, name string) *kineto.Trace {
	t.Helper()
	trace, err := kineto.Read(files.OS{}, "testdata/"+name+".json.gz")
	require.NoError(t, err)
	return trace
}

// Traces of trees with and without residual connections, and of a graph, match the networks.
func TestTracesOfPyTorchMatch(t *testing.T) {
	for _, s := range samples {
		n := zoo(t, s.name, s.input...)
		table, err := FromTrace(sampleOf(t, s.name), n, 0)
		require.NoError(t, err, s.name)
		assert.Equal(t, 4, table.Rows, s.name)
		assert.Equal(t, s.steps, table.Steps, s.name)
		assert.Equal(t, "the CPU", table.Device())
		require.NoError(t, table.Validate())
		sum := table.sums()
		made, err := NewPredictor(table).Predict(n, "", table.Rows)
		require.NoError(t, err)
		assert.InDelta(t, sum.host, made.Step, 1e-9, s.name)
		assert.InDelta(t, 1, made.Measured, 1e-9, s.name)
		for _, m := range table.Measured {
			if m.Name == "conv2d" || m.Name == "linear" {
				assert.Positive(t, m.ForwardHost*m.BackwardHost, "%s %s %s", s.name, m.Name, m.Shapes)
			}
		}
	}
}

// The parts of a step add up to its duration.
func TestPartsAddUpToTheStep(t *testing.T) {
	for _, s := range samples {
		n := zoo(t, s.name, s.input...)
		trace, calls := sampleOf(t, s.name), callsOf(t, n, 4)
		steps, err := stepsOf(trace)
		require.NoError(t, err)
		for k := range steps {
			m := &timer{calls: calls, samples: map[sample][]part{}, inside: insides(trace)}
			require.NoError(t, m.step(&steps[k]))
			sum := m.rests[0].host
			for at, list := range m.samples {
				for _, p := range list {
					count := 1.0
					if at.name == Updating {
						count = float64(countOf(calls, at.same))
					}
					sum += count * p.host
				}
			}
			assert.InDelta(t, m.spans[0], sum, 1e-9, s.name)
		}
	}
}

func countOf(calls []Call, at same) (count int) {
	for k := range calls {
		if calls[k].same() == at {
			count++
		}
	}
	return count
}

// On a device that follows a roofline, the steps of other networks and of other batch sizes are predicted exactly.
func TestRooflinesArePredicted(t *testing.T) {
	cuda := law{launch: 8e-6, operation: 1e-9, byte: 1e-10, update: 5e-10, cuda: true}
	launches := cuda
	launches.launch, launches.operation = 200e-6, 1e-13
	for name, l := range map[string]law{"a processor": cpuLaw, "a busy device": cuda, "a device that waits": launches} {
		traced := zoo(t, "ConvNet3", 3, 32, 32)
		w := &tracer{law: l}
		for k := range 3 {
			w.note(fmt.Sprintf("ProfilerStep#%d", k), func() { w.step(callsOf(t, traced, 8)) })
		}
		table, err := FromTrace(w.trace(t), traced, 0)
		require.NoError(t, err, name)
		require.Equal(t, 8, table.Rows)
		assert.Equal(t, l.cuda, table.Device() == "CUDA")
		p := NewPredictor(table)
		for _, other := range []string{"ConvNet3", "ConvNet2", "ConvNet", "LargeConvNet"} {
			for _, rows := range []int{4, 8, 64} {
				n := zoo(t, other, 3, 32, 32)
				made, err := p.Predict(n, "", rows)
				require.NoError(t, err)
				want := l.stepSeconds(callsOf(t, n, rows))
				assert.InEpsilon(t, want, made.Step, 0.01, "%s: %s, batch of %d", name, other, rows)
				assert.Less(t, made.Forward, made.Step)
				assert.InDelta(t, 1, made.Measured+made.Between+made.Beyond+made.Unknown, 1e-9)
			}
		}
		left := table.LeaveOut()
		assert.Positive(t, left.Shapes)
		assert.Less(t, left.Mean, 0.1, name)
	}
}

// The range of a prediction states how much of it was measured.
func TestRangesAreStated(t *testing.T) {
	traced := zoo(t, "ConvNet3", 3, 32, 32)
	w := &tracer{law: cpuLaw}
	w.step(callsOf(t, traced, 8))
	table, err := FromTrace(w.trace(t), traced, 8)
	require.NoError(t, err)
	p := NewPredictor(table)
	same, err := p.Predict(traced, "same", 8)
	require.NoError(t, err)
	assert.Equal(t, 1.0, same.Measured)
	larger, err := p.Predict(traced, "same", 64)
	require.NoError(t, err)
	assert.Greater(t, larger.Outside(), 0.5)
	other, err := p.Predict(zoo(t, "CIFARResNet20", 3, 32, 32), "", 8)
	require.NoError(t, err)
	assert.Positive(t, other.Unknown)
	again, err := p.Predict(traced, "same", 8)
	require.NoError(t, err)
	assert.Equal(t, same, again)
}

// Without the profiler, the table has the measured time of a step, and operators with many recorded calls lose most.
func TestTheProfilerIsSubtracted(t *testing.T) {
	n := zoo(t, "CharGPT", 16)
	for _, share := range []float64{0.3, 0.8, 1.5} {
		table, err := FromTrace(sampleOf(t, "CharGPT"), n, 0)
		require.NoError(t, err)
		before := table.sums().host
		table.Calibrate(share * before)
		require.NoError(t, table.Validate())
		assert.InEpsilon(t, share*before, table.sums().host, 1e-4)
		made, err := NewPredictor(table).Predict(n, "", 4)
		require.NoError(t, err)
		assert.InEpsilon(t, share*before, made.Step, 1e-4)
	}
	cuda := &tracer{law: law{launch: 5e-6, operation: 1e-9, cuda: true}}
	net := zoo(t, "ConvNet3", 3, 32, 32)
	cuda.step(callsOf(t, net, 8))
	table, err := FromTrace(cuda.trace(t), net, 8)
	require.NoError(t, err)
	table.Calibrate(1)
	assert.InEpsilon(t, 1, table.sums().device, 1e-4)
}

// Steps of a trace that do not fit the network cause an error with the event.
func TestForeignTracesAreErrors(t *testing.T) {
	n := zoo(t, "ConvNet3", 3, 32, 32)
	calls := callsOf(t, n, 8)
	forward := func(w *tracer, calls []Call) {
		for k := range calls {
			if calls[k].Name != Updating {
				w.run("aten::"+calls[k].Name, calls[k].Shapes, k+1, 1e-6)
			}
		}
	}
	for name, c := range map[string]struct {
		trace func(*tracer)
		rows  int
		want  string
	}{
		"another network": {func(w *tracer) { w.step(callsOf(t, zoo(t, "ConvNet", 3, 32, 32), 8)) }, 0,
			"has too few calls of conv2d of module conv1.layers.0 with shapes"},
		"a part of a larger network": {func(w *tracer) {
			w.step(append([]Call{{Name: "linear", Shapes: "8x32 32x32"}}, calls...))
		}, 0, "event 0, aten::linear with shapes 32x32 8x32, is not in the network"},
		"another batch size": {func(w *tracer) { w.step(calls) }, 16, "it has aten::conv2d of shapes"},
		"several steps without marks": {func(w *tracer) { w.step(calls); w.step(calls) }, 0,
			"2 optimizer steps and no step markers; call the profiler's step()"},
		"an evaluation": {func(w *tracer) { forward(w, calls) }, 0, "has no backward pass; record whole training"},
		"no optimizer": {func(w *tracer) {
			forward(w, calls)
			w.run(backward+": Node", "", 1, 1e-6)
		}, 0, "no optimizer step (a range named Optimizer.step)"},
		"several passes in a step": {func(w *tracer) {
			w.note("ProfilerStep#1", func() {
				w.step(calls)
				forward(w, calls)
			})
		}, 0, "is not in the network; check that the trace is of this network, and record steps with a single forward"},
		"kernels of a graph": {func(w *tracer) {
			w.step(calls)
			w.add(`{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5, "dur": 50}`)
		}, 0, "kernels with 100% of the kernel time, such as event"},
		"overlapping steps": {func(w *tracer) {
			w.note("ProfilerStep#1", func() { w.note("ProfilerStep#2", func() { w.step(calls) }) })
		}, 0, "steps 1 and 2 overlap"},
		"a damaged second step": {func(w *tracer) {
			w.note("ProfilerStep#1", func() { w.step(calls) })
			w.note("ProfilerStep#2", func() { w.step(calls[1:]) })
		}, 0, "step 2 of 2: the step at event"},
		"nothing before the optimizer": {func(w *tracer) {
			w.note(optimizing, func() { w.run("aten::add_", "8x8", 0, 1e-6) })
		}, 0, "the first step has no forward operators with shapes; record whole steps"},
	} {
		w := &tracer{law: cpuLaw}
		c.trace(w)
		_, err := FromTrace(w.trace(t), n, c.rows)
		if assert.Error(t, err, name) {
			assert.Contains(t, err.Error(), c.want, name)
		}
	}
}

// An optimizer that updates lists of parameters divides its time among them.
func TestListsOfParametersAreDivided(t *testing.T) {
	n := zoo(t, "ConvNet3", 3, 32, 32)
	calls := callsOf(t, n, 8)
	w := &tracer{law: cpuLaw, lists: true}
	w.step(calls)
	table, err := FromTrace(w.trace(t), n, 8)
	require.NoError(t, err)
	var sum, want float64
	for k := range calls {
		if c := &calls[k]; c.Name == Updating {
			want += w.seconds(c, 0)
		}
	}
	for _, m := range table.Measured {
		if m.Name == Updating {
			sum += float64(m.Calls) * m.ForwardHost
		}
	}
	assert.InEpsilon(t, w.launch+want, sum, 1e-3)
}

func TestTablesAreValidated(t *testing.T) {
	sound := func() *Table {
		return &Table{Network: "Net", Rows: 4, Measured: []Measurement{{Name: "linear", Shapes: "4x2", Calls: 1}}}
	}
	require.NoError(t, sound().Validate())
	require.NoError(t, (&Table{}).Validate())
	for want, change := range map[string]func(*Table){
		"rows is 0; must be from 1 to 65536": func(t *Table) { t.Rows = 0 },
		"set network":                        func(t *Table) { t.Network = "" },
		"steps is -1":                        func(t *Table) { t.Steps = -1 },
		"rest_host is NaN; must be finite":   func(t *Table) { t.RestHost = math.NaN() },
		"plain is -2":                        func(t *Table) { t.Plain = -2 },
		"duplicate measurement of linear with shapes 4x2": func(t *Table) {
			t.Measured = append(t.Measured,
				t.Measured[0])
		},
		"operator 1 has no name":                           func(t *Table) { t.Measured[0].Name = "" },
		"linear: calls is 0; must be at least 1":           func(t *Table) { t.Measured[0].Calls = 0 },
		"linear with shapes 4x2: an amount is negative or": func(t *Table) { t.Measured[0].Bytes = math.Inf(1) },
	} {
		table := sound()
		change(table)
		assert.ErrorContains(t, table.Validate(), want)
	}
}

// Attention whose values have another size than its queries has no fused kernel, so it costs more.
func TestUnfusedAttentionCostsMore(t *testing.T) {
	n := zoo(t, "CharGPT", 16)
	calls := callsOf(t, n, 4)
	table, err := FromTrace(sampleOf(t, "CharGPT"), n, 0)
	require.NoError(t, err)
	f := table.fit()
	for k := range calls {
		if c := calls[k]; c.Name == "scaled_dot_product_attention" {
			other := c
			other.Name += unfused
			other.Bytes *= 2
			assert.Greater(t, f.seconds(&other, 0, 0), f.seconds(&c, 0, 0))
			return
		}
	}
	t.Fatal("the network has no attention")
}

// Any trace gives a valid table whose predictions are finite, or an error.
func FuzzFromTrace(f *testing.F) {
	n, err := model.Zoo("FeedForwardNet2", model.ZooOptions{Input: model.Shape{1, 2, 2}})
	if err != nil {
		f.Fatal(err)
	}
	calls, err := Calls(n, 2)
	if err != nil {
		f.Fatal(err)
	}
	for _, l := range []law{cpuLaw, {launch: 1e-6, operation: 1e-9, cuda: true}} {
		w := &tracer{law: l}
		w.note("ProfilerStep#1", func() { w.step(calls) })
		f.Add([]byte(w.text()))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		trace, err := kineto.Parse(data)
		if err != nil {
			return
		}
		table, err := FromTrace(trace, n, 0)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		require.NoError(t, table.Validate())
		made, err := NewPredictor(table).Predict(n, "", 3)
		require.NoError(t, err)
		require.False(t, math.IsNaN(made.Step) || math.IsInf(made.Step, 0) || made.Step < 0)
	})
}

// BenchmarkPredict measures a prediction of a network of about 100 operators without the cache.
func BenchmarkPredict(b *testing.B) {
	n := zoo(b, "CharGPT", 16)
	table, err := FromTrace(sampleOf(b, "CharGPT"), n, 0)
	require.NoError(b, err)
	p := NewPredictor(table)
	for b.Loop() {
		if _, err := p.Predict(n, "", 5); err != nil {
			b.Fatal(err)
		}
	}
}
