package adaptive_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/adaptive"
	"graft/internal/files"
	"graft/trainer/goodput"
)

var update = flag.Bool("update", false, "write the example data")

// exampleData is the folder of the example, with made-up applications.
const exampleData = "../../scenarios/adaptive/applications"

// madeUp describes an application of the example. Its steps follow [goodput.Speed]. Its gradient noise grows from epoch
// to epoch, so large batches pay off more towards the end.
type madeUp struct {
	name            string
	speed           goodput.Speed
	batches, device []int
	epochs          int
	steps           float64 // per epoch, with the smallest batch
	first, last     float64 // gradient noise, variance over square, in the first and the last epoch
}

var examples = []madeUp{
	{"vision", goodput.Speed{ComputeStart: 0.02, ComputeExample: 0.0012, NodesStart: 0.03, NodesDevice: 0.002,
		NodeStart: 0.01, NodeDevice: 0.0005, Overlap: 2},
		[]int{64, 128, 256, 512, 1024}, []int{16, 32, 64, 128, 256}, 30, 400, 4, 40},
	{"speech", goodput.Speed{ComputeStart: 0.05, ComputeExample: 0.006, NodesStart: 0.09, NodesDevice: 0.004,
		NodeStart: 0.03, NodeDevice: 0.001, Overlap: 1.6},
		[]int{16, 32, 64, 128, 256}, []int{8, 16, 32, 64}, 40, 300, 2, 20},
	{"language", goodput.Speed{ComputeStart: 0.08, ComputeExample: 0.03, NodesStart: 0.25, NodesDevice: 0.01,
		NodeStart: 0.06, NodeDevice: 0.002, Overlap: 2.5},
		[]int{8, 16, 32, 64, 128}, []int{2, 4, 8, 16}, 6, 900, 8, 16},
}

// examplePlacements lists the measured placements. A fit gives the others.
var examplePlacements = []string{"1", "2", "3", "4", "11", "12", "13", "14", "22", "23", "24", "33", "34", "44", "111",
	"222", "333", "444", "1111", "2222", "3333", "4444"}

// files adds each file of the application.
func (m *madeUp) files(add func(name, text string)) {
	var b strings.Builder
	b.WriteString("placement,local_bsz,step_time,sync_time\n")
	for _, placement := range examplePlacements {
		var nodes []int
		for _, c := range placement {
			nodes = append(nodes, int(c-'0'))
		}
		for _, device := range m.device {
			step, sync, _ := m.speed.Step(nodes, device)
			fmt.Fprintf(&b, "%s,%d,%.5f,%.5f\n", placement, device, step, sync)
		}
	}
	add("placements.csv", b.String())
	b.Reset()
	b.WriteString("num_nodes,num_replicas,local_bsz,step_time,sync_time\n")
	for _, place := range [][2]int{{6, 12}, {6, 24}, {8, 16}, {8, 32}} {
		for _, device := range m.device {
			step, sync, _ := m.speed.Step(slices.Repeat([]int{place[1] / place[0]}, place[0]), device)
			fmt.Fprintf(&b, "%d,%d,%d,%.5f,%.5f\n", place[0], place[1], device, step, sync)
		}
	}
	add("scalability.csv", b.String())
	for _, batch := range m.batches {
		add(fmt.Sprintf("validation-%d.csv", batch), m.run(batch))
	}
}

// run returns the record of a training run with one batch size.
func (m *madeUp) run(batch int) string {
	var b strings.Builder
	b.WriteString("progress,iteration,grad_sqr,grad_var\n")
	iteration := 0.0
	for e := range m.epochs {
		square := 1 / float64(e+1)
		noise := goodput.Noise{Square: square,
			Variance: square * m.first * math.Pow(m.last/m.first, float64(e)/float64(m.epochs-1))}
		iteration += m.steps / noise.Gain(float64(batch)/float64(m.batches[0]))
		fmt.Fprintf(&b, "%g,%.1f,%.5g,%.5g\n", m.steps*float64(e+1), iteration, noise.Square, noise.Variance)
	}
	return b.String()
}

// exampleWorkload draws jobs. Users request the smallest batch on each device.
func exampleWorkload(seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	b.WriteString("name,time,application,num_replicas,batch_size\n")
	now := 0.0
	for k := range 24 {
		m := examples[random.IntN(len(examples))]
		devices := 1 << random.IntN(4)
		now += random.ExpFloat64() * 100
		fmt.Fprintf(&b, "%s-%d,%.0f,%s,%d,%d\n", m.name, k, now, m.name, devices, m.batches[0]*devices)
	}
	return b.String()
}

// The example data equals its generator's output. To update: go test ./cluster/adaptive -run ExampleData -update
func TestExampleDataIsGenerated(t *testing.T) {
	all := map[string]string{}
	facts := "application,epochs,device_most,alone\n"
	for _, m := range examples {
		facts += fmt.Sprintf("%s,%d,%d,0\n", m.name, m.epochs, m.device[len(m.device)-1])
		m.files(func(name, text string) { all[filepath.Join("traces", m.name, name)] = text })
	}
	all["applications.csv"] = facts
	for k := range uint64(3) {
		all[filepath.Join("workloads", "busy", fmt.Sprintf("workload-%d.csv", k+1))] = exampleWorkload(k + 1)
	}
	for name, text := range all {
		path := filepath.Join(exampleData, name)
		if *update {
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		}
		there, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, text, string(there), name)
	}
}

// Applications of the example read back with their epochs, their limits and their training time on one device.
func TestExampleApplicationsReadBack(t *testing.T) {
	apps, err := adaptive.ReadApplications(files.OS{}, exampleData, nil)
	require.NoError(t, err)
	for _, m := range examples {
		a := apps[m.name]
		require.Equal(t, m.epochs, a.Epochs)
		require.Equal(t, goodput.Limits{Least: m.batches[0], Most: m.batches[len(m.batches)-1],
			DeviceLeast: m.device[0], DeviceMost: m.device[len(m.device)-1]}, a.Limits)
		step, _, err := m.speed.Step([]int{1}, m.batches[0])
		require.NoError(t, err)
		want := step * m.steps * float64(m.epochs)
		alone, err := a.OneDevice()
		require.NoError(t, err)
		require.InEpsilon(t, want, alone, 0.02)
	}
}
