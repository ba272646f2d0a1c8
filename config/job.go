package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"graft/dataset"
	"graft/decider"
	"graft/files"
	"graft/model"
	"graft/net2net"
	"graft/trainer"
)

// Job is the file of one job: each section is a room's options. Sections that are
// missing have their defaults, with which a job trains ConvSmall on synthetic images
// for 60 seconds of a virtual clock.
type Job struct {
	Run     RunOptions      // where a job runs, and the seed of what it draws
	Network NetworkOptions  // which network is trained, and its first weights
	Data    dataset.Options // which images; empty means synthetic ones
	Time    TimeOptions     // how long a job lasts, on which clock, and when devices come and go
	// Train is how training goes. What is in it as a table stands beside it: optimizer,
	// schedule, augment, distill, checkpoint and parallel.
	Train trainer.Options `config:",hoist,omit=seed,omit=timeline,omit=adapt,omit=optimizer.fused,omit=parallel.background"`
	Adapt AdaptOptions    // who decides how the network is adapted, when, and how it is done; empty means nobody

	given   map[string]Source
	profile *trainer.Profile // nil on a wall clock
	network *model.Network   // without tensors; of the zoo it has its own input and classes
	history *history         // of the first weights; nil where nothing is known
	policy  *jobPolicy       // nil for the other deciders
}

// NewJob is what a file says that says nothing, before zero is filled in.
func NewJob() *Job {
	j := &Job{}
	j.Run.Seed = 1
	j.Time.Budget = time.Minute
	j.Train.EnsureDefaults() // an optimizer of which only the rule is given keeps its rate
	j.Train.Adapt = trainer.Adapt{}
	return j
}

// ReadJob reads a job's file, then assignments such as time.budget=30s; the empty
// path is no file. What it names is read as well: a network, a profile, a timeline.
// Where anything that is written is wrong, the error wraps [Faults].
func ReadJob(fsys files.FS, path string, set []string) (*Job, error) {
	j := NewJob()
	r, err := readInto(fsys, path, set, j)
	if err == nil {
		err = j.complete(fsys, r)
	}
	if err != nil {
		return nil, fmt.Errorf("read job: %w", err)
	}
	return j, nil
}

// complete fills in defaults, reads what the job names and checks it all.
func (j *Job) complete(fsys files.FS, r *reading) error {
	j.given = r.given
	r.defaults()
	j.load(fsys, r)
	j.begin(fsys, r)
	r.validate()
	j.rehearse(r)
	return r.finish()
}

// EnsureDefaults fills in what zero stands for.
func (j *Job) EnsureDefaults() {
	j.Run.EnsureDefaults()
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

// Validate lists all that is wrong.
func (j *Job) Validate() error {
	return errors.Join(j.Run.Validate(), j.Network.Validate(), j.Data.Validate(), j.Time.Validate(), j.Adapt.Validate(), j.Options().Validate())
}

// Options are the trainer's.
func (j *Job) Options() trainer.Options {
	o := j.Train
	o.Seed, o.Timeline, o.Adapt = j.Run.Seed, j.Time.timeline(), j.Adapt.Adapt
	return o
}

// Decider decides as the section adapt says.
func (j *Job) Decider() (decider.Decider, error) {
	if err := j.Adapt.Validate(); err != nil {
		return nil, fmt.Errorf("make the decider: %w", err)
	}
	switch j.Adapt.Decider {
	case DecideFixed:
		return decider.Fixed{Action: j.Adapt.Actions[0]}, nil
	case DecideScript:
		return decider.Script{Actions: j.Adapt.Actions}, nil
	case DecideRandom:
		return decider.Random{Seed: uint64(j.Run.Seed), Kinds: j.Adapt.Kinds, Original: j.Adapt.Surgery.Compat != net2net.Off}, nil
	case DecidePolicy:
		if j.policy == nil {
			return nil, fmt.Errorf("the policy of %s was not read; use ReadJob", j.Adapt.Policy)
		}
		return j.policy.decider(), nil
	}
	return decider.None{}, nil
}

// Profile is what work takes on the virtual clock. A wall clock has none: nil.
func (j *Job) Profile() (*trainer.Profile, error) {
	if j.profile != nil || j.Time.Clock == WallClock {
		return j.profile, nil
	}
	return trainer.FindProfile(j.Time.Profile)
}

// Model makes the network without tensors: one of the zoo for images of a shape and
// a number of classes, where nil and zero are its own; a file's as it stands there.
func (j *Job) Model(images model.Shape, classes int) (*model.Network, error) {
	if j.Network.File == "" {
		return model.Zoo(j.Network.Name, model.ZooOptions{Input: images, Classes: classes})
	}
	if j.network == nil {
		return nil, fmt.Errorf("the network of %s was not read; use ReadJob", j.Network.File)
	}
	return j.network.Sketch(), nil
}

// Source is where the value of a key such as time.budget comes from.
func (j *Job) Source(key string) Source { return j.given[key] }

// Value is a key of a file and what it is set to.
type Value struct {
	Key    string // with its sections, such as time.budget
	About  string // what it is for, with its unit and what zero means
	Text   string // as a file has it
	Plain  any    // for JSON
	Source Source
}

// Values lists all keys in the order of a file.
func (j *Job) Values() []Value { return valuesOf(jobOutline, reflect.ValueOf(j).Elem(), j.given) }

// valuesOf lists the keys of a struct that a file was read into.
func valuesOf(outline *outline, v reflect.Value, given map[string]Source) []Value {
	var list []Value
	for _, o := range outline.leaves() {
		p := plain(v.FieldByIndex(o.index))
		list = append(list, Value{Key: o.name(), About: o.about(), Text: oneLine(p), Plain: model.Form{{Key: "", Value: p}}.Plain()[""], Source: given[o.name()]})
	}
	return list
}

// What keys are for is taken from the comments of the fields, and the page about them
// from there.
//
//go:generate go test -run TestDescriptionsAreTheComments -update .
//go:generate go test -run TestTheReferenceIsOfTheKeys -update .

var jobOutline = outlineOf(reflect.TypeFor[Job]())

// Resolved is the job's file with every value filled in. ReadJob reads the same job
// from it.
func (j *Job) Resolved() string { return layoutStruct(jobOutline, reflect.ValueOf(j).Elem()) }

// Described is Resolved with what each key is for as a comment above it.
func (j *Job) Described() string { return layoutDescribed(jobOutline, reflect.ValueOf(j).Elem()) }

// immaterial says whether a key changes no result, or no more of it than rounding.
func immaterial(key string) bool {
	return slices.Contains([]string{"run.folder", "run.device", "run.threads", "run.listen", "run.tensorboard"}, key) || strings.HasPrefix(key, "checkpoint.") ||
		strings.HasPrefix(key, "parallel.")
}

// Digest is a SHA-256 in hex over all that results depend on: the keys but for
// folder, device, threads, processes, listening, TensorBoard and checkpoints, and the contents of the
// network file, the profile, the timeline and the policy, and how many epochs went
// before. Data and weights count by their names only.
func (j *Job) Digest() string {
	h := sha256.New()
	for _, v := range j.Values() {
		if !immaterial(v.Key) {
			fmt.Fprintf(h, "%s = %s\n", v.Key, v.Text)
		}
	}
	if j.profile != nil {
		p := *j.profile
		p.Made, p.Fit = trainer.Made{}, trainer.Fit{} // how it came about changes no result
		fmt.Fprint(h, FormatProfile(&p))
	}
	fmt.Fprintln(h, oneLine(plain(reflect.ValueOf(j.Time.loaded))))
	if epochs := j.Beginning().Epochs; epochs > 0 {
		fmt.Fprintln(h, epochs, "epochs before")
	}
	if j.policy != nil {
		fmt.Fprintln(h, "policy", j.policy.digest)
	}
	if j.Network.File != "" && j.network != nil {
		fmt.Fprint(h, layoutTOML(j.network.Form()))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Differences lists the keys on which results depend and that another job has other
// values for, each as "key was its value and is ours".
func (j *Job) Differences(was *Job) []string {
	return differences(j.Values(), was.Values(), immaterial)
}

// differences lists the keys of a file that were something else before, but for those
// that change no result.
func differences(now, was []Value, immaterial func(key string) bool) (list []string) {
	for k, v := range now {
		if v.Text != was[k].Text && !immaterial(v.Key) {
			list = append(list, fmt.Sprintf("%s was %s and is %s", v.Key, was[k].Text, v.Text))
		}
	}
	return list
}

// load reads the files that a job names.
func (j *Job) load(fsys files.FS, r *reading) {
	r.attempt("network.file", j.Network.File != "", func() (err error) {
		j.network, err = ReadNetwork(fsys, j.Network.File)
		return err
	})
	r.attempt("network.name", j.Network.File == "", func() (err error) {
		j.network, err = model.Zoo(j.Network.Name, model.ZooOptions{})
		return err
	})
	r.attempt("time.profile", j.Time.Clock == VirtualClock, func() (err error) {
		j.profile, err = FindProfile(fsys, j.Time.Profile)
		return err
	})
	r.attempt("adapt.policy", j.Adapt.Decider == DecidePolicy && j.Adapt.Policy != "", func() (err error) {
		j.policy, err = j.readPolicy(fsys)
		return err
	})
	r.attempt("adapt.vocab", j.Adapt.Vocab != "" && j.policy != nil && j.policy.structural != nil, func() error {
		return fmt.Errorf("%s is a structural policy, which reads networks without a vocabulary; leave vocab out", j.Adapt.Policy)
	})
	r.attempt("time.timeline", j.Time.Cluster != "", func() (err error) {
		j.Time.loaded, err = ReadTimeline(fsys, j.Time.Cluster)
		return err
	})
}

// attempt reads a file that a key names. Its own faults follow those of the job.
func (r *reading) attempt(key string, wanted bool, read func() error) {
	o, _ := r.outline.lookUp(key)
	if !wanted || r.broken[key] {
		return
	}
	err := read()
	var faults Faults
	if errors.As(err, &faults) {
		r.others = append(r.others, faults...)
	} else if err != nil {
		r.blame(o, err.Error())
	}
	if err != nil {
		r.broken[key] = true
	}
}

// rehearse does on a network without weights what is to be done, so that an action
// that does not fit it is told before the work. After a down it is not known how
// much of it is left.
func (j *Job) rehearse(r *reading) {
	down := slices.ContainsFunc(j.Time.timeline().Events, func(e trainer.Event) bool { return e.Change == trainer.Down })
	if j.network == nil || len(r.faults)+len(r.others) > 0 {
		return
	}
	if err := j.consult(); err != nil {
		o, _ := r.outline.lookUp("adapt.policy")
		r.blame(o, err.Error())
		return
	}
	if down {
		return
	}
	o, _ := r.outline.lookUp("adapt.actions")
	n := j.network.Sketch()
	for k, a := range j.Adapt.Actions {
		if _, err := net2net.Apply(n, a, j.Adapt.Surgery); err != nil {
			r.blame(o, err.Error(), k)
			return
		}
	}
}
