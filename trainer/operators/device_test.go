package operators

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/torch"
	"graft/trainer/probes"
)

// lawOf is a device on which convolutions of odd channels are slow, and whose times vary by a few per cent.
type lawOf struct{ random *rand.Rand }

func (l lawOf) seconds(c *Call, back int) float64 {
	if c.Name == batching || c.Name == losing || c.Name == Updating {
		back = 0
	}
	seconds := 5e-6 + 1e-11*c.Operations + 2e-10*c.Bytes
	if strings.HasPrefix(c.Name, "conv") && c.sizes[2]%8 > 0 {
		seconds *= 2
	}
	return seconds * float64(1+back) * (1 + 0.02*l.random.NormFloat64())
}

// step returns the times of a step.
func (l lawOf) step(n *model.Network, calls []Call) (t torch.StepTimes) {
	size := 0
	for k := range calls {
		size = max(size, calls[k].from+calls[k].length)
	}
	t.Forward, t.Backward = make([]float64, size), make([]float64, size)
	for k := range calls {
		c := &calls[k]
		switch c.Name {
		case Updating:
			t.Updates = append(t.Updates, l.seconds(c, 0))
		case batching:
			t.Batch = l.seconds(c, 0)
		case losing:
			t.Loss = l.seconds(c, 0)
		default:
			t.Forward[c.from], t.Backward[c.from] = l.seconds(c, 0), l.seconds(c, 1)
		}
	}
	return t
}

func (l lawOf) device(t testing.TB, count int) *Device {
	all, err := probes.Draw(probes.Options{Count: count})
	require.NoError(t, err)
	r := NewRecorder(Fast)
	for _, p := range all {
		calls, err := Fast.calls(p.Network, p.Rows)
		require.NoError(t, err)
		var steps, evaluations []torch.StepTimes
		for range 8 {
			step := l.step(p.Network, calls)
			steps = append(steps, step)
			step.Updates = nil
			evaluations = append(evaluations, step)
		}
		require.NoError(t, r.Add(p.Network, p.Rows, steps, evaluations, Whole{}))
	}
	return r.Device(0)
}

// A device predicts networks that were not measured, of any family, size and batch.
func TestDevicesPredictNetworks(t *testing.T) {
	l := lawOf{rand.New(rand.NewPCG(1, 2))}
	d := l.device(t, 160)
	require.NoError(t, d.Validate())
	p := NewDevicePredictor(d)
	for name, input := range map[string]model.Shape{"ConvNet3": {3, 32, 32}, "CIFARResNet20": {3, 32, 32},
		"MobileNetV2": {3, 64, 64}, "MLP": {1, 28, 28}, "CharGPT": {64}, "ViTTiny32": {3, 32, 32}} {
		for _, rows := range []int{8, 64} {
			n := zoo(t, name, input...)
			calls, err := Fast.calls(n, rows)
			require.NoError(t, err)
			want, exact := 0.0, lawOf{rand.New(rand.NewPCG(3, 4))}
			for k := range calls {
				want += exact.seconds(&calls[k], 0)
				if name := calls[k].Name; name != Updating && name != batching && name != losing {
					want += exact.seconds(&calls[k], 1)
				}
			}
			made, err := p.Predict(n, "", rows)
			require.NoError(t, err)
			assert.InEpsilon(t, want, made.Step, 0.1, "%s, a batch of %d", name, rows)
			assert.InDelta(t, 1, made.Between+made.Beyond+made.Unknown, 1e-9)
		}
	}
}

// Layers that graft computes together are one call: a norm, its ReLU and its pool; a ReLU and a pool of 2 x 2.
func TestFusedLayersAreOneCall(t *testing.T) {
	names := func(p Path) (list []string) {
		calls, err := p.calls(zoo(t, "ConvNet2", 3, 32, 32), 4)
		require.NoError(t, err)
		for k := range calls {
			if calls[k].Name != Updating {
				list = append(list, calls[k].Name)
			}
		}
		return list
	}
	require.Equal(t, []string{"batch", "loss", "normalize channels-last", "conv2d channels-last of the input",
		"batch_norm relu avg_pool2d channels-last", "conv2d channels-last",
		"batch_norm relu adaptive_avg_pool2d channels-last", "flatten", "linear", "relu"}, names(Fast))
	require.Equal(t, []string{"batch", "loss", "normalize", "conv2d of the input", "batch_norm", "relu avg_pool2d",
		"conv2d", "batch_norm", "relu", "adaptive_avg_pool2d", "flatten", "linear", "relu"}, names(Exact))
	require.Equal(t, []string{"conv2d", "batch_norm", "relu", "avg_pool2d", "conv2d", "batch_norm", "relu",
		"adaptive_avg_pool2d", "flatten", "linear", "relu"}, names(Program))
}

// A step whose times do not belong to the listed operators is an error.
func TestForeignStepsAreErrors(t *testing.T) {
	n, l := zoo(t, "ConvNet2", 3, 32, 32), lawOf{rand.New(rand.NewPCG(1, 2))}
	calls, err := Fast.calls(n, 4)
	require.NoError(t, err)
	for want, damage := range map[string]func(*torch.StepTimes){
		"the listed layers lack":                  func(t *torch.StepTimes) { t.Forward[3] = 1e-3 },
		"of conv2.layers.1 did not run":           func(t *torch.StepTimes) { t.Forward = t.Forward[:6] },
		"did not run":                             func(t *torch.StepTimes) { t.Updates = t.Updates[1:] },
		"the optimizer has 1 parameters too many": func(t *torch.StepTimes) { t.Updates = append(t.Updates, 1) },
	} {
		step := l.step(n, calls)
		damage(&step)
		err := NewRecorder(Fast).Add(n, 4, []torch.StepTimes{step}, nil, Whole{})
		require.ErrorContains(t, err, want)
	}
}

func TestDeviceFaults(t *testing.T) {
	const point = "1 2 3 0 0 0 0 64 1e6 4096 1e-3 2e-3 1e-3"
	of := func(name string, points ...string) Device {
		return Device{Path: Fast, Operators: []Operator{{name, points}}}
	}
	slow, twice := of("relu", point), of("relu", point)
	slow.Path, twice.Operators = "slow", append(twice.Operators, twice.Operators[0])
	for want, d := range map[string]Device{
		`path is "slow"; expected one of: exact, fast`:           slow,
		"networks is -1; must be at least 0":                     {Networks: -1},
		"operator 1 has no name":                                 of("", point),
		"duplicate operator relu; remove one":                    twice,
		"relu has 0 points; must be from 1 to":                   of("relu"),
		"relu: point 2: got 2 numbers; expected 14":              of("relu", point, "1 2"),
		`number 11 is "-1"; must be finite and at least 0`:       of("relu", "1 2 3 0 0 0 0 64 1e6 4096 -1 2e-3 0"),
		`number 9 is "NaN"; must be finite`:                      of("relu", "1 2 3 0 0 0 0 64 NaN 4096 1 2e-3 0"),
		`size 1 is "0.5"; must be a whole number from 0 to 1125`: of("relu", "0.5 2 3 0 0 0 0 64 1e6 4096 1 2e-3 0"),
		`size 3 is "99999999999999999999"; must`: of("relu", strings.Replace(point, "3",
			"99999999999999999999", 1)),
	} {
		require.ErrorContains(t, d.Validate(), want)
	}
	require.NoError(t, new(Device).Validate())
	valid := of("relu", point)
	require.NoError(t, valid.Validate())
}

// BenchmarkDevicePrediction measures a prediction of a network of about a hundred operators, as a tree and as a graph,
// by a device with fitted surfaces.
//
//   - unseen: a new network, and none of its calls was predicted before (the optimizer's were)
//   - seen: a new network whose calls other networks had before
//   - cached: the same network again
func BenchmarkDevicePrediction(b *testing.B) {
	l := lawOf{rand.New(rand.NewPCG(1, 2))}
	d := l.device(b, 400)
	for name, input := range map[string]model.Shape{"CIFARResNet20": {3, 32, 32}, "CharGPT": {64}} {
		n := zoo(b, name, input...)
		calls, err := Fast.calls(n, 16)
		require.NoError(b, err)
		for state, c := range map[string]struct {
			fingerprint string
			step        int // added to the batch size before each prediction
		}{"unseen": {"", 1}, "seen": {"", 0}, "cached": {"a", 0}} {
			b.Run(name+"/"+state, func(b *testing.B) {
				p, rows := NewDevicePredictor(d), 16
				_, err := p.Predict(n, c.fingerprint, rows)
				require.NoError(b, err)
				for b.Loop() {
					if rows += c.step; rows > mostRows {
						rows = 16
					}
					if _, err := p.Predict(n, c.fingerprint, rows); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(len(calls)), "operators")
			})
		}
	}
}

// Devices that earlier versions of graft measured, with fewer names and sizes, predict nearly the same times.
func TestDevicesOfEarlierVersions(t *testing.T) {
	d := (lawOf{rand.New(rand.NewPCG(1, 2))}).device(t, 160)
	for version, older := range map[string]func(*Call) *Call{"format 0": (*Call).older, "first": (*Call).oldest} {
		old, at := &Device{Path: d.Path, Networks: d.Networks}, map[string]int{}
		for _, o := range d.Operators {
			for _, text := range o.Points {
				m, err := parsePoint(o.Name, text)
				require.NoError(t, err)
				m.call = *older(&m.call)
				k, known := at[m.call.Name]
				if !known {
					k = len(old.Operators)
					at[m.call.Name], old.Operators = k, append(old.Operators, Operator{Name: m.call.Name})
				}
				words := strings.Fields(m.text())
				if version == "first" {
					words = slices.Delete(words, kinds, kinds+1)
				}
				old.Operators[k].Points = append(old.Operators[k].Points, strings.Join(words, " "))
			}
		}
		require.NoError(t, old.Validate())
		for _, name := range []string{"ResNet18", "ConvNeXt32", "ViTTiny32"} {
			made, err := NewDevicePredictor(old).Predict(zoo(t, name), "", 16)
			require.NoError(t, err)
			recent, err := NewDevicePredictor(d).Predict(zoo(t, name), "", 16)
			require.NoError(t, err)
			require.InEpsilon(t, recent.Step, made.Step, 0.15, "%s of %s", name, version)
			require.LessOrEqual(t, made.Unknown, recent.Unknown+1e-9, "%s of %s", name, version)
		}
	}
	d.Format = pointFormat + 1
	require.ErrorContains(t, d.Validate(), "a newer version of graft may have written the profile")
}

// A call that only reads values before the first weights has no backward pass, and an operator that was not measured
// takes the times of its stand-in.
func TestOperatorsWithoutMeasurements(t *testing.T) {
	d := (lawOf{rand.New(rand.NewPCG(1, 2))}).device(t, 160)
	f := d.fit()
	calls, err := Fast.calls(zoo(t, "MLP"), 16)
	require.NoError(t, err)
	k := slices.IndexFunc(calls, func(c Call) bool { return strings.HasPrefix(c.Name, "flatten") })
	require.True(t, strings.HasSuffix(calls[k].Name, withoutGradient), calls[k].Name)
	times, _ := f.seconds(&calls[k])
	require.Positive(t, times[forwardTime])
	require.Zero(t, times[backwardTime])

	c := Call{Name: "gelu", Bytes: 1 << 20, sizes: sizes{1 << 17, 64, 1}}
	c.sizes[footprint], c.sizes[kinds] = 4096, 12
	for name, other := range map[string]string{"hardswish": "hardtanh", "movedim": "unflatten", "exp": "mul",
		"narrow": "chunk", "repeat": "cat"} {
		require.Empty(t, f.points[name], name)
		require.NotEmpty(t, f.points[other], other)
		require.Equal(t, other, f.nearest(name), name)
		c.Name = name
		times, at := f.seconds(&c)
		require.Positive(t, times[backwardTime], name)
		require.Equal(t, unknownRange, at, name)
	}
}

// The operators of a network add up to its untimed step and evaluation. If the reference is slower, these are shorter.
func TestOperatorsAddUpToTheStep(t *testing.T) {
	all, err := probes.Draw(probes.Options{Count: 3})
	require.NoError(t, err)
	n, rows, l := all[0].Network, all[0].Rows, lawOf{rand.New(rand.NewPCG(1, 2))}
	calls, err := Fast.calls(n, rows)
	require.NoError(t, err)
	calls = slices.Clone(calls)
	r := NewRecorder(Fast)
	for _, step := range []float64{3e-3, 2e-3, 4e-3} {
		one := l.step(n, calls)
		evaluation := one
		evaluation.Updates = nil
		require.NoError(t, r.Add(n, rows, []torch.StepTimes{one}, []torch.StepTimes{evaluation},
			Whole{Step: step, Evaluation: step / 2, Reference: step / 10}))
	}
	sums := [pointTimes]float64{}
	for k := range calls {
		for i, v := range r.calls[calls[k].same()].measured(2e-4).times {
			sums[i] += v
		}
	}
	require.InEpsilon(t, 2e-3, sums[forwardTime]+sums[backwardTime], 0.1, "the shares vary between the measurements")
	require.InEpsilon(t, 1e-3, sums[evaluationTime], 0.1)
	require.Equal(t, 1, r.Device(2e-4).Networks)
}

// A measurement counts less if other programs slowed the reference down. Faster references do not make times longer.
func TestTimesAreDividedByTheSlowdown(t *testing.T) {
	for name, c := range map[string]struct {
		times []timed
		quiet float64
		want  float64
	}{
		"a quiet machine":                 {[]timed{{5, 1}, {5, 1}}, 1, 5},
		"twice as slow":                   {[]timed{{10, 2}}, 1, 5},
		"one of five times is too short":  {[]timed{{5, 1}, {10, 2}, {1, 1}, {15, 3}, {20, 4}}, 1, 5},
		"a fast moment of the reference":  {[]timed{{5, 0.5}}, 1, 5},
		"without a reference":             {[]timed{{7, 0}, {5, 0}, {6, 0}, {4, 0}, {8, 0}}, 0, 5},
		"the reference of one is unknown": {[]timed{{5, 0}, {10, 2}}, 1, 5},
	} {
		r := &recorded{}
		r.times[backwardTime] = c.times
		require.InDelta(t, c.want, r.measured(c.quiet).times[backwardTime], 1e-12, name)
		require.Zero(t, r.measured(c.quiet).times[forwardTime], name)
	}
}
