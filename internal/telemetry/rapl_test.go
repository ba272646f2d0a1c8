package telemetry

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

// powercapTree writes a folder of counters.
func powercapTree(t *testing.T, contents map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for path, text := range contents {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(path)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, path), []byte(text), 0o600))
	}
	return root
}

var oneSocket = map[string]string{
	"intel-rapl/enabled":               "1\n",
	"intel-rapl:0/name":                "package-0\n",
	"intel-rapl:0/energy_uj":           "9000000\n",
	"intel-rapl:0/max_energy_range_uj": "10000000\n",
	"intel-rapl:0:0/name":              "core\n",
	"intel-rapl:0:1/name":              "dram\n",
	"intel-rapl:0:1/energy_uj":         "5\n",
	"intel-rapl:1/name":                "psys\n",
	"intel-rapl-mmio:0/name":           "package-0\n",
	"intel-rapl-mmio:0/energy_uj":      "77\n",
}

// Counters of domains that do not overlap are measured, also across wrap-around.
func TestRAPLCountsOverWrapAround(t *testing.T) {
	root := powercapTree(t, oneSocket)
	r, err := OpenRAPL(files.ReadOnly{FS: files.OS{}}, root)
	require.NoError(t, err)
	require.Equal(t, []Device{{UUID: "intel-rapl:0", Name: "package-0", MIG: Known(false)},
		{Index: 1, UUID: "intel-rapl:0:1", Name: "dram", MIG: Known(false)}}, r.Devices())
	set := func(zone, value string) {
		require.NoError(t, os.WriteFile(filepath.Join(root, zone, "energy_uj"), []byte(value), 0o600))
	}
	for _, step := range []struct {
		value string
		want  float64
	}{{"9500000", 0.5}, {"250000", 1.25}, {"250000", 1.25}, {"1250000\n", 2.25}} {
		set("intel-rapl:0", step.value)
		reading, err := r.Read(0)
		require.NoError(t, err)
		require.Equal(t, Reading{EnergyJoules: Known(step.want)}, reading)
	}
	set("intel-rapl:0:1", "1") // this counter has no known range
	reading, err := r.Read(1)
	require.NoError(t, err)
	require.Equal(t, Reading{Device: 1}, reading)
	set("intel-rapl:0:1", "many")
	_, err = r.Read(1)
	require.ErrorContains(t, err, `"many" is not a number of microjoules`)
	_, err = r.Read(2)
	require.EqualError(t, err, "read RAPL counter 2: this machine has only 2 counters")
	require.NoError(t, r.Close())
}

func TestRAPLThatCannotBeRead(t *testing.T) {
	_, err := OpenRAPL(files.OS{}, filepath.Join(t.TempDir(), "none"))
	require.ErrorIs(t, err, ErrNoRAPL)
	_, err = OpenRAPL(files.OS{}, t.TempDir())
	require.ErrorIs(t, err, ErrNoRAPL)
	require.ErrorContains(t, err, "as on most virtual machines")
	root := powercapTree(t, oneSocket)
	_, err = OpenRAPL(denied{FS: files.OS{}}, root)
	require.ErrorIs(t, err, ErrNoRAPL)
	require.ErrorContains(t, err, "only root can read the counter")
}

// denied refuses access to counters, as Linux does to users other than root.
type denied struct{ files.FS }

func (d denied) Open(path string) (files.File, error) {
	if filepath.Base(path) == "energy_uj" {
		return nil, &os.PathError{Op: "open", Path: path, Err: os.ErrPermission}
	}
	return d.FS.Open(path)
}
