package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"

	"graft/internal/files"
	"graft/internal/validate"
	"graft/net2net"
	"graft/simulation/grid"
	"graft/trainer"
)

// SweepKind is the kind of job files with a section "compare" or "fleet". ReadJob also reads such files.
var SweepKind = &Kind{
	Name: "sweep", Noun: "job", Command: "graft compare", Files: "job files for sweeps and comparisons",
	Title: "a job of graft with the options of its trials", Sections: []string{"compare", "fleet"},
	New: func() File { return &Sweep{Job: *NewJob()} }, Summary: summaryOf((*Sweep).Summary),
	Page: Page{Title: "Keys of a job's file for trials", Sections: []string{"compare"},
		Intro: "A file with the section `compare` or `fleet`: a job file for `graft compare`\n" +
			"and `graft train --seeds`. The section `fleet` has the same keys as in\n" +
			"[a scenario's file](#keys-of-a-scenarios-file).\n" +
			"See [comparisons](howto/compare.md).\n"},
}

// Sweep holds the options of a job that runs several times, as trials.
type Sweep struct {
	Job
	// Baselines and trials of a comparison. Commands other than 'graft compare' ignore this section.
	Compare CompareOptions
	// Workers that run the trials, and their resources. Outcomes do not depend on this section.
	Fleet FleetOptions `result:"none"`
}

// ReadSweep reads a job file with the options of its trials. The sections "compare" and "fleet" are optional.
func ReadSweep(fsys files.FS, path string, set []string) (*Sweep, error) {
	return Open(fsys, path).Sweep(set)
}

// Sweep reads the document as [ReadSweep] does.
func (d *Document) Sweep(set []string) (*Sweep, error) { return readAs[*Sweep](SweepKind, d, set) }

// EnsureDefaults sets zero fields to their defaults.
func (s *Sweep) EnsureDefaults() {
	s.Job.EnsureDefaults()
	s.Compare.EnsureDefaults()
	s.Fleet.EnsureDefaults()
}

// Validate returns an error that lists every invalid option.
func (s *Sweep) Validate() error {
	faults := validate.Faults{s.Job.Validate(), s.Compare.Validate(), s.Fleet.Validate()}
	faults.When(s.Fleet.Fit, "fleet.fit is supported only for scenarios; set fleet.workers instead")
	faults.When((s.Fleet.GPUs > 0 || s.Fleet.Gres != "") && s.Run.Device == "cpu",
		"fleet.gpus is for workers that train on GPUs, but run.device is cpu; set run.device to cuda")
	return errors.Join(faults...)
}

// Resolved returns the text of the file with the value of every key, including defaults.
func (s *Sweep) Resolved() string { return Resolved(s) }

// Digest covers the job's digest and the options of a comparison.
func (s *Sweep) Digest() string {
	h := sha256.New()
	_, _ = io.WriteString(h, s.Job.Digest()) // a hash never fails
	writeKeys(h, s, "compare.")
	return hex.EncodeToString(h.Sum(nil))
}

// Summary describes the job in one line.
func (s *Sweep) Summary() (string, error) { return s.Job.Summary() }

// Sequences returns the fixed sequences of actions that a comparison tries, and the number of possible sequences. If
// more than compare.max_sequences sequences are possible, the list is an evenly spaced sample of them.
func (s *Sweep) Sequences() (list [][]string, all int, err error) {
	if s.network == nil {
		return nil, 0, errors.New("cannot list the fixed sequences: the network was not read; call ReadSweep first")
	}
	g := grid.Space{Network: s.network, Actions: s.Compare.Actions, Kinds: s.Compare.Kinds, Decisions: s.Decisions(),
		Surgery: s.Adapt.Surgery}
	return g.Sequences(s.Compare.MaxSequences)
}

// Decisions returns the number of decisions of the job, or the maximum number if their times depend on training.
func (j *Job) Decisions() int {
	switch o := j.Options(); {
	case o.Adapt.Kind().Trained:
		return o.Adapt.MaxDecisions
	case o.Adapt.Kind().Name != trainer.WhenDevices:
		return len(o.Moments())
	}
	ups := 0
	for _, e := range j.Time.timeline().Events {
		if e.Change == trainer.Up {
			ups++
		}
	}
	return ups * j.Options().Adapt.MaxDecisions
}

// Baselines of a comparison, which run in addition to the configured job.
const (
	ArmNever     = "never"
	ArmScratch   = "small from scratch"
	ArmFinal     = "final from scratch"
	ArmRandom    = "random"
	ArmBestFixed = "best fixed"
)

// Arms lists the names of the baselines of a comparison, in order.
func Arms() []string { return []string{ArmNever, ArmScratch, ArmFinal, ArmRandom, ArmBestFixed} }

// CompareOptions selects the baselines of a comparison and the number of trials, and holds the options of the
// baselines.
type CompareOptions struct {
	// Baselines that run in addition to the configured job: "never" (no adaptation); "small from scratch" (no
	// adaptation and fresh weights, for a job that starts from trained weights); "final from scratch" (the final
	// network of the job with the same seed, trained from scratch for the whole budget); "random" (any action that
	// fits); "best fixed" (the sequence of actions with the highest validation accuracy on other seeds). Empty means
	// all applicable baselines.
	Arms []string
	// Number of trials of the configured job and of each baseline, with run.seed and the following seeds. Zero means
	// 10.
	Seeds int
	// Number of trials per sequence when the baseline "best fixed" selects its sequence. The seeds of these trials
	// follow the seeds that compare.seeds uses. Zero means 3.
	SelectionSeeds int
	// Actions that the baselines "random" and "best fixed" can choose at every decision, such as "deepen:0" and "none".
	// Cannot be combined with compare.kinds. If empty, compare.kinds determines the actions.
	Actions []net2net.Action
	// Operations for the baselines "random" and "best fixed", which choose among "none" and all actions of the listed
	// operations that fit the network. Cannot be combined with compare.actions. Empty means deepen and widen if
	// compare.actions is empty too.
	Kinds []net2net.Kind
	// Maximum number of sequences that the baseline "best fixed" tries. If more sequences are possible, graft tries an
	// evenly spaced sample. Zero means 64.
	MaxSequences int
}

// EnsureDefaults sets zero fields to their defaults.
func (o *CompareOptions) EnsureDefaults() {
	o.Seeds = cmp.Or(o.Seeds, 10)
	o.SelectionSeeds = cmp.Or(o.SelectionSeeds, 3)
	o.MaxSequences = cmp.Or(o.MaxSequences, 64)
}

// Validate returns an error that lists every invalid option.
func (o CompareOptions) Validate() error {
	var faults validate.Faults
	for k, arm := range o.Arms {
		faults.When(!slices.Contains(Arms(), arm), "arms: got %q, expected one of: %q", arm, Arms())
		faults.When(slices.Index(o.Arms, arm) < k, "arms: duplicate %q; list each arm once", arm)
	}
	for name, n := range map[string]int{"seeds": o.Seeds, "selection_seeds": o.SelectionSeeds,
		"max_sequences": o.MaxSequences} {
		faults.When(n < 0, "%s is %d; must not be negative", name, n)
	}
	faults.When(len(o.Actions) == 1, "actions: a single action leaves no choice; add another, such as \"none\"")
	faults.When(len(o.Actions) > 0 && len(o.Kinds) > 0, "kinds and actions are mutually exclusive; remove one of them")
	return errors.Join(faults...)
}
