package main

import (
	"cmp"
	"fmt"
	"math/rand/v2"
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
	"graft/original/bilstm"
	"graft/original/bilstm/policytest"
	"graft/original/vocab"
	"graft/report/runs"
	"graft/simulation/evaluation"
	"graft/torch/pickle"
	"graft/torch/pickle/pickletest"
	"graft/torch/weights"
)

// legacyRuns is a folder like the original's, with a policy trained on ConvNet2, the policy's initial version, a table
// of two decisions and a vocabulary.
type legacyRuns struct {
	t      *testing.T
	folder string
	vocab  *vocab.Vocabulary
}

func newLegacyRuns(t *testing.T) *legacyRuns {
	n, err := model.Zoo("ConvNet2", model.ZooOptions{})
	require.NoError(t, err)
	grown := n.Sketch()
	for k := range 3 {
		_, err := net2net.Apply(grown, bilstm.Actions(grown)[k], net2net.Options{Compat: net2net.Original})
		require.NoError(t, err)
	}
	r := &legacyRuns{t: t, folder: t.TempDir()}
	r.vocab, err = vocab.Build([]*model.Network{n, grown}, policytest.Small.Embedding, rand.New(rand.NewPCG(1, 0)))
	require.NoError(t, err)
	for _, name := range []string{"learned", "source", "table", "vocab"} {
		require.NoError(t, os.Mkdir(r.path(name), 0o700))
	}
	require.NoError(t, r.vocab.WritePickles(files.OS{}, r.path("vocab/models")))
	r.learned("learned", policytest.Weights(r.vocab, policytest.Small, 1))
	r.learned("source", policytest.Weights(r.vocab, policytest.Small, 3))
	r.write("learned/config.toml",
		"[job]\nmodel = \"ConvNet2\"\n[simulation]\ndatafile = \"../results/table/data.pkl\"\n[agent]\n"+
			"max_actions = 4\npolicyfile = \"../results/source/agent.finalmodel.pth\"\n")
	r.write("source/config.toml", "[agent]\nmax_actions = 4\n")
	r.write("table/config.toml", "[runner]\nseed = 42\n[scheduler]\nstart_time = 40\n[job]\nmodel = \"ConvNet2\"\n"+
		"dataset = \"cifar10\"\n")
	r.table(func(d *pickle.Dict) {})
	return r
}

func (r *legacyRuns) path(name string) string {
	return filepath.Join(r.folder, filepath.FromSlash(name))
}

func (r *legacyRuns) write(name, text string) {
	require.NoError(r.t, os.WriteFile(r.path(name), []byte(text), 0o600))
}

func (r *legacyRuns) read(name string) string {
	text, err := os.ReadFile(r.path(name))
	require.NoError(r.t, err)
	return string(text)
}

func (r *legacyRuns) learned(name string, set *weights.Set) {
	require.NoError(r.t, weights.Write(files.OS{}, r.path(name+"/"+bilstm.FileName), set))
}

// entry returns a sequence of a table.
func (r *legacyRuns) entry(a, b int64, accuracy any) (pickle.Tuple, *pickle.Dict) {
	fields, err := pickletest.Dict(pickle.Pair{Key: "timeleft",
		Value: &pickle.List{Items: []any{60.5 - float64(a), 30.25 - float64(b)}}},
		pickle.Pair{Key: "totaltime", Value: int64(100)}, pickle.Pair{Key: "acc", Value: accuracy})
	require.NoError(r.t, err)
	return pickle.Tuple{a, b}, fields
}

// table writes a table of all sequences of two actions out of four, after a change.
func (r *legacyRuns) table(change func(*pickle.Dict)) {
	all := &pickle.Dict{}
	for a := range int64(4) {
		for b := range int64(4) {
			key, fields := r.entry(a, b, float64(5*(4*a+b)%16)/16)
			require.NoError(r.t, all.Set(key, fields))
		}
	}
	change(all)
	var text strings.Builder
	require.NoError(r.t, pickle.Write(&text, all))
	r.write("table/data.pkl", text.String())
}

func (r *legacyRuns) evaluate(more ...string) outcome {
	args := []string{"evaluate"}
	for _, flag := range []string{"policy", "table", "vocab"} {
		if name := map[string]string{"policy": "learned"}[flag]; !slices.Contains(more, "--"+flag) {
			args = append(args, "--"+flag, r.path(cmp.Or(name, flag)))
		}
	}
	return graft(append(args, more...)...)
}

func TestEvaluateSaysHowAPolicyFares(t *testing.T) {
	r := newLegacyRuns(t)
	got := ends(t, r.evaluate(), failure.Done, "")
	containsAll(t, got.stdout, "policy  learned, of the original\n\n"+
		"table   table: ConvNet2 on cifar10, 16 sequences of 2 decisions, start at 40 s of 100 s\n",
		"DECISION  TIME LEFT  ACTION", "       1     60.5 s  ", "always deepen:2", "best fixed", "random",
		"upper bound, estimated from reordered sequences")
	report := decoded[runs.EvaluationReport](t, r.evaluate("--json").stdout)
	table := report.Tables[0]
	best, never, chosen := verdictOf(t, table, "optimum"), verdictOf(t, table, "never"), verdictOf(t, table, "learned")
	require.Equal(t, 0.9375, best.Accuracy)
	require.Equal(t, []string{"deepen:0", "none"}, best.Sequence)
	require.Equal(t, []any{0.6875, 5.0, 25.0}, []any{never.Accuracy, never.Rank, never.Regret})
	require.InDelta(t, 7.5/16, verdictOf(t, table, "random").Accuracy, 1e-12)
	require.InDelta(t, 100*(0.9375-chosen.Accuracy), chosen.Regret, 1e-12)
	require.Equal(t, chosen.Sequence[0], table.Steps[0].Steps[0].Action)
	require.Equal(t, 40.0, table.Start)
	require.Equal(t, evaluation.SeenThese, report.Standings[7].Seen)
	require.Equal(t, evaluation.SeenThis, report.Standings[0].Seen, "the policy's folder names its table")
	fromLearned := ends(t, r.evaluate("--json", "--table", r.path("learned")), failure.Done, "")
	require.Equal(t, r.evaluate("--json").stdout,
		strings.Replace(fromLearned.stdout, `"table":"`+r.path("learned")+`"`, `"table":"`+r.path("table")+`"`, 1),
		"a policy's folder stands for the table that it learned from")
}

func TestEvaluateAsTheOriginalDid(t *testing.T) {
	r := newLegacyRuns(t)
	own, published := r.evaluate("--compat"), r.evaluate("--compat", "--as-published")
	require.Equal(t, failure.Done, own.code, own.stderr)
	require.Equal(t, failure.Done, published.code, published.stderr)
	require.NotEqual(t, bodyOf(t, own.stdout), bodyOf(t, published.stdout))
	source := r.evaluate("--compat", "--prefix", "never", "--policy", r.path("source"))
	require.Equal(t, bodyOf(t, source.stdout), bodyOf(t, published.stdout),
		"which is of the policy that learning began with")
	require.Equal(t, r.path("learned"), lineAfter(t, published.stdout, "=== Model Folder ==="),
		"though it names the other")
	n, err := model.Zoo("ConvNet2", model.ZooOptions{})
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(own.stdout, n.String()+"\n=== Model Folder ===\n"))
	require.NotEqual(t, r.evaluate("--json", "--prefix", "always").stdout,
		r.evaluate("--json", "--prefix", "never").stdout)
	alone := r.evaluate("--compat", "--as-published", "--policy", r.path("source"))
	require.Equal(t, bodyOf(t, source.stdout), bodyOf(t, alone.stdout), "which began with none")
}

// legacyRefusal is an evaluation that fails: the damage before it, its arguments, and the expected error.
type legacyRefusal struct {
	spoil func(*legacyRuns)
	args  []string
	code  failure.Code
	says  []string
}

func (c legacyRefusal) check(t *testing.T) {
	r := newLegacyRuns(t)
	if c.spoil != nil {
		c.spoil(r)
	}
	t.Chdir(r.folder)
	got := ends(t, r.evaluate(c.args...), c.code, "")
	require.Empty(t, got.stdout)
	containsAll(t, got.stderr, c.says...)
}

func TestWhatCannotBeEvaluatedSaysWhatToDo(t *testing.T) {
	cut := func(name string) func(*legacyRuns) {
		return func(r *legacyRuns) { text := r.read(name); r.write(name, text[:len(text)/2]) }
	}
	gone := func(name string) func(*legacyRuns) {
		return func(r *legacyRuns) { require.NoError(r.t, os.Remove(r.path(name))) }
	}
	weigh := func(change func(*weights.Set)) func(*legacyRuns) {
		return func(r *legacyRuns) {
			set := policytest.Weights(r.vocab, policytest.Small, 1)
			change(set)
			r.learned("learned", set)
		}
	}
	table := func(change func(*legacyRuns, *pickle.Dict)) func(*legacyRuns) {
		return func(r *legacyRuns) { r.table(func(d *pickle.Dict) { change(r, d) }) }
	}
	const command = "cos\nsystem\n(S'true'\ntR."
	for name, c := range map[string]legacyRefusal{
		"a policy cut short": {cut("learned/agent.finalmodel.pth"), nil, failure.Damaged,
			[]string{"truncated", "copy the file again"}},
		"a policy that is empty": {func(r *legacyRuns) { r.write("learned/agent.finalmodel.pth", "") }, nil,
			failure.Damaged, []string{"empty", "copy the file again"}},
		"weights of other sizes": {weigh(func(s *weights.Set) {
			policytest.Put(s, "decider.linear2.weight", policytest.Zeros("decider.linear2.weight", 5, 9))
		}), nil, failure.Damaged, []string{"decider.linear2 expects 9 inputs", "belong to different policies"}},
		"a network's weights": {weigh(func(s *weights.Set) {
			s.Tensors = []weights.Tensor{policytest.Zeros("conv1.layers.0.weight", 3)}
		}), nil, failure.Damaged, []string{"tensor encoder.encoder.weight_ih_l0 is missing"}},
		"another configuration": {func(r *legacyRuns) { r.write("learned/config.toml", "[agent]\nhidden_size = 50\n") },
			nil, failure.Damaged, []string{"hidden_size = 50", "belong to different runs"}},
		"a faulty configuration": {func(r *legacyRuns) {
			r.write("learned/config.toml", "[agent]\nhidden_size = \"a\"\n")
		}, nil, failure.Configuration, []string{"config.toml:2:15", "whole number"}},
		"another action set": {five, nil, failure.Failed, []string{"the policy chooses among 5 actions, " +
			"but the table has 4", "use a policy that was trained on a table with this number of actions"}},
		"no policy": {gone("learned/agent.finalmodel.pth"), nil, failure.Failed,
			[]string{"no such file", "a folder with the file agent.finalmodel.pth"}},
		"no configuration": {gone("learned/config.toml"), nil, failure.Failed,
			[]string{"no such file", "with a file config.toml"}},
		"no policy's folder": {nil, []string{"--policy", "nowhere"}, failure.Failed,
			[]string{"nowhere", "no such file", "expected a policy file, or a folder"}},
		"a sequence is missing": {table(func(r *legacyRuns, d *pickle.Dict) { remove(r, d, 1, 2) }), nil,
			failure.Damaged, []string{"1 of its sequences are missing, such as (deepen:1, deepen:2)", "simulate them"}},
		"sequences are duplicates": {func(r *legacyRuns) { // pickles end in the opcodes for entries and for the end
			text := r.read("table/data.pkl")
			r.write("table/data.pkl", text[:len(text)-2]+text[4:])
		}, nil, failure.Damaged, []string{"16 sequences are duplicates", "copy"}},
		"an accuracy is a text": {table(func(r *legacyRuns, d *pickle.Dict) { set(r, d, 1, 2, "high") }), nil,
			failure.Damaged, []string{"sequence [1 2]", "acc", "again"}},
		"an accuracy of another": {table(func(r *legacyRuns, d *pickle.Dict) { set(r, d, 1, 2, 12.0) }), nil,
			failure.Damaged, []string{"(deepen:1, deepen:2)", "between 0 and 1", "again"}},
		"an action beyond": {table(func(r *legacyRuns, d *pickle.Dict) { set(r, d, 1, 4, 0.5) }), nil, failure.Damaged,
			[]string{"action is 4; must be below 4"}},
		"a table cut short": {cut("table/data.pkl"), nil, failure.Damaged,
			[]string{"read table table", "copy", "again"}},
		"a table with a command": {func(r *legacyRuns) { r.write("table/data.pkl", command) }, nil, failure.Damaged,
			[]string{"not allowed", "os.system"}},
		"a policy with a command": {func(r *legacyRuns) { r.write("learned/agent.finalmodel.pth", "\x80\x02"+command) },
			nil, failure.Damaged, []string{"agent.finalmodel.pth", "not allowed", "os.system"}},
		"a file with a command": {func(r *legacyRuns) { r.write("learned/agent.finalmodel.pth", "\x80\x02"+command) },
			[]string{"--policy", "learned/agent.finalmodel.pth"}, failure.Damaged,
			[]string{"not allowed", "copy the file again"}},
		"no table": {gone("table/data.pkl"), nil, failure.Failed, []string{"no such file", "with a file data.pkl"}},
		"no network of the table": {func(r *legacyRuns) { r.write("table/config.toml", "[runner]\nseed = 1\n") }, nil,
			failure.Configuration, []string{"job.model, the network of the table, is missing"}},
		"an unknown network": {func(r *legacyRuns) { r.write("table/config.toml", "[job]\nmodel = \"ConvNet22\"\n") },
			nil, failure.Configuration, []string{"config.toml:2:9", "did you mean ConvNet"}},
		"ids with a command": {func(r *legacyRuns) { r.write("vocab/models.ids.pkl", command) }, nil, failure.Damaged,
			[]string{"not allowed"}},
		"vectors cut short": {cut("vocab/models.embeddings.pkl"), nil, failure.Damaged,
			[]string{"read vocabulary", "truncated"}},
		"no vocabulary": {gone("vocab/models.ids.pkl"), nil, failure.Failed,
			[]string{"neither vocabulary.json nor a file *.ids.pkl", "'graft vocab build'"}},
		"another vocabulary": {foreign, nil, failure.Damaged,
			[]string{"the policy's vector for token 0 differs", "use"}},
		"a network it does not know": {func(r *legacyRuns) {
			r.write("table/config.toml", "[job]\nmodel = \"ConvNet3\"\n")
		}, nil, failure.Failed, []string{"Conv2d(3, 64, kernel_size=(3, 3), stride=(1, " +
			"1)) at conv1.layers.0 of ConvNet3 has no token", "'graft vocab check'"}},
	} {
		t.Run(name, c.check)
	}
}

func TestOptionsThatCannotBeEvaluatedSayWhatToDo(t *testing.T) {
	for name, c := range map[string]legacyRefusal{
		"no source": {func(r *legacyRuns) { require.NoError(r.t, os.RemoveAll(r.path("source"))) },
			[]string{"--compat", "--as-published"}, failure.Failed,
			[]string{"read the initial policy of ", "(../results/source/agent.finalmodel.pth)", "no such file"}},
		"a file has no source": {nil, []string{"--compat", "--as-published", "--policy",
			"learned/agent.finalmodel.pth"}, failure.Usage, []string{"--as-published requires the folder"}},
		"as published, but no report": {nil, []string{"--as-published"}, failure.Usage, []string{"requires --compat"}},
		"no such prefix": {nil, []string{"--prefix", "some"}, failure.Usage,
			[]string{`prefix is "some"`}},
		"two mistakes and a prefix": {nil, []string{"--compat", "--as-published", "--prefix", "never"}, failure.Usage,
			[]string{"prefix"}},
		"an object and a report": {nil, []string{"--compat", "--json"}, failure.Usage, []string{"json"}},
		"no policy is named":     {nil, []string{"--policy", ""}, failure.Usage, []string{"--policy is missing"}},
		"no table is named":      {nil, []string{"--table", ""}, failure.Usage, []string{"--table is missing"}},
		"no vocabulary is named": {nil, []string{"--vocab", ""}, failure.Usage, []string{"--vocab is missing"}},
		"none for the report": {nil, []string{"--vocab", "", "--compat"}, failure.Usage,
			[]string{"--vocab is missing"}},
		"a vocabulary of another kind": {nil, []string{"--vocab", "table/config.toml"}, failure.Damaged,
			[]string{"must end in .json or .ids.pkl"}},
	} {
		t.Run(name, c.check)
	}
}

// five replaces the policy by one with five actions.
func five(r *legacyRuns) {
	shape := policytest.Small
	shape.Actions = 5
	r.learned("learned", policytest.Weights(r.vocab, shape, 1))
	r.write("learned/config.toml", "[agent]\nmax_actions = 5\n")
}

// foreign replaces the vocabulary by another one of the same layers.
func foreign(r *legacyRuns) {
	n, err := model.Zoo("ConvNet2", model.ZooOptions{})
	require.NoError(r.t, err)
	v, err := vocab.Build([]*model.Network{n}, r.vocab.Size(), rand.New(rand.NewPCG(2, 0)))
	require.NoError(r.t, err)
	require.NoError(r.t, v.WritePickles(files.OS{}, r.path("vocab/models")))
}

func set(r *legacyRuns, d *pickle.Dict, a, b int64, accuracy any) {
	key, fields := r.entry(a, b, accuracy)
	require.NoError(r.t, d.Set(key, fields))
}

func remove(r *legacyRuns, d *pickle.Dict, a, b int64) {
	kept := &pickle.Dict{}
	for key, value := range d.All() {
		if fmt.Sprint(key) != fmt.Sprint(pickle.Tuple{a, b}) {
			require.NoError(r.t, kept.Set(key, value))
		}
	}
	*d = *kept
}

// A job with a policy starts only if the policy can decide for its network.
func TestTrainAsksAPolicy(t *testing.T) {
	r := newLegacyRuns(t)
	t.Chdir(r.folder)
	train := func(more ...string) outcome {
		args := []string{"train", "--json", "--folder", "run", "--set", "adapt.decider=policy", "--set",
			"adapt.policy=learned", "--set", "adapt.vocabulary=vocab", "--set", "network.name=ConvNet2", "--set",
			"data.synthetic.train=128", "--set", "data.synthetic.test=64", "--set", "data.synthetic.size=16",
			"--set", "data.synthetic.classes=10", "--set", "time.budget=2s", "--set",
			`time.events=[{at="30ms", change="up"}]`, "--set", "train.epochs=3"}
		return graft(append(args, more...)...)
	}
	ends(t, train("--set", "data.synthetic.channels=1"), failure.Configuration,
		"Conv2d(1, 32, kernel_size=(3, 3), stride=(1, 1)) at conv1.layers.0 of ConvNet2 has no token")
	require.NoFileExists(t, "run/manifest.json", "nothing was begun")
	ends(t, train("--set", "adapt.each_epoch=true"), failure.Done, "")
	events := r.read("run/events.jsonl")
	require.Contains(t, events, `"event":"decision"`)
	require.Contains(t, events, `"probabilities":[0.`)
}
