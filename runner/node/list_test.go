package node_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/telemetry"
	"graft/runner/app"
	"graft/runner/node"
)

// source is a machine with devices whose counters advance by one joule per reading.
type source struct {
	devices  []telemetry.Device
	readings float64
	broken   bool
}

func (s *source) Devices() []telemetry.Device { return s.devices }

func (s *source) Read(device int) (telemetry.Reading, error) {
	if s.broken {
		return telemetry.Reading{Device: device}, errors.New("the GPU is lost")
	}
	s.readings++
	return telemetry.Reading{Device: device, EnergyJoules: telemetry.Known(s.readings),
		MemoryUsedMiB: telemetry.Known(512.0)}, nil
}

func (s *source) Close() error { return nil }

// machine returns an environment with the given GPUs and processors; nil means none.
func machine(gpus, processors telemetry.Source) *app.Env {
	return &app.Env{Files: files.OS{}, Now: time.Now, Log: zap.NewNop(),
		Telemetry: func(on bool) (telemetry.Source, error) {
			s := map[bool]telemetry.Source{true: gpus, false: processors}[on]
			if s == nil {
				return nil, errors.New("there is no meter")
			}
			return s, nil
		}}
}

func TestDevicesOfAMachineWithGPUs(t *testing.T) {
	s := &source{devices: []telemetry.Device{{UUID: "GPU-1", Name: "H100", MemoryMiB: telemetry.Known(81559.0)}}}
	r, err := node.Devices(t.Context(), machine(s, nil))
	require.NoError(t, err)
	require.Empty(t, r.Slots)
	require.Empty(t, r.Note)
	require.Len(t, r.GPUs, 1)
	memory, known := r.GPUs[0].Reading.MemoryUsedMiB.Get()
	require.True(t, known)
	require.Equal(t, 512.0, memory)
	_, known = r.GPUs[0].Reading.PowerWatts.Get()
	require.False(t, known, "what the device does not offer is unknown")
	s.broken = true
	r, err = node.Devices(t.Context(), machine(s, nil))
	require.NoError(t, err)
	require.Equal(t, "the GPU is lost", r.GPUs[0].Fault)
}

func TestDevicesOfAMachineWithoutGPUs(t *testing.T) {
	r, err := node.Devices(t.Context(),
		machine(nil, &source{devices: []telemetry.Device{{UUID: "intel-rapl:0", Name: "package-0"}}}))
	require.NoError(t, err)
	require.Len(t, r.Slots, 4)
	require.Equal(t, "no GPUs: there is no meter", r.Note)
	watts, known := r.Processors[0].Reading.PowerWatts.Get()
	require.True(t, known)
	require.Positive(t, watts)
	r, err = node.Devices(t.Context(), machine(nil, nil))
	require.NoError(t, err)
	require.Equal(t, "no GPUs: there is no meter; no energy: there is no meter", r.Note)
	require.Empty(t, r.Processors)
}

func TestDevicesOfAFileOfNvidiaSMI(t *testing.T) {
	path, env := filepath.Join(t.TempDir(), "usage.csv"), machine(nil, nil)
	require.NoError(t, env.WriteText(path, `timestamp, index, name, power.draw [W], utilization.gpu [%]
2025/01/01 00:00:00.000, 0, H100, 100.00 W, 50 %
2025/01/01 00:00:01.000, 0, H100, 300.00 W, [N/A]
2025/01/01 00:00:02.000, 0, H100, 200.00 W, 100 %
2025/01/01 00:00:03.0`))
	r, err := node.ReadSMI(env, path)
	require.NoError(t, err)
	require.True(t, r.Cut)
	require.Len(t, r.Devices, 1)
	d := r.Devices[0]
	require.Equal(t, 3, d.Samples)
	require.Equal(t, 2.0, d.Seconds)
	require.Equal(t, telemetry.Known(450.0), d.Joules)
	require.Equal(t, telemetry.Known(75.0), d.MeanUtilizationPercent)
	require.Equal(t, telemetry.Known(300.0), d.PeakWatts)
	require.NoError(t, env.WriteText(path, "a,b\n"))
	_, err = node.ReadSMI(env, path)
	require.Equal(t, failure.Damaged, failure.CodeOf(t.Context(), err))
}
