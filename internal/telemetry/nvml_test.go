package telemetry

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeNVML compiles the stand-in for NVIDIA's library.
func fakeNVML(t *testing.T, flags ...string) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("left out: no C compiler named cc; install gcc")
	}
	path := filepath.Join(t.TempDir(), "libfake.so")
	out, err := exec.Command(cc, append(flags, "-shared", "-fPIC", "-Wall", "-Werror", "-o", path,
		"testdata/fake_nvml.c")...).CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}

// found holds what a process reads from a library.
type found struct {
	Error    string
	Devices  []Device
	Readings []Reading
	Failures []string
}

// look opens a library in a separate process, since a library's functions stay bound, and a missing function would end
// the process.
func look(t *testing.T, library string, values ...string) (seen found) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^TestNVMLChild$")
	out := filepath.Join(t.TempDir(), "seen.json")
	child.Env = append(append(os.Environ(), "GRAFT_NVML_LIBRARY="+library, "GRAFT_NVML_OUT="+out), values...)
	text, err := child.CombinedOutput()
	require.NoError(t, err, string(text))
	content, err := os.ReadFile(out)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(content, &seen))
	return seen
}

// TestNVMLChild is the body of the processes that look starts.
func TestNVMLChild(t *testing.T) {
	library, out := os.Getenv("GRAFT_NVML_LIBRARY"), os.Getenv("GRAFT_NVML_OUT")
	if out == "" {
		t.Skip("left out: runs in processes of other tests")
	}
	seen := found{}
	n, err := OpenNVML(library)
	if err != nil {
		require.ErrorIs(t, err, ErrNoNVML)
		seen.Error = err.Error()
	} else {
		seen.Devices = n.Devices()
		for _, d := range seen.Devices {
			r, err := n.Read(d.Index)
			seen.Readings = append(seen.Readings, r)
			if err != nil {
				seen.Failures = append(seen.Failures, err.Error())
			}
		}
		require.NoError(t, n.Close())
	}
	text, err := json.Marshal(seen)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(out, text, 0o600))
}

var healthy = []string{"FAKE_COUNT=2", "FAKE_UTILIZATION=0", "FAKE_MEMORY_UTILIZATION=30", "FAKE_TOTAL=8589934592",
	"FAKE_FREE=4294967296", "FAKE_USED=5368709120", "FAKE_USED_V2=4294967296",
	"FAKE_POWER=26870", "FAKE_ENERGY=123456789", "FAKE_TEMPERATURE=41", "FAKE_SM_CLOCK=1328", "FAKE_MEMORY_CLOCK=715",
	"FAKE_THROTTLE=5", "FAKE_MIG=0", "FAKE_MODE=3", "FAKE_PID=77"}

// A GPU's values are converted to graft's units, and a known zero stays known.
func TestNVMLReadsAllValues(t *testing.T) {
	seen := look(t, fakeNVML(t), healthy...)
	require.Empty(t, seen.Error)
	require.Empty(t, seen.Failures)
	require.Equal(t, Device{Index: 1, UUID: "GPU-1", Name: "Fake 1", MemoryMiB: Known(8192.0), MIG: Known(false),
		ComputeMode: "exclusive process"}, seen.Devices[1])
	require.False(t, seen.Devices[1].Shareable())
	require.Equal(t, Reading{Device: 1, UtilizationPercent: Known(0.0), MemoryUtilizationPercent: Known(30.0),
		MemoryUsedMiB: Known(4096.0), MemoryFreeMiB: Known(4096.0), PowerWatts: Known(26.87),
		EnergyJoules: Known(123456.789), TemperatureCelsius: Known(41.0), SMClockMHz: Known(1328.0),
		MemoryClockMHz: Known(715.0), Throttle: Known(ThrottleIdle | ThrottlePowerCap),
		Processes: Known([]Process{{PID: 77, MemoryMiB: Known(512.0), UtilizationPercent: Known(64.0)}, {PID: 78}})},
		seen.Readings[1])
}

// A value that a GPU does not offer is unknown and not a failure. A failure is described by a sentence.
func TestNVMLFaults(t *testing.T) {
	library := fakeNVML(t)
	with := func(more ...string) []string { return append(append([]string{}, healthy...), more...) }
	for name, test := range map[string]struct {
		library string
		values  []string
		check   func(seen found)
	}{
		"without values all is unknown": {library, []string{"FAKE_COUNT=1"}, func(seen found) {
			require.Empty(t, seen.Failures)
			require.Equal(t, Reading{}, seen.Readings[0])
			require.Equal(t, Known(false), seen.Devices[0].MIG)
		}},
		"functions that the library lacks are not called": {fakeNVML(t, "-DOLD"), healthy, func(seen found) {
			require.Empty(t, seen.Failures)
			require.Equal(t, Reading{Device: 1}, seen.Readings[1])
		}},
		"a lost GPU": {library, with("FAKE_POWER=!15"), func(seen found) {
			require.Equal(t, "read GPU 0: the GPU is lost; reset it or restart the machine", seen.Failures[0])
			require.Equal(t, Optional[float64]{}, seen.Readings[0].PowerWatts)
		}},
		"MIG": {library, with("FAKE_MIG=1", "FAKE_UTILIZATION=!3"), func(seen found) {
			require.Equal(t, Known(true), seen.Devices[0].MIG)
			require.Equal(t, Optional[float64]{}, seen.Readings[0].UtilizationPercent)
			require.Equal(t, Known(26.87), seen.Readings[0].PowerWatts)
		}},
		"an old function for memory": {library, with("FAKE_USED_V2=!3"), func(seen found) {
			require.Equal(t, Known(5120.0), seen.Readings[0].MemoryUsedMiB)
		}},
		"counts of processes that contradict themselves": {library, with("FAKE_LIE=100000"), func(seen found) {
			require.Empty(t, seen.Failures)
			require.Equal(t, Optional[[]Process]{}, seen.Readings[0].Processes)
		}},
		"a driver that is not loaded": {library, with("FAKE_INIT=!9"), func(seen found) {
			require.Contains(t, seen.Error,
				"GPU measurements are not available: start: the driver is not loaded; load it and check with "+
					"nvidia-smi")
		}},
		"a code without words": {library, with("FAKE_COUNT=!12345"), func(seen found) {
			require.Contains(t, seen.Error, "count the GPUs: NVML error code 12345")
		}},
		"too many GPUs": {library, with("FAKE_COUNT=4000000000"), func(seen found) {
			require.Contains(t, seen.Error, "the library reports 4000000000")
		}},
		"no library": {filepath.Join(t.TempDir(), "none.so"), nil, func(seen found) {
			require.Contains(t, seen.Error, "install NVIDIA's driver, or set the path of its library")
			require.NotContains(t, seen.Error, "\n")
		}},
		"a library that is none of NVIDIA's": {"libc.so.6", nil, func(seen found) {
			require.Contains(t, seen.Error, "the library does not have nvmlInit_v2; update NVIDIA's driver")
		}},
	} {
		t.Run(name, func(t *testing.T) { test.check(look(t, test.library, test.values...)) })
	}
}
