package costs

import (
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/internal/files"
)

func TestShippedHardwareIsWrittenByFormat(t *testing.T) {
	for _, h := range Library() {
		text, err := shipped.ReadFile("hardware/" + h.Name + ".toml")
		require.NoError(t, err)
		require.Equal(t, string(text), Format(h), "run TestShippedConstantsAreTheFit with -update")
		require.NotEmpty(t, h.Sources)
	}
}

func TestInvalidHardware(t *testing.T) {
	for want, change := range map[string]func(*Hardware){
		"name: missing":               func(h *Hardware) { h.Name = "" },
		"device.half_rate: got 0":     func(h *Hardware) { h.Device.HalfRate = 0 },
		"device.bandwidth: got NaN":   func(h *Hardware) { h.Device.Bandwidth = math.NaN() },
		"device.launch: got -1":       func(h *Hardware) { h.Device.Launch = -1 },
		"device.efficiency: got 1.5":  func(h *Hardware) { h.Device.Efficiency = 1.5 },
		"device.overlap: got 0.5":     func(h *Hardware) { h.Device.Overlap = 0.5 },
		"must not be negative":        func(h *Hardware) { h.Device.Tile = -1 },
		"link.devices: got 0":         func(h *Hardware) { h.Link.Devices = 0 },
		"link.rings: got 2 numbers":   func(h *Hardware) { h.Link.Rings = []float64{1, 1} },
		"link.rings: got 0; expected": func(h *Hardware) { h.Link.Rings = make([]float64, 7) },
		"rows: got 0; expected 1":     func(h *Hardware) { h.Checked = []Check{{}} },
		"expected finite errors":      func(h *Hardware) { h.Checked = []Check{{Rows: 1, Mean: math.NaN()}} },
		"a finite value of \"explained\"": func(h *Hardware) {
			h.Checked = []Check{{Rows: 1, Explained: math.Inf(-1)}}
		},
		"network.message: got +Inf":       func(h *Hardware) { h.Network.Message = math.Inf(1) },
		"network.step: got 2; expected 0": func(h *Hardware) { h.Network.Step = 2 },
		"steps.tensor: got -1":            func(h *Hardware) { h.Steps.Tensor = -1 },
		"tf32_rate is -1":                 func(h *Hardware) { h.Device.Tf32Rate = -1 },
		"steps.checked: \"x\": rows is 0": func(h *Hardware) { h.Steps.Checked = []StepCheck{{On: "x"}} },
	} {
		h := *a100(t)
		require.NoError(t, h.Validate())
		change(&h)
		require.ErrorContains(t, h.Validate(), want)
	}
}

func TestFindHardware(t *testing.T) {
	fsys := files.OS{}
	_, err := Find(fsys, "a1000")
	require.ErrorContains(t, err, `unknown hardware "a1000"; `+
		`did you mean a100; expected one of: a100, h100, h200, l4, v100`)
	_, err = Find(fsys, "missing.toml")
	require.ErrorContains(t, err, "read hardware constants: ")
	path := t.TempDir() + "/mine.toml"
	require.NoError(t, os.WriteFile(path, []byte(Format(a100(t))), 0o600))
	h, err := Find(fsys, path)
	require.NoError(t, err)
	require.Equal(t, a100(t), h)
}

// Any text is either refused or hardware that formats to the same hardware.
func FuzzParse(f *testing.F) {
	for _, h := range Library() {
		f.Add(Format(h))
	}
	f.Add(strings.Replace(Format(a100(f)), "mean = 0.0", "mean = nan", 1))
	f.Add("name = \"x\"\n[device]\nhalf_rate = nan\n")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := Parse("fuzz.toml", []byte(text))
		if err != nil {
			return
		}
		again, err := Parse("again.toml", []byte(Format(h)))
		require.NoError(t, err)
		require.Equal(t, h, again)
	})
}

// Times are finite and positive, and larger products never take less time.
func TestTimesOfProducts(t *testing.T) {
	size := rapid.IntRange(1, 1<<14)
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.SampledFrom(Library()).Draw(t, "hardware")
		o := Operator{Kind: Product, Precision: Precision(rapid.IntRange(0, 1).Draw(t, "precision")), Batch: 1,
			Rows: size.Draw(t, "rows"), Columns: size.Draw(t, "columns"), Inner: size.Draw(t, "inner")}
		seconds := h.DeviceSeconds(&o)
		require.Greater(t, seconds, o.Operations()/h.Device.rate(&o)*(1-1e-12))
		require.False(t, math.IsInf(seconds, 0))
		larger := o
		larger.Rows *= 8
		larger.Columns *= 8
		larger.Inner *= 8 // multiples of the alignment
		require.Greater(t, h.DeviceSeconds(&larger), seconds)
	})
}
