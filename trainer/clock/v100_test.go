package clock

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/stat"
	"graft/model"
	"graft/net2net"
)

// original is the folder of the published results of the original experiments.
const original = "../../../shared/reference/adaptation"

// An epoch of the original: 50,000 training images and 10,000 test images, both in batches of 64.
const (
	epochSteps    = 782
	epochBatches  = 157
	originalBatch = 64
)

// architecture is a network of the original with some blocks deepened.
type architecture struct {
	network string
	deepen  string // deepened blocks in order, such as 01; empty means none
}

func (a architecture) String() string { return strings.TrimSpace(a.network + " " + a.deepen) }

// make returns the network, deepened as the original did.
func (a architecture) make(t *testing.T) *model.Network {
	n, err := model.Zoo(a.network, model.ZooOptions{})
	require.NoError(t, err)
	for _, block := range a.deepen {
		_, err := net2net.Apply(n, net2net.Action{Kind: "deepen", Target: string(block)},
			net2net.Options{Compat: net2net.Original})
		require.NoError(t, err)
	}
	return n
}

func (a architecture) size(t *testing.T) Size {
	size, err := SizeOf(a.make(t))
	require.NoError(t, err)
	return size
}

// seconds holds times by architecture.
type seconds map[architecture][]float64

// published holds all published epoch times of the original.
type published struct {
	train seconds // an epoch of training
	test  seconds // an evaluation on the test images
	whole seconds // from decision to decision: training, evaluation, decision and surgery
	// added is the increase of whole in one run, from an epoch to the next, in which the network was deepened from the
	// first architecture to the second.
	added map[[2]architecture][]float64
}

// readPublished reads all published epoch times.
func readPublished(t *testing.T) *published {
	p := &published{seconds{}, seconds{}, seconds{}, map[[2]architecture][]float64{}}
	runs, err := filepath.Glob(original + "/starting_weights/*")
	require.NoError(t, err)
	for _, run := range runs {
		p.readRun(t, "ConvNet"+run[len(run)-1:], run+"/runtimes", run+"/training0.epoch.test_acc", "")
	}
	sample := original + "/samples/simulation_early2.training00.epoch."
	p.readRun(t, "ConvNet2", sample+"last_runtime", sample+"test_acc", "000")
	tables, err := filepath.Glob(original + "/simulations/*/data.json")
	require.NoError(t, err)
	for _, path := range tables {
		p.readTable(t, path)
	}
	return p
}

// readRun reads the epochs of a run in which a block was deepened before each of the first epochs. It skips the first
// epoch, in which the device warmed up.
func (p *published) readRun(t *testing.T, network, trained, tested, deepen string) {
	a, b := readColumns(t, trained), readColumns(t, tested)
	for k := 1; k < min(len(a), len(b)); k++ {
		of := architecture{network, deepen[:min(k+1, len(deepen))]}
		p.train[of] = append(p.train[of], a[k][2])
		p.test[of] = append(p.test[of], b[k][1]-a[k][1])
	}
}

// readColumns reads a file of index, seconds since the start, and a value.
func readColumns(t *testing.T, path string) (rows [][]float64) {
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	text, err := csv.NewReader(f).ReadAll()
	require.NoError(t, err)
	for _, cells := range text {
		row := make([]float64, len(cells))
		for k, cell := range cells {
			row[k], err = strconv.ParseFloat(cell, 64)
			require.NoError(t, err)
		}
		rows = append(rows, row)
	}
	return rows
}

// readTable reads the times between decisions of all sequences of a scenario.
func (p *published) readTable(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var table struct {
		Name      string
		Sequences []struct {
			Actions  []int
			Timeleft []float64
		}
	}
	require.NoError(t, json.Unmarshal(text, &table))
	name := strings.TrimSuffix(table.Name, "_v2")
	for _, s := range table.Sequences {
		network := "ConvNet" + name[len(name)-1:]
		first, second := architecture{network, blocks(s.Actions[:1])}, architecture{network, blocks(s.Actions[:2])}
		one, two := s.Timeleft[0]-s.Timeleft[1], s.Timeleft[1]-s.Timeleft[2]
		p.whole[first] = append(p.whole[first], one)
		p.whole[second] = append(p.whole[second], two)
		step := [2]architecture{first, second}
		p.added[step] = append(p.added[step], two-one)
	}
}

// blocks returns the blocks that actions deepened, in order; the fourth action is none.
func blocks(actions []int) string {
	var text []string
	for _, a := range actions {
		if a < 3 {
			text = append(text, strconv.Itoa(a))
		}
	}
	slices.Sort(text)
	return strings.Join(text, "")
}

// Unknowns of the derivation.
const (
	perExample = iota // same for a step and a batch: loading images
	stepCall
	stepLayer
	stepByte
	stepOperation
	batchLayer
	batchByte
	unknowns
)

// Noise of medians that should be equal. The machine was shared, so the same network takes about 2% more or less from
// one scenario to another. The time that a block adds within a run differs by 0.05 s.
const (
	levelNoise = 0.02 // of the seconds
	addedNoise = 0.05 // seconds
)

// derivation is a system of equations for the unknowns.
type derivation struct {
	t *testing.T
	a [][]float64
	b []float64
}

// add adds an equation: steps and batches of an architecture, minus other architectures, take this number of seconds,
// up to the noise.
func (d *derivation) add(seconds, noise, steps, batches float64, of architecture, less ...architecture) {
	row := make([]float64, unknowns)
	count := func(sign float64, s Size) {
		n := float64(originalBatch)
		row[perExample] += sign * (steps + batches) * n
		row[stepCall] += sign * steps
		row[stepLayer] += sign * steps * float64(s.Layers)
		row[stepByte] += sign * steps * n * float64(s.Bytes)
		row[stepOperation] += sign * steps * n * float64(s.Operations)
		row[batchLayer] += sign * batches * float64(s.Layers)
		row[batchByte] += sign * batches * n * float64(s.Bytes)
	}
	count(1, of.size(d.t))
	for _, other := range less {
		count(-1, other.size(d.t))
	}
	scale(row, 1/noise)
	d.a, d.b = append(d.a, row), append(d.b, seconds/noise)
}

// deriveV100 finds the rates that agree best with the published medians. All batches had 64 images, so the cost per
// call cannot be separated from the cost per image. Evaluation charges it per image, because images were loaded one by
// one, and training loads them in the same way.
func deriveV100(t *testing.T, p *published) Costs {
	d := &derivation{t: t}
	each := func(times seconds, steps, batches, less float64) {
		for of, all := range times {
			level := stat.Median(all) - less
			d.add(level, levelNoise*level, steps, batches, of)
		}
	}
	between := v100().Costs.DecisionSeconds + v100().Costs.SurgerySeconds
	each(p.train, epochSteps, 0, 0)
	each(p.test, 0, epochBatches, 0)
	each(p.whole, epochSteps, epochBatches, between)
	for step, all := range p.added {
		d.add(stat.Median(all), addedNoise, epochSteps, epochBatches, step[1], step[0])
	}
	x := stat.NonNegative(d.a, d.b)
	return Costs{
		Step: Rates{CallSeconds: x[stepCall], ExampleSeconds: x[perExample], LayerSeconds: x[stepLayer],
			OperationSeconds: x[stepOperation], ByteSeconds: x[stepByte]},
		Batch: Rates{ExampleSeconds: x[perExample], LayerSeconds: x[batchLayer], ByteSeconds: x[batchByte]}}
}

// deviceTolerance limits the relative error of the shipped profile against a published median. Medians of the same
// network in two scenarios differ by up to 0.9 s of 11 s.
const deviceTolerance = 0.04

// The rates of v100-original follow from the published times. With them, a job is charged for an epoch as long as the
// published epochs took, before and after deepening.
func TestV100IsDerived(t *testing.T) {
	if _, err := os.Stat(original); err != nil {
		t.Skip("left out: the published results of the original are not here")
	}
	found, shipped := readPublished(t), v100().Costs
	derived := deriveV100(t, found)
	for k, name := range RateNames() {
		require.InDelta(t, derived.Step.List()[k], shipped.Step.List()[k], 0.01*derived.Step.List()[k],
			"of a step, %s", name)
		require.InDelta(t, derived.Batch.List()[k], shipped.Batch.List()[k], 0.01*derived.Batch.List()[k],
			"of a batch, %s", name)
	}
	require.GreaterOrEqual(t, len(found.whole), 20, "two networks, and what two actions make of them")
	compare := func(what string, times seconds, steps, batches int) {
		var off []float64
		for of, all := range times {
			published, charged := stat.Median(all), epochCharge(t, of, steps, batches).Seconds()
			require.InEpsilon(t, published, charged, deviceTolerance, "%s of %v, the median of %d", what, of, len(all))
			off = append(off, math.Abs(charged/published-1))
		}
		t.Logf("measured: v100-original is off the published %s of %d networks by %.1f%% in the median and by "+
			"%.1f%% at most", what, len(off), 100*stat.Median(off), 100*slices.Max(off))
	}
	compare("training times of an epoch", found.train, epochSteps, 0)
	compare("test times of an epoch", found.test, 0, epochBatches)
	compare("times between decisions", found.whole, epochSteps, epochBatches)
	compareAdded(t, found)
}

// epochCharge returns the time that the clock charges for steps and batches; if there
// are both, it includes a decision and an operation.
func epochCharge(t *testing.T, of architecture, steps, batches int) time.Duration {
	clock := &Virtual{Profile: v100()}
	n := of.make(t)
	clock.Spend(Work{Kind: Steps, Count: steps, Rows: originalBatch, Network: n})
	clock.Spend(Work{Kind: Batches, Count: batches, Rows: originalBatch, Network: n})
	if steps > 0 && batches > 0 {
		clock.Spend(Work{Kind: Deciding, Count: 1, Network: n})
		clock.Spend(Work{Kind: Surgery, Count: 1, Network: n})
	}
	return clock.Now()
}

// compareAdded checks the time that a deepened block adds to an epoch, which is a small part of the epoch.
func compareAdded(t *testing.T, found *published) {
	var off []float64
	for step, all := range found.added {
		charged := epochCharge(t, step[1], epochSteps, epochBatches) - epochCharge(t, step[0], epochSteps, epochBatches)
		off = append(off, math.Abs(charged.Seconds()-stat.Median(all)))
	}
	require.Less(t, stat.Median(off), addedNoise)
	require.Less(t, slices.Max(off), 4*addedNoise)
	t.Logf("measured: what a block adds to an epoch of v100-original is off by %.2f s in the median of %d and by "+
		"%.2f s at most", stat.Median(off), len(off), slices.Max(off))
}
