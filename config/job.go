package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"graft/dataset"
	"graft/internal/coprocess"
	"graft/internal/decode"
	"graft/internal/files"
	"graft/model"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
	"graft/trainer/program"
)

// The comments of the fields are the descriptions of keys, which the reference page shows.
//
//go:generate go test -run TestDescriptionsAreTheComments -update .
//go:generate go test -run TestTheReferenceIsOfTheKeys -update .

// JobKind is the default kind: a file without a section that identifies another kind is a job.
var JobKind = &Kind{
	Name: "job", Noun: "job", Command: "graft train", Files: "job files", Title: "a job of graft",
	New: func() File { return NewJob() }, Summary: summaryOf((*Job).Summary),
	Page: Page{Title: "Keys of a job's file",
		Intro: "A job file is TOML. A missing key takes its default. `graft config show --describe` prints a\n" +
			"file with all keys, and `graft config check` lists the errors of a file. A time is a text such\n" +
			"as `\"1m30s\"`, or a number of seconds. A relative path of an input file starts from the folder\n" +
			"in which graft is called; if that file does not exist, from the folder of the configuration\n" +
			"file. Paths of `--set` and of outputs always start from the folder in which graft is called.\n" +
			"`graft config schema --markdown` prints this page. A [scenario's\n" +
			"file](#keys-of-a-scenarios-file) has two more sections; a [pipeline's\n" +
			"file](#keys-of-a-pipelines-file) leads from scenarios to a policy. [Structural\n" +
			"policies](#keys-for-training-structural-policies) and\n" +
			"[policies of the original system](#keys-for-training-a-policy-of-the-original-system)\n" +
			"have their own files.\n"},
}

// Job holds the options of a job file. Each section holds the options of a package; a missing section takes default
// values. By default, a job trains ConvSmall on synthetic images for 60 seconds on the virtual clock.
type Job struct {
	Run RunOptions // seed, device and output
	// A PyTorch program that trains the network in its own loop. Empty means that graft trains the network.
	Program program.Options
	Network NetworkOptions  // Network to train, and its initial weights.
	Data    dataset.Options // Dataset. Empty means synthetic images.
	Time    TimeOptions     // Budget, clock, and planned changes of devices.
	// Training options that are not in the sections optimizer, schedule, augment, distill, checkpoint and parallel.
	Train trainer.Options `config:",hoist,omit=seed|timeline|adapt|optimizer.fused|parallel.background"`
	// Adaptation: the decider, the times of its decisions, and surgery. Empty means no adaptation.
	Adapt AdaptOptions

	sources
	profile *clock.Profile          // nil on a wall clock
	network *model.Network          // without tensors; a zoo network has its own input and classes
	history *trainer.WeightsHistory // of the initial weights; nil if unknown
	policy  *jobPolicy              // nil for the other deciders
	asked   string                  // digest of the program that decides; empty for the other deciders
	trains  string                  // digest of the files of the program that trains; empty without one
	facts   program.Facts           // size of an epoch of the program that trains; zero before SetNetwork
	brought torch.OptimizerOptions  // optimizer of this program
	noData  error                   // the files of the data are not on this machine
	ignored string                  // name of a folder for validation that the data does not use
}

// NewJob returns the options of an empty job file. EnsureDefaults sets the remaining defaults.
func NewJob() *Job {
	j := &Job{}
	j.Run.Seed = 1
	j.Time.Budget = time.Minute
	j.Train.EnsureDefaults() // an optimizer with only a rule keeps its default rate
	j.Train.Adapt = trainer.Adapt{}
	return j
}

// OneJob returns the job that a job, comparison or scenario file describes.
func (j *Job) OneJob() *Job { return j }

// ReadJob reads a job. If a file also has options for trials, ReadJob reads only the job.
func ReadJob(fsys files.FS, path string, set []string) (*Job, error) {
	d := Open(fsys, path)
	if d.Kind() == SweepKind {
		s, err := d.Sweep(set)
		if err != nil {
			return nil, err
		}
		return &s.Job, nil
	}
	return readAs[*Job](JobKind, d, set)
}

// EnsureDefaults sets zero fields to their defaults.
func (j *Job) EnsureDefaults() {
	j.Run.EnsureDefaults()
	j.Program.EnsureDefaults()
	j.Network.EnsureDefaults()
	j.Data.EnsureDefaults()
	j.Time.EnsureDefaults()
	j.Adapt.EnsureDefaults()
	o := j.Options()
	o.EnsureDefaults()
	j.Adapt.Adapt = o.Adapt
	o.Seed, o.Timeline, o.Adapt = 0, trainer.Timeline{}, trainer.Adapt{}
	j.Train = o
}

// Validate returns an error that lists every invalid option.
func (j *Job) Validate() error {
	return errors.Join(j.Run.Validate(), j.Network.Validate(), j.Data.Validate(), j.Time.Validate(),
		j.Adapt.Validate(), j.Options().Validate(), j.precision(), j.trials(), j.forks(), j.Program.Validate())
}

// trials returns an error if copies for trials would have to train in several processes.
func (j *Job) trials() error {
	if j.Adapt.Decider == decideTrials && j.Train.Parallel.On {
		return errors.New("adapt.decider is \"trials\", which trains copies in one process, but parallel.on is true; " +
			"set parallel.on to false, or use another decider")
	}
	return nil
}

// forks returns an error if a job in several processes would start from a checkpoint: its events depend on when the
// processes start.
func (j *Job) forks() error {
	if j.Run.Fork != "" && j.Train.Parallel.On {
		return errors.New("run.fork is set, but parallel.on is true; set parallel.on to false, or remove run.fork")
	}
	return nil
}

// precision returns an error if the device does not support the precision.
func (j *Job) precision() error {
	if j.Run.Device == "cpu" {
		return j.Options().On(torch.CPU)
	}
	return nil
}

// Options returns the trainer's options.
func (j *Job) Options() trainer.Options {
	o := j.Train
	o.Seed, o.Timeline, o.Adapt = j.Run.Seed, j.Time.timeline(), j.Adapt.Adapt
	if j.facts.Batch > 0 {
		o.Batch, o.EvalBatch, o.Optimizer = j.facts.Batch, j.facts.Batch, j.brought
	}
	return o
}

// WithSeed returns the job with another seed.
func (j *Job) WithSeed(seed int64) *Job {
	other := *j
	other.Run.Seed = seed
	return &other
}

// Resolved returns the text of the file with the value of every key, including defaults.
func (j *Job) Resolved() string { return Resolved(j) }

// Digest covers the job's keys, the contents of the network file, the profile, the timeline, the policy and the user's
// programs, and the number of epochs for which the initial weights were already trained. For data and weights, it
// covers only the names.
func (j *Job) Digest() string { return digest(j, j.contents) }

func (j *Job) contents(w io.Writer) {
	if j.profile != nil {
		fmt.Fprint(w, chargedText(j.profile))
	}
	fmt.Fprintln(w, dialect.Text(j.Time.loaded))
	if epochs := j.InitialWeights().Epochs; epochs > 0 {
		fmt.Fprintln(w, epochs, "epochs before")
	}
	if j.policy != nil {
		fmt.Fprintln(w, "policy", j.policy.digest)
	}
	if j.asked != "" {
		fmt.Fprintln(w, "program", j.asked)
	}
	if j.trains != "" {
		fmt.Fprintln(w, "training program", j.trains)
	}
	if j.Network.File != "" && j.network != nil {
		fmt.Fprint(w, networkText(j.network))
	}
}

// Differences compares the keys that results depend on with the keys of another job. It lists each key whose value
// differs, as "KEY was OLD and is NEW".
func (j *Job) Differences(was *Job) []string { return differences(j, was) }

func (j *Job) load(fsys files.FS, r *decode.Reading) {
	r.Attempt("network.file", j.Network.File != "", func() (err error) {
		j.network, err = ReadNetwork(fsys, j.Network.File)
		return err
	})
	r.Attempt("program.command", j.Program.On(), func() error { return j.findProgram(fsys, r) })
	r.Attempt("network.classes", j.Network.Classes > 0 && j.network != nil, func() (err error) {
		j.network, err = j.network.WithClasses(j.Network.Classes)
		return err
	})
	r.Attempt("network.name", j.Network.File == "" && !j.Program.On(), func() (err error) {
		j.network, err = model.Zoo(j.Network.Name, model.ZooOptions{})
		return err
	})
	r.Attempt("data.vocabulary", j.Data.Vocabulary != "", func() error {
		return dataset.CheckVocabulary(fsys, j.Data)
	})
	r.Attempt("time.profile", j.Time.Clock == VirtualClock, func() (err error) {
		j.profile, err = FindProfile(fsys, j.Time.Profile)
		return err
	})
	r.Attempt("adapt.policy", j.Adapt.Decider == decidePolicy && j.Adapt.Policy != "", func() (err error) {
		j.policy, err = j.readPolicy(fsys)
		return err
	})
	r.Attempt("adapt.decider", j.Adapt.IsProgram(), func() (err error) {
		j.asked, err = coprocess.Digest(fsys, j.Adapt.Decider)
		return err
	})
	r.Attempt("adapt.vocabulary", j.Adapt.Vocab != "" && j.policy != nil && j.policy.structural != nil, func() error {
		return fmt.Errorf("%s is a structural policy, which does not use a vocabulary; remove adapt.vocabulary",
			j.Adapt.Policy)
	})
	r.Attempt("time.timeline", j.Time.EventsFile != "", func() (err error) {
		j.Time.loaded, err = ReadTimeline(fsys, j.Time.EventsFile)
		return err
	})
	j.begin(fsys, r)
}

// checkSteps reports training options that the initial network does not support.
func (j *Job) checkSteps(first *model.Network, r *decode.Reading) {
	o := j.Options()
	training, _ := dataset.DeclaredCounts(j.Data)
	for key, err := range map[string]error{"train.max_memory_mb": o.Fits(first), "train.precision": o.Computes(first),
		"train.batch": o.Normalizes(first, training)} {
		if err != nil {
			r.Blame(key, err.Error())
		}
	}
}

// Check reports an error if the network's input or output does not match the data. It also tries the decider's actions
// on a network without weights, and reports actions that can never be applied.
func (j *Job) Check(fsys files.FS, r *decode.Reading) {
	j.checkProgram(r)
	if j.network == nil || r.Failed() {
		return
	}
	if j.compare(fsys, r); r.Failed() {
		return
	}
	if first, err := j.Declared(fsys); err == nil { // otherwise compare has reported it
		j.checkSteps(first, r)
		j.checkCosts(first, r)
	}
	if g := j.network.Graph; g != nil && g.Foreign {
		if err := j.network.Try(context.Background(), fsys, j.InitialWeights().Weights); err != nil {
			r.Blame("network.file", err.Error())
			return
		}
	}
	if err := j.consult(); err != nil {
		r.Blame("adapt.policy", err.Error())
		return
	}
	if err := j.Adapt.Surgery.CheckCopies(j.network); err != nil && j.Adapt.Decider != DecideNone {
		key := "adapt.noise"
		if j.Adapt.Surgery.Noise == 0 {
			key = "adapt.split"
		}
		r.Blame(key, err.Error())
		return
	}
	if j.Adapt.rehearsed() { // other deciders skip actions that do not fit
		j.rehearse(r)
	}
	j.checkGradient(r)
	if !r.Failed() {
		j.checkBudget(r)
	}
}
