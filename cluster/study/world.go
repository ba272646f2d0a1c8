package study

import (
	"cmp"
	"context"
	"io"

	"go.uber.org/zap"

	"graft/cluster"
	"graft/cluster/live"
	"graft/internal/decode"
	"graft/internal/files"
)

// World describes a kind of cluster simulation. To add a kind, write a package that defines a World, and list it in
// package worlds.
type World struct {
	Name     string   // kind of its files and of its runs, in one word
	Title    string   // name of one run in headings, such as "simulation of elastic jobs"
	Titles   string   // name of several runs in headings
	About    string   // description of its jobs, one line
	Command  string   // command that runs its files; empty means graft cluster run
	Sections []string // sections of a file that identify the world
	Intro    string   // Markdown text above the reference of its keys; ends with a line break
	Notes    string   // text for the command's help about compat and data; may be empty
	Flags    []Flag   // flags of this world, in addition to the flags of all worlds
	// names of the published simulators that this kind can reproduce, as values of the flag --compat
	Compats []string
	Quirks  []cluster.Quirk // faults of other simulators that it can keep
	New     func() File
	// Schedulers lists the schedulers for help texts, lists and completion.
	Schedulers func() []Entry
	// Claims reports whether the flags of a command without a configuration file select this kind of simulation. If
	// Claims is nil, flags never select this kind.
	Claims func(fsys files.FS, flags map[string]string) bool
}

// Flag is a command-line flag that sets a configuration key.
type Flag struct {
	Name  string // name without dashes
	Key   string // configuration key, such as elastic.speeds
	About string // help text; empty if another world defines the flag
	Text  bool   // the value is a text, even if it looks like a number
	List  bool   // the value is a list of numbers, separated by commas
}

// Entry describes a scheduler in a list.
type Entry struct {
	Name    string
	About   string   // help text in one line
	Without []string // values of the flag --compat that exclude the scheduler
	Needs   []string // flags of which at least one must be given; empty requires none
}

// Listing returns the name and a one-line description.
func (e Entry) Listing() (name, about string) { return e.Name, e.About }

// File is the configuration file of a cluster simulation.
type File interface {
	EnsureDefaults()          // fills in defaults
	Validate() error          // returns an error that lists every invalid option
	Origins() *decode.Sources // sources of the values
	// Shared returns the sections that are common to the configuration files of all simulators.
	Shared() Shared
	// Check reads the files that the configuration names, reports faults to r, and simulates nothing.
	Check(fsys files.FS, r *decode.Reading)
	// Contents writes the inputs, other than configuration keys, on which the results depend, such as digests of files.
	Contents(w io.Writer)
	// Summary describes the study in one line, without its digest.
	Summary() (string, error)
	// Study returns the simulations that a checked file configures.
	Study() Study
}

// Study runs the simulations that a configuration file describes.
type Study interface {
	// Prepare reads data that is too large for Check, and runs searches whose results several simulations share. If
	// quick is true, it returns as soon as it is certain that the study can begin.
	Prepare(ctx context.Context, env Env, quick bool) error
	// Plan lists the simulations and the metrics. Plan is called once, after Prepare.
	Plan() *Plan
	// Simulate runs one simulation of the plan. Simulate is called concurrently.
	Simulate(ctx context.Context, c *Cell) (*Result, error)
}

// Env holds the file system and the log that studies use.
type Env struct {
	Files   files.FS
	Log     *zap.Logger
	Trainer live.Trainer // trains live jobs that end by their losses; nil if the study only checks its files
}

// Unprepared implements Prepare for studies without preparation. Studies embed Unprepared.
type Unprepared struct{}

// Prepare does nothing.
func (Unprepared) Prepare(context.Context, Env, bool) error { return nil }

// RunCommand returns the command that runs configuration files of this kind.
func (w *World) RunCommand() string { return cmp.Or(w.Command, "graft cluster run") }

// Sources records the origin of each value in a configuration file. Files embed Sources with the tag `config:"-"`.
type Sources = decode.Sources
