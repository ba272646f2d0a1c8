package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/report/plot"
	"graft/report/runs"
	"graft/results"
	"graft/runner/evaluate"
	"graft/simulation"
	"graft/simulation/evaluation"
	"graft/simulation/tables/tabletest"
)

// takes is a chooser that takes the same record of any table.
type takes struct {
	name   string
	record int
}

func (c takes) Name() string { return c.name }

func (c takes) Distribution(t *simulation.Tree) ([]float64, error) {
	shares := make([]float64, len(t.Records))
	shares[c.record] = 1
	return shares, nil
}

// made returns the inputs and the outcome of an evaluation of a policy with three seeds on several tables.
func made(t testing.TB, tables int, left bool) (evaluate.Inputs, *runs.EvaluationOutcome) {
	t.Helper()
	var trees []*simulation.Tree
	g := evaluate.Inputs{EvaluationOptions: config.EvaluationOptions{Policies: []string{"runs/policy"},
		PolicyDigests: []string{"ab"}}}
	r := &runs.EvaluationReport{Policies: []runs.EvaluatedPolicy{{Policy: "runs/policy", Name: "policy",
		Kind: runs.StructuralPolicy, Members: 3, Learned: []string{"deepen"}}}}
	for k := range tables {
		name := fmt.Sprintf("table-%d", k+1)
		dir := filepath.Join(t.TempDir(), name)
		require.NoError(t, tabletest.Folder(dir, name, 2, 16, uint64(k)))
		tree, err := config.ReadTree(files.OS{}, dir)
		require.NoError(t, err)
		trees, g.Tables = append(trees, tree), append(g.Tables, "tables/"+name)
	}
	g.AddTables(trees)
	candidates := []evaluation.Candidate{
		{Name: "policy, voting", Role: evaluation.RoleVote, Policies: []evaluation.Policy{takes{"policy, voting", 3}}},
		{Name: "policy, each seed", Role: evaluation.RolePolicy}}
	for k := range 3 {
		candidates[1].Policies = append(candidates[1].Policies, takes{"policy, each seed", 3 + 4*k})
	}
	baselines, err := evaluation.BaselineCandidates(trees, evaluation.SeenThese)
	require.NoError(t, err)
	c, err := evaluation.Compare(trees, append(candidates, baselines...), "policy, voting")
	require.NoError(t, err)
	if !left {
		r.Against, r.Floor, r.Standings = c.Against, c.Floor, c.Standings
		for k, trial := range c.Tables {
			r.Tables = append(r.Tables, runs.EvaluatedTable{Table: g.Tables[k], Dataset: trees[k].Dataset,
				Budget: trees[k].Budget, Start: trees[k].Start, Decisions: 2, Actions: trees[k].Actions,
				TableScores: trial})
		}
		return g, runs.NewEvaluationOutcome(r, nil)
	}
	l := &runs.LeaveOutReport{LeaveOut: "scenario", For: "new", Steps: 10, Seeds: 3,
		LeaveOutReport: &evaluation.LeaveOutReport{Comparison: c}}
	for k := range c.Tables {
		name := c.Tables[k].Scenario
		c.Tables[k].Group = name
		l.Groups = append(l.Groups, evaluation.LeftOut{Group: name, Tables: []string{name}, Learned: []string{"others"},
			Tuned: []int{0}})
	}
	g.Policies, g.PolicyDigests, g.LeaveOut, g.For, g.Seeds, g.Steps = []string{}, nil, "scenario", "new", 3, 10
	return g, runs.NewEvaluationOutcome(nil, l)
}

// evaluated is the manifest of the evaluations that tests write.
var evaluated = results.Manifest{Kind: runs.EvaluationKind.Name, Created: when, Graft: "v0.1.0",
	Device: "cpu", Host: "node", CommandLine: []string{"graft", "evaluate"}}

// writeEvaluation writes the run folder of an evaluation.
func writeEvaluation(t testing.TB, dir string, left, ended bool) *runs.EvaluationOutcome {
	t.Helper()
	g, o := made(t, 2, left)
	b, err := evaluate.Create(files.OS{}, dir, false, g, evaluated)
	require.NoError(t, err)
	if ended {
		require.NoError(t, b.Finish(o))
	}
	b.Close()
	return o
}

// The outcome of an evaluation reads back unchanged, and its tables agree with it.
func TestEvaluationsAreKept(t *testing.T) {
	for _, left := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "run")
		want := writeEvaluation(t, dir, left, true)
		r := openRun(t, dir)
		require.True(t, r.Ended)
		got, err := runs.OutcomeOf[runs.EvaluationOutcome](r)
		require.NoError(t, err)
		a, err := json.Marshal(want)
		require.NoError(t, err)
		b, err := json.Marshal(got)
		require.NoError(t, err)
		require.JSONEq(t, string(a), string(b))

		list, err := r.Series()
		require.NoError(t, err)
		c := want.Comparison()
		verdicts, err := plot.NumbersOf(list, "verdicts", "regret", "regret_low", "regret_high", "seeds", "rank")
		require.NoError(t, err)
		require.Len(t, verdicts["rank"], len(c.Tables)*len(c.Tables[0].Scores))
		names, err := plot.TextsOf(list, "verdicts", "chooser")
		require.NoError(t, err)
		require.Equal(t, "policy, each seed", names[1])
		require.Equal(t, c.Tables[0].Scores[1].Regret, verdicts["regret"][1])
		require.Less(t, verdicts["regret_low"][1], verdicts["regret_high"][1])
		require.NotEqual(t, verdicts["regret_low"][0], verdicts["regret_low"][0], "one that votes has no interval")
		members, err := plot.NumbersOf(list, "members", "member", "regret")
		require.NoError(t, err)
		require.Equal(t, []float64{1, 1, 2, 3, 1, 1, 2, 3}, members["member"])
		require.InDelta(t, c.Tables[0].Scores[1].Regret,
			(members["regret"][1]+members["regret"][2]+members["regret"][3])/3, 1e-9)
		require.InDelta(t, c.Standings[1].Regret, valueOf(r, t, "regret"), 1e-9)
		require.Equal(t, left, len(list) == 4, "folds are there where something was left out")
	}
}

// With --out, the command prints the same text and keeps a run folder.
func TestEvaluateKeepsARunFolder(t *testing.T) {
	r := newLegacyRuns(t)
	t.Chdir(r.folder)
	before := r.evaluate()
	require.Equal(t, before, r.evaluate("--out", "kept"))
	ends(t, r.evaluate("--out", "kept"), failure.Usage, "--force")
	require.Equal(t, before, r.evaluate("--out", "kept", "--force"))
	require.DirExists(t, "kept.1")
	require.Equal(t, failure.Usage, r.evaluate("--force").code)
	require.Equal(t, failure.Usage, r.evaluate("--out", "other", "--compat").code)
	require.Equal(t, failure.Damaged, r.evaluate("--out", "other", "--vocab", "table/config.toml").code)
	require.NoDirExists(t, "other", "nothing is begun that cannot be read")

	got := done(t, "report", "kept")
	require.Contains(t, got.stdout, "learned, of the original\n")
	require.Contains(t, got.stdout, "always deepen:2")
	report := decoded[runs.EvaluationReport](t, r.evaluate("--json").stdout)
	run := openRun(t, "kept")
	require.InDelta(t, report.Standings[0].Regret, valueOf(run, t, "regret"), 1e-12)
	digests, _ := run.Setting("evaluate.policy_digests")
	require.Len(t, digests, 64+2)
	vocab, _ := run.Setting("evaluate.vocab")
	require.Equal(t, r.path("vocab"), vocab)

	ends(t, r.evaluate("--out", "other", "--policy", r.path("source")), failure.Done, "")
	side := graft("report", "kept", "other").stdout
	require.Contains(t, side, "evaluate.policy_digests")
	require.Regexp(t, `(?m)^regret +points`, side)
}

// An evaluation with left-out tables also keeps a run folder, with its folds and its learning file.
func TestLeavingOutKeepsARunFolder(t *testing.T) {
	s := newShed(t)
	out := filepath.Join(t.TempDir(), "kept")
	args := []string{"table=early", "table=late", "seeds=2", "steps=3", "leave-out=scenario"}
	want, got := s.evaluate(args...), s.evaluate(append(args, "out="+out)...)
	require.Equal(t, want.stdout, got.stdout)
	text := contents(t, filepath.Join(out, "folds.csv"))
	require.Equal(t, "group,tables,learned_from\n\"early\",\"early\",\"late\"\n\"late\",\"late\",\"early\"\n", text)
	said := done(t, "report", out)
	require.Contains(t, said.stdout,
		"one scenario left out at a time; 2 policies learn from the other tables, for new scenarios, in up to 3 steps")
	r := openRun(t, out)
	require.Empty(t, mustSetting(t, r, "evaluate.learning_file"))

	file := jobFile(t, fmt.Sprintf("[run]\nseeds = 2\n[tables]\nfolders = [%q, %q]\n[learn]\nsteps = 3\n[policy]\n"+
		"hidden = 8\n", s.path("early"), s.path("late")))
	learned := filepath.Join(t.TempDir(), "kept")
	done(t, "evaluate", "--leave-out", "scenario", "--learn", file, "--out", learned)
	given := contents(t, filepath.Join(learned, runs.ConfigFile))
	require.Contains(t, given, "hidden = 8")
	r = openRun(t, learned)
	require.Len(t, mustSetting(t, r, "evaluate.learning_digest"), 64)
	require.Contains(t, mustSetting(t, r, "evaluate.tables"), s.path("late"))
}

func mustSetting(t *testing.T, r *runs.Run, key string) string {
	t.Helper()
	text, given := r.Setting(key)
	require.True(t, given, key)
	return text
}

// An empty outcome is damage, and a missing one means that the evaluation has not ended.
func TestEvaluationsThatAreNotWhole(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	writeEvaluation(t, dir, false, false)
	got := done(t, "report", dir)
	require.Contains(t, got.stdout, "not ended")
	require.Contains(t, got.stdout, "the evaluation is running, or was killed")
	write(t, filepath.Join(dir, runs.OutcomeFile), "{}")
	fails(t, failure.Damaged, "has no tables", "report", dir)
	_, err := os.Stat(filepath.Join(dir, "folds.csv"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}
