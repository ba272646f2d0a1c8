package study

import (
	"cmp"
	"context"
	"io"

	"go.uber.org/zap"

	"graft/cluster"
	"graft/internal/decode"
	"graft/internal/files"
)

// World is a kind of cluster simulation. A new one is a package with a World, and a line in package worlds.
type World struct {
	Name     string          // one word: kind of the file, kind of the run
	Title    string          // a run in headings, such as "simulation of elastic jobs"
	Titles   string          // runs in headings
	About    string          // one line for lists: which jobs it simulates
	Command  string          // command that takes its files; empty means graft cluster run
	Sections []string        // sections of a file by which the world is recognized
	Intro    string          // Markdown above the reference of its keys; ends with a line break
	Notes    string          // text for the command's help, about compat and data; empty for none
	Flags    []Flag          // flags of its own, beside those that all worlds have
	Compats  []string        // simulators that it reproduces: words of the flag --compat
	Quirks   []cluster.Quirk // faults of other simulators that it can keep
	New      func() File
	// Schedulers lists the schedulers for help texts, lists and completion.
	Schedulers func() []Entry
	// Claims reports whether flags without a file ask for this world; nil never claims.
	Claims func(fsys files.FS, flags map[string]string) bool
}

// Flag is a short form of a key.
type Flag struct {
	Name  string // without dashes
	Key   string // such as elastic.speeds
	About string // help text; empty where another world has the flag
	Text  bool   // the key's value is a text, also if it looks like a number
	List  bool   // the key's value is a list of numbers, which commas separate
}

// Entry is a scheduler in a list.
type Entry struct {
	Name    string
	About   string   // one line
	Without []string // words of the flag --compat that exclude the scheduler
}

// Listing returns the name and the line of help.
func (e Entry) Listing() (name, about string) { return e.Name, e.About }

// File is the configuration file of a world.
type File interface {
	EnsureDefaults()          // fills in defaults
	Validate() error          // returns every invalid option
	Origins() *decode.Sources // where values come from
	// Shared returns the sections that all worlds have.
	Shared() Shared
	// Check reads the files that the configuration names, reports faults to r, and simulates nothing.
	Check(fsys files.FS, r *decode.Reading)
	// Contents writes what results depend on beside the keys, such as digests of files.
	Contents(w io.Writer)
	// Summary describes the study in one line, without its digest.
	Summary() (string, error)
	// Study returns the simulations that a checked file asks for.
	Study() Study
}

// Study is the simulations of a file.
type Study interface {
	// Prepare reads what is too large for Check, and searches what cells share. With quick it stops where it
	// knows that the study can begin.
	Prepare(ctx context.Context, env Env, quick bool) error
	// Plan lists the cells and the metrics. It is called once, after Prepare.
	Plan() *Plan
	// Simulate runs a cell. Several run at the same time.
	Simulate(ctx context.Context, c *Cell) (*Result, error)
}

// Env holds the parts of the machine that studies use.
type Env struct {
	Files files.FS
	Log   *zap.Logger
}

// Unprepared is embedded by studies that Prepare has nothing to do for.
type Unprepared struct{}

// Prepare does nothing.
func (Unprepared) Prepare(context.Context, Env, bool) error { return nil }

// RunCommand returns the command that runs files of the world.
func (w *World) RunCommand() string { return cmp.Or(w.Command, "graft cluster run") }

// Sources tells where the values of a file come from. Files embed it with the tag `config:"-"`.
type Sources = decode.Sources
