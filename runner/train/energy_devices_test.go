package train

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/telemetry"
	"graft/report/runs"
	"graft/runner/app"
	"graft/torch"
)

// racks is a source of GPUs, given by model, with power in proportion to their position.
type racks []string

func (r racks) Devices() []telemetry.Device {
	list := make([]telemetry.Device, len(r))
	for k, name := range r {
		list[k] = telemetry.Device{Index: k, UUID: "GPU-" + string(rune('a'+k)), Name: name,
			MIG: telemetry.Known(name == "MIG")}
	}
	return list
}

func (r racks) Read(device int) (telemetry.Reading, error) {
	if r[device] == "lost" {
		return telemetry.Reading{}, errors.New("the GPU is lost")
	}
	return telemetry.Reading{PowerWatts: telemetry.Known(100.0 * float64(device+1)),
		MemoryUsedMiB: telemetry.Known(float64(device))}, nil
}

func (racks) Close() error { return nil }

// A job measures the GPUs of its processes, starting at its first device, in CUDA's numbering. Their energies add up,
// and one unknown energy makes the sum unknown.
func TestGPUsOfAJob(t *testing.T) {
	known := func(v float64) *float64 { return &v }
	for name, test := range map[string]struct {
		gpus    racks
		visible string
		first   int
		count   int // number of devices; zero means all
		want    runs.EnergySegment
		fault   string
	}{
		"one of several": {racks{"A", "A", "A"}, "", 1, 1,
			runs.EnergySegment{Seconds: 2, Joules: known(400), Method: "integrated", PeakMemory: known(1)}, ""},
		"all from the second": {racks{"A", "A", "A"}, "", 1, 0,
			runs.EnergySegment{Seconds: 2, Joules: known(1000), Method: "integrated", PeakMemory: known(2)}, ""},
		"two that are chosen": {racks{"A", "B", "C"}, "GPU-c,GPU-a,GPU-b", 0, 2,
			runs.EnergySegment{Seconds: 2, Joules: known(800), Method: "integrated", PeakMemory: known(2)}, ""},
		"one is divided": {racks{"MIG", "MIG"}, "", 0, 1,
			runs.EnergySegment{Seconds: 2, Method: "not attributable: MIG", PeakMemory: known(0)}, ""},
		"one is lost": {racks{"lost", "A"}, "GPU-b,GPU-a", 0, 0, runs.EnergySegment{Seconds: 2,
			Method: "integrated, unknown: no readings of power or energy", PeakMemory: known(1)}, ""},
		"unlike models": {racks{"A", "B"}, "", 0, 1, runs.EnergySegment{}, "set CUDA_DEVICE_ORDER=PCI_BUS_ID"},
		"fewer than CUDA has": {racks{"A"}, "", 1, 1, runs.EnergySegment{},
			"find cuda:1 among the GPUs that NVML reports: it reports only 1 GPU"},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(0, 0)
			env := &app.Env{Now: func() time.Time { return now },
				Telemetry: func(gpus bool) (telemetry.Source, error) { require.True(t, gpus); return test.gpus, nil },
				Getenv: func(name string) string {
					return map[string]string{"CUDA_VISIBLE_DEVICES": test.visible}[name]
				}}
			e := &energy{}
			indices, err := e.open(env, torch.Device{CUDA: true, Index: test.first}, test.count)
			if test.fault != "" {
				require.ErrorContains(t, err, test.fault)
				return
			}
			require.NoError(t, err)
			require.NoError(t, e.choose(indices))
			now = now.Add(2 * time.Second)
			require.Equal(t, test.want, e.segment())
		})
	}
}
