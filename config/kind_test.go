package config

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/original/policyfile"
	"graft/results"
)

// note is a minimal kind of file: options, defaults and checks.
type note struct {
	sources
	Note noteOptions
}

type noteOptions struct {
	Text  string
	Lines int    // zero means 1
	Path  string `result:"none"`
}

func (n *note) EnsureDefaults() { n.Note.Lines = max(n.Note.Lines, 1) }

func (n *note) Validate() error {
	if n.Note.Text == "" {
		return errors.New("text is missing; write one")
	}
	return nil
}

var noteKind = &Kind{Name: "note", Noun: "note", Title: "a note", Sections: []string{"note"},
	New: func() File { return &note{} }}

// A kind needs no code except its options, defaults and checks.
func TestAKindIsAValue(t *testing.T) {
	path := written(t, "a.toml", "[note]\ntext = \"hello\"\npath = \"here\"\n")
	f := must(noteKind.Read(files.OS{}, path, []string{"note.lines=3"}))
	require.Equal(t, noteOptions{"hello", 3, "here"}, f.(*note).Note)
	values := Values(f)
	assert.Equal(t, []string{path + ":2", "--set", path + ":3"},
		[]string{values[0].Source.String(), values[1].Source.String(), values[2].Source.String()})
	assert.Equal(t, "[note]\ntext = \"hello\"\nlines = 3\npath = \"here\"\n", Resolved(f))
	moved := must(noteKind.Read(files.OS{}, path, []string{"note.lines=3", "note.path=there"}))
	assert.Equal(t, Digest(f), Digest(moved))
	assert.Empty(t, differences(f, moved))
	longer := must(noteKind.Read(files.OS{}, path, nil))
	assert.NotEqual(t, Digest(f), Digest(longer))
	assert.Equal(t, []string{"note.lines was 1 and is now 3"}, differences(f, longer))
	schema := must(noteKind.Schema())
	assert.Contains(t, schema, `"title": "a note"`)
	_, err := noteKind.Read(files.OS{}, written(t, "b.toml", "[note]\nlins = 3\n"), nil)
	assert.ErrorContains(t, err, "read note: 2 faults")
	assert.ErrorContains(t, err, `unknown key "lins" in note; did you mean lines?`)
	assert.ErrorContains(t, err, "text is missing; write one")
}

func TestKindsAreTheirSections(t *testing.T) {
	for text, kind := range map[string]*Kind{"[pipeline]\n[learn]": PipelineKind, "[cluster]": KindNamed("rigid"),
		"[simulate]\n[run]": SimulationKind, "[tables]\n[learn]": TreeLearningKind,
		"[table]": KindNamed(policyfile.KindName), "[learn]": KindNamed(policyfile.KindName),
		"[run]": JobKind, "": JobKind, "[[": JobKind,
		"[run]\nseed = 1\nseed = 2\n[simulate]": SimulationKind} {
		path := written(t, "a.toml", text)
		assert.Equal(t, kind.Name, KindOf(files.OS{}, path).Name, text)
		assert.Equal(t, text, Open(files.OS{}, path).Text())
	}
	assert.Equal(t, JobKind, KindOf(files.OS{}, "none.toml"))
	names := map[string]bool{}
	for _, k := range Kinds() {
		assert.False(t, names[k.Name] || k.Noun == "" || k.Files == "" || k.Title == "" || k.Summary == nil ||
			k.Page.Title == "", k.Name)
		assert.Contains(t, Reference(), "# "+k.Page.Title+"\n")
		names[k.Name] = true
	}
}

// A key affects results in the same way in all kinds of files.
func TestWhatResultsHaveToDoWithKeys(t *testing.T) {
	all, by := map[string]decode.Result{}, map[decode.Result][]string{}
	for _, k := range Kinds() {
		for _, v := range Values(k.New()) {
			if was, known := all[v.Key]; known {
				assert.Equal(t, was, v.Result, v.Key)
				continue
			}
			all[v.Key], by[v.Result] = v.Result, append(by[v.Result], v.Key)
			assert.Equal(t, v.Result == decode.None, ChangesNoResult(v.Key), v.Key)
		}
	}
	for result, want := range map[decode.Result]string{
		decode.None: "run.folder run.fork run.listen run.tensorboard run.checkpoint_every run.workers " +
			"pipeline.folder pipeline.cache schedule.workers workloads.test workloads.test_count " +
			"simulate.tries simulate.cache adapt.on_error train.keep_best checkpoint. fleet. " +
			"parallel.listen parallel.token_file parallel.min_processes program.folder program.silence",
		decode.Rounding: "run.device run.threads run.instructions train.cuda_graphs parallel.",
		decode.Contents: "workload.traces failures.file elastic.speeds elastic.types graphs.models " +
			"adaptive.data machine.profiles " +
			"workloads.from workloads.train workloads.validation pipeline.scenarios pipeline.set pipeline.trials " +
			"tables.folders tables.held_out",
	} {
		for _, key := range by[result] {
			section, _, _ := strings.Cut(key, ".")
			assert.True(t, strings.Contains(want+" ", key+" ") || strings.Contains(want+" ", section+". "), key)
		}
		for key := range strings.FieldsSeq(want) {
			assert.Contains(t, strings.Join(by[result], " ")+" ", key, result)
		}
	}
	for _, key := range []string{"run.seed", "network.weights", "runner.folder", "nothing"} {
		assert.False(t, ChangesNoResult(key), key)
	}
}

// Many missing files are reported as a few faults and a count.
func TestAPipelineOfManyMissingScenarios(t *testing.T) {
	var list []string
	for k := range 5000 {
		list = append(list, fmt.Sprintf("%q", fmt.Sprintf("none%d.toml", k)))
	}
	_, err := ReadPipeline(files.OS{},
		written(t, "a.toml", "[pipeline]\nscenarios = ["+strings.Join(list, ", ")+"]\n"), nil)
	var faults Faults
	require.ErrorAs(t, err, &faults)
	assert.LessOrEqual(t, len(faults), 1000)
	assert.ErrorContains(t, err, "5000 faults\n")
	assert.ErrorContains(t, err, "scenarios[0]: stat none0.toml")
	assert.ErrorContains(t, err, "and 4980 more")
	assert.Less(t, len(err.Error()), 10_000)
}

// A renamed key is a fault that names the new key, except in a file that graft wrote, and changes no digest. A removed
// key is a fault that names its replacement.
func TestRenamedKeys(t *testing.T) {
	const old = "[network]\nweights = \"a.pth\"\nanew = true\n[adapt]\nmost = 2\n[schedule]\nleast = 1e-5\n" +
		"[parallel]\nmost = 3\n[distill]\nkeep = true\n"
	_, err := ReadJob(files.OS{}, written(t, "job.toml", old), nil)
	for _, says := range []string{"anew was renamed to reset_epochs; rename it", "most was renamed to max_decisions",
		"least was renamed to min_lr", "most was renamed to max_processes",
		"keep was removed: use schedule.restart, which sets when the learning rate restarts"} {
		require.ErrorContains(t, err, says)
	}
	_, err = ReadJob(files.OS{}, "", []string{"adapt.most=2"})
	require.ErrorContains(t, err, "most was renamed to max_decisions")

	path := written(t, results.ResolvedFile, old)
	was := must(ReadJob(files.OS{}, path, nil))
	now := must(ReadJob(files.OS{}, "", []string{"network.weights=a.pth", "network.reset_epochs=true",
		"adapt.max_decisions=2", "schedule.min_lr=1e-5", "parallel.max_processes=3"}))
	assert.Empty(t, now.Differences(was))
	assert.Equal(t, Resolved(now), Resolved(was))
	assert.Equal(t, "b797d1b5958c00044a72da2945bb9aacedad0d6597c53a99d706043db716b773", now.Digest())

	settings := must(Open(files.OS{}, path).Settings())
	assert.Contains(t, settings, Setting{Key: "adapt.max_decisions", Text: "2"})
	assert.Contains(t, settings, Setting{Key: "network.weights", Text: "a.pth"})
}

// A folder's configuration that this version cannot read is the reason, not the content of the files that it names.
func TestChangesFromAFileThatCannotBeRead(t *testing.T) {
	now := must(ReadJob(files.OS{}, "", nil))
	assert.Equal(t, "the content of a file that the configuration reads has changed",
		Changes(files.OS{}, written(t, "case.toml", now.Resolved()), now))
	path := written(t, "case.toml", "[adapt]\nequal_shares = false\n")
	assert.Equal(t, "this version of graft cannot read "+path+" ('graft config check "+path+"' says why)",
		Changes(files.OS{}, path, now))
}

// A key added in a later version changes the digest only if it is not zero.
func TestLateKeysAreAbsentWhileZero(t *testing.T) {
	plain := must(ReadJob(files.OS{}, "", nil))
	for _, set := range []string{"optimizer.clip_norm=0", "train.label_smoothing=0", "train.micro_batch=0",
		"train.ema=0", "augment.rand_augment=0", "augment.mixup=0"} {
		assert.Equal(t, plain.Digest(), must(ReadJob(files.OS{}, "", []string{set})).Digest(), set)
	}
	for _, set := range []string{"optimizer.clip_norm=1", "train.label_smoothing=0.1", "train.max_memory_mb=9",
		"train.ema=0.9", "augment.mixup=1", "optimizer.weight_decay=0.1"} {
		other := must(ReadJob(files.OS{}, "", []string{set}))
		assert.NotEqual(t, plain.Digest(), other.Digest(), set)
		assert.Len(t, other.Differences(plain), 1)
	}
}

// The kind of a file with a syntax error is inferred from its tables.
func TestKindOfBrokenFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broken.toml")
	require.NoError(t, os.WriteFile(path,
		[]byte("[run]\nseeds = 3\n[policy]\nhiden = 3\nkinds = [\n[tables]\n"), 0o600))
	d := Open(files.OS{}, path)
	require.Equal(t, TreeLearningKind, d.Kind())
	_, err := d.Read(nil)
	require.ErrorContains(t, err, "2 faults")
	require.ErrorContains(t, err, `unknown key "hiden" in policy; did you mean hidden?`)
}

// Options that the device or the memory cannot support are faults of the file.
func TestTrainingThatCannotBe(t *testing.T) {
	for set, says := range map[string]string{
		"train.precision=float16": "precision is float16, which LibTorch supports only on CUDA devices",
		"train.micro_batch=-1":    "micro_batch is -1",
		"train.ema=1":             "ema is 1",
		"augment.magnitude=5":     "rand_augment is 0",
		"augment.mixup=-1":        "mixup is -1",
		"train.label_smoothing=2": "label_smoothing is 2",
	} {
		_, err := ReadJob(files.OS{}, "", []string{set})
		assert.ErrorContains(t, err, says, set)
	}
	_, err := ReadJob(files.OS{}, "", []string{"optimizer.clip_norm=1", "optimizer.clip_value=1"})
	assert.ErrorContains(t, err, "remove one of them")
	_, err = ReadJob(files.OS{}, "", []string{"train.max_memory_mb=1", "network.name=ResNet18",
		"data.synthetic.size=224"})
	assert.ErrorContains(t, err, "raise max_memory_mb")
	_, err = ReadJob(files.OS{}, "", []string{"train.precision=float16", "run.device=cuda:0"})
	assert.NoError(t, err)
}

// A file of another kind is recognized by its sections, and the error names its command.
func TestFilesOfAnotherKindNameTheirCommand(t *testing.T) {
	commands := map[*Kind]string{SimulationKind: "[simulate]\nactions = [1]", TreeLearningKind: "[tables]\ntrain = 3",
		PipelineKind: "[pipeline]\nscenarios = 4", KindNamed("rigid"): "[cluster]\ndata = 2",
		KindNamed(policyfile.KindName): "[table]\nfile = 1", JobKind: "[time]\nbudget = true"}
	for of, text := range commands {
		path := written(t, "other.toml", text)
		for _, k := range []*Kind{JobKind, SimulationKind, TreeLearningKind, PipelineKind, KindNamed("rigid"),
			KindNamed(policyfile.KindName),
			SweepKind} {
			_, err := k.Read(files.OS{}, path, nil)
			if k.Command == of.Command || of == JobKind && (k == SimulationKind || k == SweepKind) {
				assert.NotContains(t, err.Error(), ": use 'graft", "%s as %s", of.Name, k.Name)
				continue
			}
			assert.ErrorContains(t, err, "read "+k.Noun+": 1 fault", "%s as %s", of.Name, k.Name)
			assert.ErrorContains(t, err, path+":1:2: this key is for "+of.Files+": use '"+of.Command+"'")
		}
		_, err := ReadNetwork(files.OS{}, path)
		assert.ErrorContains(t, err, ": use '"+of.Command+"'")
		_, err = ReadProfile(files.OS{}, path)
		assert.ErrorContains(t, err, ": use '"+of.Command+"'")
	}
	_, err := ReadJob(files.OS{}, written(t, "contrasts.toml", "[[contrast]]\narm = \"a\"\n"), nil)
	assert.ErrorContains(t, err, "this key is for files of contrasts: compare the cases of runs with 'graft report")
	_, err = ReadJob(files.OS{}, written(t, "arms.toml", "[never]\n[late]\nadapt.when = \"share\"\n"), nil)
	assert.ErrorContains(t, err, "this table is a case of a job: use 'graft train JOB --cases FILE'")
	_, err = ReadJob(files.OS{}, written(t, "odd.toml", "[late]\nadapt.when = \"share\"\n[more]\nodd = 1\n"), nil)
	assert.ErrorContains(t, err, `unknown key "late"`)
	_, err = ReadJob(files.OS{}, written(t, "net.toml", "name = \"a\"\ninput = [3, 8, 8]\nlayers = []\n"), nil)
	assert.ErrorContains(t, err, "this key is for network files: set network.file of a job to this file")
	_, err = ReadNetwork(files.OS{}, written(t, "profile.toml", "name = \"a\"\n[costs]\n"))
	assert.ErrorContains(t, err, "this key is for profiles: set time.profile of a job to this file")
	_, err = ReadJob(files.OS{}, written(t, "job.toml", "[compare]\narms = [\"never\"]\n[simulate]\n"), nil)
	assert.ErrorContains(t, err, "use 'graft simulate'")
}

// An unknown key or section that another kind of file has is named as such; a misspelt key is not.
func TestUnknownKeysOfOtherKinds(t *testing.T) {
	for text, says := range map[string]string{
		"[train]\nbatch = 8\n[learn]\nsteps = 3\n": `this key is for files for training policies`,
		"[schedule]\nschedulers = [\"fifo\"]\n":    "schedule.schedulers is a key of files for ",
		"[run]\nplaces = 3\n":                      `unknown key "places" in run; known keys are`,
	} {
		_, err := ReadJob(files.OS{}, written(t, "job.toml", text), nil)
		assert.ErrorContains(t, err, says)
	}
	_, err := ReadJob(files.OS{}, "", []string{"schedule.schedulers=fifo"})
	assert.ErrorContains(t, err, "files of cluster simulations")
}

// A misspelt section that names another kind of file, and a file without a section that names its kind, have a fault
// that names the section to write.
func TestFaultsOfSections(t *testing.T) {
	const cluster = "[cluster]\nnodes = 2\n[workloads]\ntraces = [\"a.csv\"]\n"
	for _, c := range []struct {
		kind       *Kind // nil for the kind of the file's sections
		text, says string
	}{
		{KindNamed("rigid"), cluster, `unknown key "workloads"; did you mean workload?`},
		{nil, cluster, "this key is for files for training schedulers of elastic jobs, but the section cluster is " +
			"for files of cluster simulations: use 'graft cluster run'; if this is such a file, rename workloads to " +
			"workload"},
		{nil, "[workload]\ntraces = [\"a.csv\"]\n", "add one of: workloads for 'graft learn', cluster for 'graft " +
			"cluster run'"},
		{KindNamed(policyfile.KindName), "[workload]\n", "this section needs another section, which names the kind"},
		{nil, "[workload]\n[cluster]\nnode = 2\n", `unknown key "node" in cluster; did you mean nodes?`},
		{nil, "[chekpoint]\n", `unknown key "chekpoint"; did you mean checkpoint?`},
	} {
		d := Open(files.OS{}, written(t, "file.toml", c.text))
		_, err := d.as(cmp.Or(c.kind, d.Kind()), nil)
		require.ErrorContains(t, err, c.says)
	}
}
