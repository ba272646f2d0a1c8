package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/config"
	"graft/decider"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/net2net"
	"graft/report/runs"
	"graft/simulation"
	"graft/simulation/evaluation"
	"graft/simulation/learning"
	"graft/simulation/tables"
	"graft/torch/weights"
)

// plainActions lists the actions in the tables of these tests.
var plainActions = []string{"deepen:0", "deepen:2", "none"}

// writePlain writes a table of two decisions. The sequence at the index best is the best one, and a higher index starts
// later.
func writePlain(t *testing.T, dir, network string, actions []string, best int) string {
	t.Helper()
	s := tables.Scenario{Name: filepath.Base(dir), Network: network, Dataset: "synthetic", Budget: 100,
		Start: 10 * float64(best), Decisions: 2, Actions: actions}
	require.NoError(t, tables.Create(files.OS{}, dir, s, tables.CreateOptions{}))
	w, err := tables.Open(files.OS{}, dir, tables.WriterOptions{Name: "node", Lazy: true})
	require.NoError(t, err)
	for k := range len(actions) * len(actions) {
		r := tables.Record{Sequence: []string{actions[k/len(actions)], actions[k%len(actions)]},
			Left: []float64{100 - 10*float64(best), 90 - 10*float64(best) - float64(k)/4}, Seeds: []int64{1, 2}}
		mean := 0.5 + float64(k*5%9)/100
		if k == best {
			mean = 0.65
		}
		r.Accuracy = []float64{mean - 0.005, mean + 0.005}
		require.NoError(t, w.Append(tables.Cause{Sequence: r.Sequence, Seeds: r.Seeds}.Key(), r))
	}
	require.NoError(t, w.Close())
	return dir
}

// shed is a folder with tables, and a run that learned from two of them.
type shed struct {
	t      *testing.T
	folder string
}

func newShed(t *testing.T) *shed {
	s := &shed{t: t, folder: t.TempDir()}
	for k, name := range []string{"early", "late"} {
		writePlain(t, s.path(name), "ConvSmall", plainActions, 3*k+1)
	}
	writePlain(t, s.path("other"), "ConvNet2", plainActions, 4)
	s.learn("run", 1, 2, 3)
	return s
}

// copy copies the folder, so a test can damage it.
func (s *shed) copy(t *testing.T) *shed {
	other := &shed{t: t, folder: t.TempDir()}
	require.NoError(t, os.CopyFS(other.folder, os.DirFS(s.folder)))
	return other
}

func (s *shed) path(name string) string { return filepath.Join(s.folder, name) }

// learn writes a run folder with policies for the given seeds.
func (s *shed) learn(run string, seeds ...uint64) {
	var trees []*simulation.Tree
	for _, name := range []string{"early", "late"} {
		tree, err := config.ReadTree(files.OS{}, s.path(name))
		require.NoError(s.t, err)
		trees = append(trees, tree)
	}
	o := learning.NewOptions()
	o.Hidden, o.Steps = 8, 80
	policies, err := learning.Learn(context.Background(), trees, nil, o, seeds, 2)
	require.NoError(s.t, err)
	require.NoError(s.t, os.MkdirAll(s.path(run+"/policies"), 0o700))
	for k, p := range policies {
		require.NoError(s.t, p.Write(files.OS{}, s.path(fmt.Sprintf("%s/policies/seed-%d.safetensors", run, seeds[k]))))
	}
	vote, err := decider.JoinStructural(policies...)
	require.NoError(s.t, err)
	vote.Notes = map[string]string{"tables": "early, late"}
	require.NoError(s.t, vote.Write(files.OS{}, s.path(run+"/policy.safetensors")))
}

// evaluate runs the command with flags such as "policy=run", and resolves paths in the folder.
func (s *shed) evaluate(named ...string) outcome {
	args := []string{"evaluate"}
	for _, n := range named {
		flag, name, given := strings.Cut(n, "=")
		if args = append(args, "--"+flag); given && (flag == "policy" || flag == "table" || flag == "vocab") {
			name = s.path(name)
		}
		if given {
			args = append(args, name)
		}
	}
	return graft(args...)
}

func (s *shed) report(named ...string) runs.EvaluationReport {
	got := s.evaluate(append(named, "json")...)
	require.Equal(s.t, failure.Done, got.code, got.stderr)
	var r runs.EvaluationReport
	require.NoError(s.t, json.Unmarshal([]byte(got.stdout), &r))
	return r
}

func TestEvaluateStructuralPolicies(t *testing.T) {
	s := newShed(t)
	r := s.report("policy=run", "policy=run/policies/seed-2.safetensors", "table=early", "table=late")
	require.Equal(t, "run, voting", r.Against)
	require.Equal(t, runs.EvaluatedPolicy{Policy: s.path("run"), Name: "run", Kind: runs.StructuralPolicy, Members: 3,
		Learned: []string{"deepen"}, Targets: []string{"deepen convolution"},
		Notes: map[string]string{"tables": "early, late"}}, r.Policies[0])
	require.Equal(t, []int{1, 3, 1}, []int{r.Standings[0].Seeds, r.Standings[1].Seeds, r.Standings[2].Seeds})
	require.Equal(t, evaluation.RoleVote, r.Standings[0].Role)
	require.NotNil(t, r.Standings[1].OverSeeds)
	for k, table := range r.Tables {
		require.Equal(t, evaluation.NoiseOfSeeds, table.Source)
		require.Equal(t, []string{plainActions[k], plainActions[1]}, verdictOf(t, table, "optimum").Sequence)
		require.Zero(t, verdictOf(t, table, "run, voting").Regret, "it has learned them")
		require.Equal(t, []string{"run, voting", "seed-2.safetensors"},
			[]string{table.Steps[0].Chooser, table.Steps[1].Chooser})
		require.Len(t, table.Steps[0].Steps, 2)
	}
	require.Len(t, r.Tables[0].Scores, 3+2+2+1+2+1, "always the two actions, two fixed sequences")

	// The members of the file are the policies of the seeds.
	one := s.report("policy=run/policy.safetensors", "table=early", "table=late")
	for k := range 2 {
		want, got := r.Standings[k], one.Standings[k]
		want.Policy, got.Policy, want.Difference, got.Difference = "", "", nil, nil
		require.Equal(t, want, got)
	}

	text := ends(t, s.evaluate("policy=run", "table=early", "table=late"), failure.Done, "")
	containsAll(t, text.stdout, "policy  run, structural, 3 members, judges deepen convolution\n        tables: "+
		"early, late\n", "table   late: ConvSmall on synthetic, 9 sequences of 2 decisions, start at 40 s of 100 s",
		"POLICY                ACCURACY  REGRET", "over 2 tables", "estimated from runs that differ only in their seed",
		"~ +0.00", "was selected on all these tables", "Intervals over only 2 tables are too narrow")
	rows, err := csv.NewReader(strings.NewReader(s.evaluate("policy=run", "table=early", "table=late", "csv").stdout)).
		ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, 1+len(one.Tables[0].Scores)+len(one.Tables[1].Scores))
	require.Equal(t, text.stdout, s.evaluate("policy=run", "table=early", "table=late").stdout)
}

// A table of a network that the policy never met is evaluated too. Tables with equal names are distinguished by their
// paths.
func TestEvaluateOnOtherTables(t *testing.T) {
	s := newShed(t)
	require.NoError(t, os.Mkdir(s.path("more"), 0o700))
	writePlain(t, s.path("more/early"), "ConvNet3", []string{"deepen:1", "none"}, 1)
	r := s.report("policy=run", "table=early", "table=more/early", "table=other")
	require.Equal(t, []string{s.path("early"), s.path("more/early"), "other"},
		[]string{r.Tables[0].Scenario, r.Tables[1].Scenario, r.Tables[2].Scenario})
	text := s.evaluate("policy=run", "table=early", "table=more/early").stdout
	require.Contains(t, text,
		"omitted above, because they are not in all tables: always deepen:0, always deepen:2, always deepen:1\n")
}

func TestLeaveOut(t *testing.T) {
	s := newShed(t)
	args := []string{"table=early", "table=late", "table=other", "seeds=2", "steps=5", "leave-out=scenario"}
	got := ends(t, s.evaluate(append(args, "json")...), failure.Done, "")
	r := decoded[runs.LeaveOutReport](t, got.stdout)
	require.Equal(t, []any{"scenario", "new", 5, 2}, []any{r.LeaveOut, r.For, r.Steps, r.Seeds})
	require.Equal(t, []string{"early", "other"}, r.Groups[1].Learned)
	require.Equal(t, evaluation.SeenOthers, r.Standing("policies, voting").Seen)
	require.Contains(t, got.stderr, `"left_out":"late"`)

	text := s.evaluate(args...)
	containsAll(t, text.stdout, "one scenario left out at a time; 2 policies learn from the other tables, "+
		"for new scenarios, in up to 5 steps", "LEFT OUT  POLICIES, VOTING",
		"regret than the best fixed sequence of the other tables, 95% interval over tables [", "the interval ",
		"Intervals over only 3 scenarios are too narrow")
	args[5] = "leave-out=network"
	require.Contains(t, s.evaluate(append(args, "for=known")...).stdout, "OVER GROUPS")
	rows, err := csv.NewReader(strings.NewReader(s.evaluate(append(args, "csv")...).stdout)).ReadAll()
	require.NoError(t, err)
	require.Equal(t, "ConvSmall", rows[1][2])

	file := fmt.Sprintf("[run]\nseeds = 2\n[tables]\nfolders = [%q, %q]\nheld_out = [%q]\n[learn]\nfor = \"new\"\n"+
		"steps = 5\n", s.path("early"), s.path("late"), s.path("other"))
	write(t, s.path("policy.toml"), file)
	byFile := done(t, "evaluate", "--leave-out", "scenario", "--learn", s.path("policy.toml"))
	require.Equal(t, text.stdout, byFile.stdout, "as the flags say it")
	held := done(t, "evaluate", "--leave-out", "held-out", "--learn", s.path("policy.toml"), "--against", "never")
	containsAll(t, held.stdout, "all held-out tables; 2 policies learn from the other tables",
		"regret than never, in one table", "DIFFERENCE is the regret minus the regret of never")
	several := done(t, "evaluate", "--leave-out", "held-out", "--learn", s.path("policy.toml"), "--against",
		"never,best fixed", "--against", "random")
	require.Regexp(t, `(?s)POLICY +BASELINE +DIFFERENCE +RELATIVE +P +P \(HOLM\)
policies, voting +never .*policies, voting +best fixed .*policies, voting +random .*policies, each seed +never `,
		several.stdout)
	require.NotContains(t, several.stdout, "regret than never")
	tried := done(t, "evaluate", "--leave-out", "held-out", "--learn", s.path("policy.toml"), "--try", "learn.steps=1",
		"--try", `learn.method="forest"`)
	require.Regexp(t, `settings selected by cross-validation on the learning tables: as in the file \d times?, `+
		`learn.steps=1 \d times?, learn.method="forest" \d times?`, tried.stdout)
	require.Contains(t, tried.stdout,
		"share of all decisions in the tables, reached or not, in which the choice is the best, or worse by no "+
			"more than the noise of a difference: ")
	fails(t, failure.Usage, "--try changes keys of a learning file; set --learn to the file", "evaluate",
		"--leave-out", "scenario", "--table", s.path("early"), "--try", "learn.leaf=5")
	fails(t, failure.Usage, `--try is "run.seeds=3"; must be an assignment to a key of learn or policy`, "evaluate",
		"--leave-out", "scenario", "--learn", s.path("policy.toml"), "--try", "run.seeds=3")
	fails(t, failure.Configuration, `unknown key "leav" in learn`, "evaluate", "--leave-out", "scenario", "--learn",
		s.path("policy.toml"), "--try", "learn.leav=3")
	fails(t, failure.Usage, "--against is \"luck\"; expected one of: best fixed;", "evaluate", "--leave-out",
		"held-out", "--learn", s.path("policy.toml"), "--against", "luck")
	fails(t, failure.Usage, "but --learn is missing; name a file with tables.held_out", "evaluate", "--leave-out",
		"held-out")
	write(t, s.path("none.toml"), strings.Replace(file, "held_out", "# held_out", 1))
	fails(t, failure.Usage, "has no held-out tables; name them in tables.held_out", "evaluate", "--leave-out",
		"held-out", "--learn", s.path("none.toml"))
	fails(t, failure.Usage, "--steps and --learn are mutually exclusive", "evaluate", "--leave-out", "scenario",
		"--learn",
		s.path("policy.toml"), "--steps", "3")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	stopped := ends(t, call(ctx, newRootCommand(), "evaluate", "--leave-out", "scenario", "--table", s.path("early"),
		"--table", s.path("late")), failure.Interrupted, "")
	require.Empty(t, stopped.stdout)
}

// change rewrites a policy file after a change.
func (s *shed) change(name string, change func(*weights.Set)) {
	set, err := weights.Read(files.OS{}, s.path(name), weights.Options{})
	require.NoError(s.t, err)
	change(set)
	require.NoError(s.t, weights.Write(files.OS{}, s.path(name), set))
}

// refusal is an evaluation that fails: the damage before it, its arguments, and the expected error.
type refusal struct {
	spoil func(*shed)
	args  []string
	code  failure.Code
	says  []string
}

// of returns its arguments as a list.
func of(texts ...string) []string { return texts }

func (c refusal) check(t *testing.T, sound *shed) {
	s := sound.copy(t)
	if c.spoil != nil {
		c.spoil(s)
	}
	if c.args == nil {
		c.args = of("policy=run", "table=early")
	}
	got := ends(t, s.evaluate(c.args...), c.code, "")
	require.Empty(t, got.stdout)
	containsAll(t, got.stderr, c.says...)
}

func TestSpoiledFilesOfStructuralPolicies(t *testing.T) {
	sound := newShed(t)
	voting, table := "run/policy.safetensors", "early/node-1.jsonl"
	text := func(name string, change func(string) string) func(*shed) {
		return func(s *shed) { spoil(s.t, s.folder, name, change) }
	}
	lines := func(change func([]string) []string) func(*shed) {
		return text(table, func(all string) string { return strings.Join(change(strings.SplitAfter(all, "\n")), "") })
	}
	for name, c := range map[string]refusal{
		"a policy cut short": {text(voting, func(all string) string { return all[:len(all)/2] }), nil, failure.Damaged,
			of("policy.safetensors", "truncated", "copy the file again")},
		"a policy that is empty": {text(voting, func(string) string { return "" }), nil, failure.Damaged,
			of("empty", "copy the file again")},
		"weights of other sizes": {func(s *shed) {
			s.change(voting, func(set *weights.Set) {
				w := &set.Tensors[0]
				w.Shape, w.Data = []int64{2, 2}, w.Data[:32]
			})
		}, nil, failure.Damaged, of("tensor member0.", "shape [2 2]; expected",
			"expected a file written by 'graft learn'")},
		"a tensor is gone": {func(s *shed) {
			s.change(voting, func(set *weights.Set) { set.Tensors = set.Tensors[1:] })
		}, nil, failure.Damaged, of("tensor member0.")},
		"other kinds of actions": {func(s *shed) {
			writePlain(s.t, s.path("wide"), "ConvSmall", []string{"branch:1", "none"}, 1)
		}, of("policy=run", "table=wide"), failure.Failed,
			of("run, voting on table wide: the policy was trained on the action kinds deepen, but the table offers "+
				"branch",
				"use a policy that was trained on tables with these kinds")},
		"a record is missing": {lines(func(l []string) []string { return append(l[:3:3], l[4:]...) }), nil,
			failure.Damaged, of("node-1.jsonl:4: missing: gap before line number 5",
				"simulate the missing records again",
				"'graft table check ")},
		"a record is doubled": {lines(func(l []string) []string { return append(append(l[:4:4], l[3]), l[4:]...) }),
			nil, failure.Damaged, of("doubled", "the record counts once", "'graft table check ")},
		"a record is corrupted": {lines(func(l []string) []string {
			l[3] = strings.Replace(l[3], `"accuracy":[0`, `"accuracy":[1`, 1)
			return l
		}), nil, failure.Damaged, of("node-1.jsonl:4: damaged", "checksum", "simulate it again",
			"'graft table check ")},
		"a table that is not finished": {func(s *shed) {
			writePlain(s.t, s.path("begun"), "ConvSmall", plainActions, 1)
			spoil(s.t, s.path("begun"), "node-1.jsonl",
				func(all string) string { return strings.Join(strings.SplitAfter(all, "\n")[:4], "") })
		}, of("policy=run", "table=begun"), failure.Damaged,
			of("of its sequences are missing, such as (deepen:", "simulate them")},
		"left out of a broken table": {lines(func(l []string) []string { return l[1:] }), of("table=early",
			"table=late", "leave-out=scenario"), failure.Damaged, of("missing", "'graft table check ")},
	} {
		t.Run(name, func(t *testing.T) { c.check(t, sound) })
	}
}

func TestWhatStructuralPoliciesCannot(t *testing.T) {
	sound, voting := newShed(t), "run/policy.safetensors"
	for name, c := range map[string]refusal{
		"not a table folder": {nil, of("policy=run", "table=run/policies"), failure.Damaged, of("run/policies",
			"not a table folder")},
		"no folder": {nil, of("policy=run", "table=nowhere"), failure.Failed, of("nowhere", "no such file")},
		"no policy": {nil, of("policy=nowhere", "table=early"), failure.Failed, of("nowhere", "no such file",
			"expected a policy file, or a folder that contains policy.safetensors or agent.finalmodel.pth")},
		"learning has not ended": {func(s *shed) { require.NoError(s.t, os.Remove(s.path(voting))) }, nil,
			failure.Failed, of("policy.safetensors is missing, so learning has not ended", "'graft learn --resume'")},
		"a vocabulary": {nil, of("policy=run", "table=early", "vocab=early"), failure.Usage,
			of("--vocab and --prefix apply to policies of the original system", "omit them")},
		"a prefix": {nil, of("policy=run", "table=early", "prefix=never"), failure.Usage,
			of("structural policy, which reads any network")},
		"the original's report": {nil, of("policy=run", "table=early", "vocab=early", "compat"), failure.Usage,
			of("run is a structural policy; omit --compat and --vocab")},
		"that without a vocabulary": {nil, of("policy=run", "table=early", "compat"), failure.Usage,
			of("run is a structural policy")},
		"a report of many tables": {nil, of("policy=run", "table=early", "table=late", "vocab=early", "compat"),
			failure.Usage, of("--compat reports one policy on one table")},
		"no vocabulary": {func(s *shed) { s.change(voting, func(set *weights.Set) { set.Metadata = nil }) },
			of("policy=run/policy.safetensors", "table=early"), failure.Usage,
			of("--vocab is missing", "policy.safetensors was trained with")},
		"a policy twice": {nil, of("policy=run", "policy=run", "table=early"), failure.Usage,
			of("--policy: ", "is given twice")},
		"a table twice": {nil, of("policy=run", "table=early", "table=early/"), failure.Usage,
			of("--table: ", "is given twice")},
		"a policy called as a rival": {func(s *shed) { s.learn("never", 1) }, of("policy=never", "table=early"),
			failure.Usage, of(`two candidates are named "never"`)},
		"no groups": {nil, of("table=early", "leave-out=scenario"), failure.Failed,
			of("got fewer than two groups of tables; add tables")},
		"one network": {nil, of("table=early", "table=late", "leave-out=network"), failure.Failed,
			of("fewer than two groups of tables")},
		"an unknown way to leave out": {nil, of("table=early", "leave-out=seed", "for=me", "seeds=0", "steps=-1"),
			failure.Usage, of(`--leave-out is "seed"; expected scenario, network, dataset, budget or held-out`,
				`--for is "me"`, "--seeds is 0", "--steps is -1")},
		"a policy is given": {nil, of("policy=run", "table=early", "leave-out=scenario"), failure.Usage,
			of("leave-out", "policy")},
		"nothing is left out": {nil, of("policy=run", "table=early", "seeds=3"), failure.Usage,
			of("--seeds requires --leave-out")},
	} {
		t.Run(name, func(t *testing.T) { c.check(t, sound) })
	}
}

// One evaluation compares the original's policies with structural ones.
func TestBothKindsOfPolicies(t *testing.T) {
	r, s := newLegacyRuns(t), newShed(t)
	report := decoded[runs.EvaluationReport](t, done(t, "evaluate", "--json", "--policy", r.path("learned"), "--policy",
		s.path("run"), "--table", r.path("table"), "--vocab", r.path("vocab")).stdout)
	require.Equal(t, []runs.PolicyOrigin{runs.OriginalPolicy, runs.StructuralPolicy},
		[]runs.PolicyOrigin{report.Policies[0].Kind, report.Policies[1].Kind})
	require.False(t, *report.Policies[0].Prefix)
	require.Equal(t, []net2net.Kind{"deepen"}, []net2net.Kind{net2net.Kind(report.Policies[1].Learned[0])})
	require.Equal(t, "learned", report.Against)
	ends(t, r.evaluate("--policy", s.path("run"), "--policy", r.path("learned"), "--vocab", ""), failure.Usage,
		"--vocab is missing; name the vocabulary that the policy "+r.path("learned")+" was trained with")
}
