package app_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/telemetry"
	"graft/runner/app"
)

// twoGPUs is a source of two GPUs of one model; the second is in use.
type twoGPUs struct{ closed bool }

func (*twoGPUs) Devices() []telemetry.Device {
	one := telemetry.Device{UUID: "GPU-a", Name: "made up", MemoryMiB: telemetry.Known(1000.0)}
	two := one
	two.Index, two.UUID = 1, "GPU-b"
	return []telemetry.Device{one, two}
}

func (*twoGPUs) Read(device int) (telemetry.Reading, error) {
	if device == 0 {
		return telemetry.Reading{}, nil // all values are unknown
	}
	return telemetry.Reading{Device: 1, MemoryUsedMiB: telemetry.Known(400.0)}, nil
}

func (g *twoGPUs) Close() error { g.closed = true; return nil }

func TestDeviceMemory(t *testing.T) {
	source, visible := &twoGPUs{}, ""
	env := &app.Env{Telemetry: func(bool) (telemetry.Source, error) { return source, nil },
		Getenv: func(name string) string {
			if name == "CUDA_VISIBLE_DEVICES" {
				return visible
			}
			return ""
		}}
	used, whole, err := app.DeviceMemory(env, "cuda:1")
	require.NoError(t, err)
	require.Equal(t, []int64{400 << 20, 1000 << 20}, []int64{used, whole})
	require.True(t, source.closed)
	_, _, err = app.DeviceMemory(env, "cuda")
	require.ErrorContains(t, err, "NVML does not report the memory")
	_, _, err = app.DeviceMemory(env, "cuda:2")
	require.ErrorContains(t, err, "NVML lists only 2 devices")
	visible = "GPU-b"
	used, _, err = app.DeviceMemory(env, "cuda:0")
	require.NoError(t, err)
	require.Equal(t, int64(400<<20), used)
	_, _, err = app.DeviceMemory(&app.Env{}, "cuda:0")
	require.ErrorContains(t, err, "measurements are disabled")
}
