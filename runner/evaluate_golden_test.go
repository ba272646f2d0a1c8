package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/original"
	"graft/original/bilstm"
	"graft/original/published"
	"graft/report/runs"
	"graft/simulation/evaluation"
)

// publishedFolder is the folder of the original's files, next to the repository.
const publishedFolder = "../../shared/reference/adaptation"

// beside returns the folders of the original that match a pattern, or skips the test if there are none.
func beside(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(publishedFolder, pattern))
	require.NoError(t, err)
	if len(paths) == 0 {
		t.Skip("left out: the original's files are not beside the repository")
	}
	return paths
}

// bodyOf returns a report from its first decision on.
func bodyOf(t *testing.T, report string) string {
	at := strings.Index(report, "=== Step 1 ===")
	require.GreaterOrEqual(t, at, 0, report)
	return report[at:]
}

// lineAfter returns the line after a title.
func lineAfter(t *testing.T, report, title string) string {
	_, rest, found := strings.Cut(report, title+"\n")
	require.True(t, found, "no %s", title)
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

// tablesOf returns the tables on which the original evaluated its runs, by run: their own, or the ones they learned
// from. All runs' configurations are in one place.
func tablesOf(t *testing.T) map[string]string {
	tables := map[string]string{}
	for _, pattern := range []string{"config/*/*.toml", "config/*/*/*.toml", "policies/*/config.toml",
		"simulations/*/config.toml"} {
		for _, path := range beside(t, pattern) {
			run, err := published.Read(files.OS{}, path)
			require.NoError(t, err)
			if run.Table != "" {
				tables[run.Folder] = filepath.Join(publishedFolder, "simulations",
					filepath.Base(filepath.Dir(run.Table)))
			}
		}
	}
	return tables
}

// publishedReport is a report and its origin.
type publishedReport struct {
	text, policy, table string
	actually            string // folder of the policy that was actually evaluated
	modes               []string
}

func publishedReports(t *testing.T) map[string]publishedReport {
	var known []struct {
		Stdout     string
		Modes      []string `json:"matching_modes"`
		Actually   string   `json:"policy_actually_evaluated"`
		Simulation string
	}
	text, err := os.ReadFile(filepath.Join(publishedFolder, "stdout/expected.json"))
	if err != nil {
		t.Skip("left out: the original's files are not beside the repository")
	}
	require.NoError(t, json.Unmarshal(text, &known))
	reports, tables := map[string]publishedReport{}, tablesOf(t)
	for _, k := range known {
		text := contents(t, filepath.Join(publishedFolder, "stdout", k.Stdout))
		r := publishedReport{text: text, modes: k.Modes,
			actually: filepath.Join(publishedFolder, "policies", k.Actually)}
		r.policy = filepath.Join(publishedFolder, "policies",
			filepath.Base(lineAfter(t, r.text, "=== Model Folder ===")))
		r.table = tables[filepath.Base(lineAfter(t, r.text, "=== Evaluation Folder ==="))]
		require.Equal(t, k.Simulation, filepath.Base(r.table), "the table of %s", k.Stdout)
		reports[k.Stdout] = r
	}
	require.Len(t, reports, len(beside(t, "stdout/*.stdout")))
	return reports
}

func (r publishedReport) evaluate(extra ...string) outcome {
	args := []string{"evaluate", "--compat", "--policy", r.policy, "--table", r.table, "--vocab",
		filepath.Join(publishedFolder, "vocabs")}
	return graft(append(args, extra...)...)
}

// asItWas returns the flags that reproduce a report. The original's last code, which printed the network first, made
// two mistakes; it also evaluated the second network. Earlier reports, without the network, are about the policy that
// they name.
func (r publishedReport) asItWas() []string {
	named := strings.HasPrefix(r.text, "=== Model Folder")
	if second := strings.Contains(filepath.Base(r.table), "3_v"); named && !second {
		return nil
	}
	return []string{"--as-published"}
}

// One rule reproduces every published report byte for byte.
func TestPublishedReports(t *testing.T) {
	for name, r := range publishedReports(t) {
		t.Run(name, func(t *testing.T) {
			got := ends(t, r.evaluate(r.asItWas()...), failure.Done, "")
			require.Equal(t, bodyOf(t, r.text), bodyOf(t, got.stdout))
			if network, _, found := strings.Cut(r.text, "=== Model Folder"); found && network != "" {
				require.True(t, strings.HasPrefix(got.stdout,
					network+"=== Model Folder ===\n"+r.policy+"\n\n=== Evaluation Folder ===\n"+r.table+"\n=== Step 1"))
			}
		})
	}
}

// With the policy that was actually evaluated, no extra flags are needed.
func TestPublishedReportsOfThePolicyThatTheyAreAbout(t *testing.T) {
	for name, r := range publishedReports(t) {
		r.policy = r.actually
		got := ends(t, r.evaluate(), failure.Done, "")
		require.Equal(t, bodyOf(t, r.text), bodyOf(t, got.stdout), name)
	}
}

// A report is reproduced only in its known modes: with the named policy or its source, and with or without token 0.
func TestPublishedReportsInEveryMode(t *testing.T) {
	compared := 0
	for name, r := range publishedReports(t) {
		source := r
		run, err := published.Read(files.OS{}, filepath.Join(r.policy, published.ConfigFile))
		require.NoError(t, err)
		if run.Source != "" {
			source.policy = filepath.Join(publishedFolder, "policies", filepath.Base(filepath.Dir(run.Source)))
		}
		ways := map[string]func() outcome{
			"own":       func() outcome { return r.evaluate("--prefix", "never") },
			"own+none":  func() outcome { return r.evaluate("--prefix", "always") },
			"code":      func() outcome { return r.evaluate("--as-published") },
			"code+none": func() outcome { return source.evaluate("--prefix", "always") },
		}
		for mode, run := range ways {
			if _, err := os.Stat(source.policy); err != nil && strings.HasPrefix(mode, "code") {
				t.Logf("left out: the source of %s is not beside the repository", filepath.Base(r.policy))
				require.Contains(t, run().stderr, "no such file or directory")
				continue
			}
			got := run()
			require.Equal(t, failure.Done, got.code, got.stderr)
			require.Equal(t, slices.Contains(r.modes, mode), bodyOf(t, r.text) == bodyOf(t, got.stdout), "%s as %s",
				name, mode)
			compared++
		}
	}
	t.Logf("measured: %d evaluations agree with what is known of the published reports", compared)
}

// Every policy is evaluated on every table, with the decisions of the original's evaluation.
func TestEveryPolicyOnEveryTable(t *testing.T) {
	tables := beside(t, "simulations/*")
	for k, policy := range beside(t, "policies/*/agent.finalmodel.pth") {
		if !longTests && k%2 != 0 {
			continue
		}
		args := []string{"evaluate", "--json", "--policy", filepath.Dir(policy), "--vocab",
			filepath.Join(publishedFolder, "vocabs")}
		for _, table := range tables {
			args = append(args, "--table", table)
		}
		r := decoded[runs.EvaluationReport](t, done(t, args...).stdout)
		p, _, err := published.ReadPolicy(files.OS{}, filepath.Dir(policy), filepath.Join(publishedFolder, "vocabs"),
			bilstm.Options{})
		require.NoError(t, err)
		for k, table := range r.Tables {
			legacy, n, err := published.ReadTable(files.OS{}, tables[k])
			require.NoError(t, err)
			e, err := original.Evaluate(context.Background(), legacy, n, original.StepPolicy{Policy: p})
			require.NoError(t, err)
			chosen := verdictOf(t, table, filepath.Base(filepath.Dir(policy)))
			require.Equal(t, e.Chosen.Sequence, chosen.Sequence)
			rank, sum := 1.0, 0.0
			for _, r := range e.Ranking {
				if sum += r.Mean(); r.Mean() > e.Chosen.Mean() {
					rank++
				}
			}
			require.Equal(t, rank, chosen.Rank)
			require.InDelta(t, 100*(e.Ranking[0].Mean()-e.Chosen.Mean()), chosen.Regret, 1e-9)
			require.Equal(t, e.Ranking[0].Sequence, verdictOf(t, table, "optimum").Sequence)
			require.Equal(t, legacy.Repeated("none").Sequence, verdictOf(t, table, "never").Sequence)
			require.InDelta(t, sum/float64(len(e.Ranking)), verdictOf(t, table, "random").Accuracy, 1e-12)
			for at, step := range table.Steps[0].Steps {
				require.InDelta(t, e.Steps[at].Left, step.Left, 1e-9)
				require.Equal(t, e.Steps[at].Probabilities, step.Probabilities)
			}
		}
		require.Equal(t, 7, r.Standings[0].Tables)
		require.InDelta(t, 2.25, r.Floor, 0.01)
	}
}

// verdictOf returns the score of a chooser in a table.
func verdictOf(t *testing.T, table runs.EvaluatedTable, chooser string) evaluation.Score {
	k := slices.IndexFunc(table.Scores, func(v evaluation.Score) bool { return v.Policy == chooser })
	require.GreaterOrEqual(t, k, 0, chooser)
	return table.Scores[k]
}

// An action's number refers to a block of the initial network, even after earlier blocks have grown.
func TestNumbersStayThoseOfTheFirstBlocks(t *testing.T) {
	policy := filepath.Dir(beside(t, "policies/simulation_late_learn2/*.pth")[0])
	vocabulary := filepath.Join(publishedFolder, "vocabs")
	r := decoded[runs.EvaluationReport](t, done(t, "evaluate", "--json", "--policy", policy, "--table",
		filepath.Join(publishedFolder, "simulations/simulation_late2"), "--vocab", vocabulary).stdout)
	require.Equal(t, []string{"deepen:0", "deepen:1", "deepen:1"}, r.Tables[0].Scores[0].Sequence)
	p, _, err := published.ReadPolicy(files.OS{}, policy, vocabulary, bilstm.Options{})
	require.NoError(t, err)
	n, err := model.Zoo("ConvNet2", model.ZooOptions{})
	require.NoError(t, err)
	for _, s := range r.Tables[0].Steps[0].Steps {
		thought, err := p.Forward(n, s.Left, 400)
		require.NoError(t, err)
		require.InDeltaSlice(t, thought.Probabilities, s.Probabilities, 1e-12)
		_, err = net2net.Apply(n, bilstm.Actions(n)[s.Number], net2net.Options{Compat: net2net.Original})
		require.NoError(t, err)
	}
	require.Len(t, n.Leaves(), 10+9, "each of three convolutions brought three layers")
	_, _, name := n.Find("conv2.0.0")
	require.NotEmpty(t, name, "the second block was deepened twice")
}
