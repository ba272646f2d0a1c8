package original_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/model"
	"graft/original"
	"graft/original/bilstm"
	"graft/original/bilstm/policytest"
	"graft/original/vocab"
	"graft/simulation/evaluation"
	"graft/simulation/tables"
	"graft/simulation/treetest"
)

// scripted is a decider with fixed probabilities for each decision.
type scripted [][]float64

func (s scripted) Weigh(_ context.Context, m evaluation.Point) ([]float64, error) {
	return s[len(m.Prefix)], nil
}

// falling holds sixteen accuracies: the fifth is the best and two are equal.
var falling = []float64{0.5, 0.25, 0.5, 0.125, 0.75, 0.625, 0.1, 0.2, 0.3, 0.4, 0.45, 0.35, 0.15, 0.05, 0.01, 0.00001}

func convNet2(t *testing.T) *model.Network {
	n, err := model.Zoo("ConvNet2", model.ZooOptions{})
	require.NoError(t, err)
	return n
}

func TestTheOriginalsReport(t *testing.T) {
	n := convNet2(t)
	e, err := original.Evaluate(context.Background(), treetest.ConvNet2Table(t, falling...), n,
		scripted{{0.123449, 0.5, 0.3, 0.0765}, {0, 0, 1, 0}})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, e.WriteReport(&b, n, "runs/one", "tables/two"))
	_, body, found := strings.Cut(b.String(), n.String()+"\n")
	require.True(t, found)
	require.Equal(t, `=== Model Folder ===
runs/one

=== Evaluation Folder ===
tables/two
=== Step 1 ===
Action: 1
Probabilities: 0.1234 0.5000 0.3000 0.0765

=== Step 2 ===
Action: 2
Probabilities: 0.0000 0.0000 1.0000 0.0000

=== Ranking ===
rank 01: (1, 0) 0.75
rank 02: (1, 1) 0.625
rank 03: (0, 0) 0.5
rank 04: (0, 2) 0.5
rank 05: (2, 2) 0.45
rank 06: (2, 1) 0.4
rank 07: (2, 3) 0.35
rank 08: (2, 0) 0.3
rank 09: (0, 1) 0.25
rank 10: (1, 3) 0.2
rank 11: (3, 0) 0.15
rank 12: (0, 3) 0.125
rank 13: (1, 2) 0.1 ***
rank 14: (3, 1) 0.05
rank 15: (3, 2) 0.01
rank 16: (3, 3) 1e-05 ***
`, body)
}

func TestOneDecisionIsATupleOfOne(t *testing.T) {
	var records []tables.Record
	for k, a := range treetest.FourActions {
		records = append(records, tables.Record{Sequence: []string{a}, Left: []float64{9},
			Accuracy: []float64{float64(k) / 4}, Seeds: []int64{1}})
	}
	table, err := tables.New(tables.Scenario{Name: "one", Budget: 10, Decisions: 1,
		Actions: treetest.FourActions}, records)
	require.NoError(t, err)
	n := convNet2(t)
	e, err := original.Evaluate(context.Background(), table, n, scripted{{1, 0, 0, 0}})
	require.NoError(t, err)
	var b bytes.Buffer
	require.NoError(t, e.WriteReport(&b, n, "", ""))
	require.Contains(t, b.String(),
		"rank 1: (3,) 0.75 ***\nrank 2: (2,) 0.5\nrank 3: (1,) 0.25\nrank 4: (0,) 0.0 ***\n")
}

func TestPoliciesThatDoNotFitATable(t *testing.T) {
	whole := treetest.ConvNet2Table(t, falling...)
	swapped := tables.Scenario{Name: "other", Network: "ConvNet2", Budget: 400, Decisions: 1,
		Actions: []string{"deepen:1", "deepen:0", "deepen:2", "none"}}
	var records []tables.Record
	for _, a := range swapped.Actions {
		records = append(records, tables.Record{Sequence: []string{a}, Left: []float64{9}, Accuracy: []float64{0.5},
			Seeds: []int64{1}})
	}
	other, err := tables.New(swapped, records)
	require.NoError(t, err)
	part, err := tables.New(whole.Scenario, whole.Records[1:])
	require.NoError(t, err)
	for name, c := range map[string]struct {
		table *tables.Table
		w     evaluation.StepPolicy
		says  string
	}{
		"a sequence is missing": {part, scripted{{1, 0, 0, 0}, {1, 0, 0, 0}},
			"1 of its sequences are missing, such as (deepen:0, deepen:0); simulate them"},
		"a policy of another network": {whole, legacyPolicy(t, "ConvNet3", 4), "has no token in the vocabulary"},
		"other actions": {other, legacyPolicy(t, "ConvNet2", 4), "the policy chooses among the actions deepen:0, " +
			"deepen:1, deepen:2, none, but the table has the actions deepen:1, deepen:0, deepen:2, none; use"},
		"a policy of more actions": {whole, legacyPolicy(t, "ConvNet2", 5),
			"the policy chooses among 5 actions, but the table has 4"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := original.Evaluate(context.Background(), c.table, convNet2(t), c.w)
			require.ErrorContains(t, err, c.says)
		})
	}
}

// legacyPolicy returns a policy of the original system whose vocabulary covers a network.
func legacyPolicy(t *testing.T, network string, actions int) original.StepPolicy {
	n, err := model.Zoo(network, model.ZooOptions{})
	require.NoError(t, err)
	shape := policytest.Small
	shape.Actions = actions
	v, err := vocab.Build([]*model.Network{n}, shape.Embedding, rand.New(rand.NewPCG(1, 0)))
	require.NoError(t, err)
	p, err := bilstm.New(policytest.Weights(v, shape, 1), v, bilstm.Options{})
	require.NoError(t, err)
	return original.StepPolicy{Policy: p}
}
