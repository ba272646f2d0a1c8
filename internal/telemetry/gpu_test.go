package telemetry

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/stat"
)

// Over ten seconds of any load, the energy counter of a real GPU agrees within 5% with the power that nvidia-smi
// prints.
func TestEnergyOfAGPU(t *testing.T) {
	gpus, err := OpenNVML("")
	if err != nil {
		t.Skip("left out: no NVIDIA GPU is there: " + err.Error())
	}
	defer gpus.Close()
	devices := gpus.Devices()
	if _, err := exec.LookPath("nvidia-smi"); err != nil || len(devices) == 0 {
		t.Skip("left out: there is no nvidia-smi, or no device")
	}
	before, err := gpus.Read(0)
	require.NoError(t, err)
	if !before.EnergyJoules.known {
		t.Skip("left out: the GPU has no energy counter")
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	text, _ := exec.CommandContext(ctx, "nvidia-smi", "-i", devices[0].UUID, "--query-gpu=power.draw",
		"--format=csv,noheader,nounits", "-lms", "100").Output()
	after, err := gpus.Read(0)
	require.NoError(t, err)
	elapsed := time.Since(began).Seconds()
	var watts []float64
	for line := range strings.Lines(string(text)) {
		if v, err := strconv.ParseFloat(strings.TrimSpace(line), 64); err == nil {
			watts = append(watts, v)
		}
	}
	require.NotEmpty(t, watts, "nvidia-smi printed %q", text)
	require.InEpsilon(t, stat.Mean(watts)*elapsed, after.EnergyJoules.value-before.EnergyJoules.value, 0.05)
}
