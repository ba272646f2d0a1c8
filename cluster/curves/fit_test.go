package curves

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/stat"
	"graft/model"
	"graft/simulation/tables"
	"graft/simulation/tables/tabletest"
)

// tableOf returns the table of a curve with all sequences of three decisions.
func tableOf(t *testing.T, c *Curve, noise float64) *tables.Table {
	r := rand.New(rand.NewPCG(3, 4))
	actions := []string{"deepen:conv1", "widen:conv1", "none"}
	s := tables.Scenario{Name: "drawn", Network: "n", Dataset: "d", Budget: 50, Decisions: 3, Actions: actions}
	var records []tables.Record
	for k := range 27 {
		record := tables.Record{Seeds: []int64{1}}
		n, e, left := Network{}, c.Chance, 50.0
		for _, at := range []float64{40, 30, 20} {
			e = c.Train(n, e, (left-at)/50)
			left = at
			action := actions[k%3]
			k /= 3
			record.Sequence, record.Left = append(record.Sequence, action), append(record.Left, at)
			record.Before, record.Step = append(record.Before, 1-e), append(record.Step, 2*c.Slower(n))
			if kind := int(map[string]Kind{"deepen:conv1": Deepen, "widen:conv1": Widen}[action]); action != "none" {
				n, e = n.Grown(Kind(kind)), c.Grow(Kind(kind), e)
			}
		}
		record.LastStep = 2 * c.Slower(n)
		record.Accuracy = []float64{1 - c.Train(n, e, left/50) + noise*r.NormFloat64()}
		records = append(records, record)
	}
	table, err := tables.New(s, records)
	require.NoError(t, err)
	return table
}

func zoo(t *testing.T) *model.Network {
	n, err := model.Zoo("ConvNet2", model.ZooOptions{})
	require.NoError(t, err)
	return n
}

// A curve fitted to the table of another curve predicts as well as that curve.
func TestFitOfACurve(t *testing.T) {
	c := &Curve{Chance: 0.9, Power: 1, Rate: Terms{2, 0.3, -0.2}, Floor: Terms{0, 0.2, 0.3},
		Loss: Terms{0, -3, -4}, Step: Terms{0, 0.2, 0.1}}
	f, err := Fit(tableOf(t, c, 0), zoo(t))
	require.NoError(t, err)
	require.Equal(t, 1.0, f.Power)
	require.InDelta(t, 0.2, f.First, 1e-12)
	require.Zero(t, f.Fit.Noise, "unknown for one seed")
	require.Equal(t, 3, f.Actions)
	require.Less(t, f.Fit.Error, 0.1, "percentage points")
	require.Greater(t, f.Fit.Constant, 10*f.Fit.Error)
	require.Less(t, f.Fit.Regret, 0.1)
	require.InDelta(t, 0.2, f.Step.Deepen, 0.01)
	for _, n := range []Network{{}, {1, 1}, {0, 3}} {
		require.InDelta(t, c.Train(n, 0.6, 0.3), f.Train(n, 0.6, 0.3), 5e-3)
	}
	noisy, err := Fit(tableOf(t, c, 0.01), zoo(t))
	require.NoError(t, err)
	require.Less(t, noisy.Fit.Error, 1.5)
	require.Greater(t, noisy.Fit.Error, 0.3, "errors of sequences outside the fit contain their noise")
}

// Jobs that decide before their first evaluation have no accuracy yet. The fit uses the other accuracies.
func TestFitWithoutEarlyAccuracies(t *testing.T) {
	c := &Curve{Chance: 0.9, Power: 1, Rate: Terms{2, 0.3, -0.2}, Floor: Terms{0, 0.2, 0.3},
		Loss: Terms{0, -3, -4}, Step: Terms{0, 0.2, 0.1}}
	table := tableOf(t, c, 0)
	for k := range table.Records {
		table.Records[k].Before[0], table.Records[k].Before[1] = 0, 0
	}
	f, err := Fit(table, zoo(t))
	require.NoError(t, err)
	require.Less(t, f.Fit.Error, 0.1, "percentage points")
	require.InDelta(t, c.Train(Network{}, c.Chance, 1), f.Train(Network{}, c.Chance, 1), 5e-3)
}

// A curve of networks that hardly learn without growth has valid terms.
func TestFitOfNetworksThatHardlyLearn(t *testing.T) {
	folder := filepath.Join(tabletest.Unpack(t, "../../studies/decades/tables.tar.gz"), "decades")
	for _, name := range []string{"perceptron-500-textures-short-late", "perceptron-10k-textures-long-early"} {
		table, err := tables.Read(files.OS{}, filepath.Join(folder, name, "table"))
		require.NoError(t, err)
		network, err := table.Origin.Network()
		require.NoError(t, err)
		c, err := Fit(table, network)
		require.NoError(t, err)
		require.NoError(t, c.validate(), name)
	}
}

func TestFitRefusesTables(t *testing.T) {
	whole := tableOf(t, drawCurve(rand.New(rand.NewPCG(5, 6))), 0)
	for says, change := range map[string]func(r *tables.Record){
		"has no step times":        func(r *tables.Record) { r.Step = nil },
		"simulate the scen":        func(r *tables.Record) { r.LastStep = 0 },
		"accuracies before":        func(r *tables.Record) { r.Before = nil },
		"unknown operation \"no\"": func(r *tables.Record) { r.Sequence[0] = "no:conv1" },
	} {
		table := *whole
		table.Records = append([]tables.Record{}, whole.Records...)
		r := &table.Records[2]
		r.Sequence = append([]string{}, r.Sequence...)
		change(r)
		_, err := Fit(&table, zoo(t))
		require.ErrorContains(t, err, says)
	}
	few := *whole
	few.Records = few.Records[:least-1]
	_, err := Fit(&few, zoo(t))
	require.ErrorContains(t, err, "got 7 sequences; expected at least 8")
}

// Curves of real tables predict unseen sequences better than the mean does, and choose better than never growing.
func TestFitOfStudies(t *testing.T) {
	all, err := filepath.Glob(filepath.Join(tabletest.Unpack(t, "../../studies/transfer/tables.tar.gz"), "tables", "*"))
	require.NoError(t, err)
	var errors, constants, regrets, never []float64
	for k := 0; k < len(all); k += 7 {
		table, err := tables.Read(files.OS{}, all[k])
		require.NoError(t, err)
		network, err := table.Origin.Network()
		require.NoError(t, err)
		c, err := Fit(table, network)
		require.NoError(t, err)
		require.NoError(t, c.validate(), c.Name)
		errors, constants = append(errors, c.Fit.Error), append(constants, c.Fit.Constant)
		regrets, never = append(regrets, c.Fit.Regret), append(never, c.Fit.Never)
	}
	require.Less(t, stat.Mean(errors), 0.9*stat.Mean(constants))
	require.Less(t, stat.Mean(regrets), 0.7*stat.Mean(never))
}
