package config

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/model"
	"graft/results"
	"graft/trainer/clock"
)

// File holds the options of a configuration file. It may implement the interfaces named, preset, loader and checker.
type File = decode.File

// Page describes the section of the reference page about a file kind.
type Page = decode.Page

// Optional steps of reading a file.
type (
	named  interface{ named(path string) }    // sets a default from the file's path
	preset interface{ preset() (File, bool) } // returns other defaults, if the file's keys select them
	loader interface {
		load(files.FS, *decode.Reading)
	} // reads the files that it names, before Validate
	checker interface {
		Check(files.FS, *decode.Reading)
	} // checks further, after Validate
	networkUser interface {
		UseNetworks(network func(files.FS, string) (*model.Network, error),
			profile func(files.FS, string) (*clock.Profile, error))
	} // reads networks and profiles of devices, which packages below cannot read
)

// sources is embedded in the structs of files.
type sources = decode.Sources

// Kind is a kind of configuration file. To add a kind, add a file with its options struct and its Kind, and a line in
// Kinds.
type Kind struct {
	Name    string // name in one word: 'graft config schema --NAME' prints the kind's schema
	Noun    string // noun for one file in error messages, such as scenario
	Files   string // noun for several files in help texts, such as "scenario files"
	Command string // command that reads the files, such as graft simulate
	Title   string // title of the kind's schema
	// sections that identify a file of this kind; empty for jobs, because a file without such a section is a job
	Sections []string
	New      func() File
	// Summary describes a valid file in one line. It returns an error if it finds a fault in the file.
	Summary func(File) (string, error)
	Page    Page
}

// Kinds lists the file kinds in the order of the reference page. A file belongs to the first kind that has one of the
// file's sections; a file without such a section is a job.
func Kinds() []*Kind {
	first, last := registeredKinds()
	kinds := []*Kind{JobKind, SimulationKind, TreeLearningKind, PipelineKind}
	kinds = append(append(kinds, first...), worldKinds()...)
	return append(append(kinds, last...), SweepKind)
}

// KindOf returns the kind of a file. For an empty path or a file that cannot be read, it returns the kind of job files.
func KindOf(fsys files.FS, path string) *Kind { return Open(fsys, path).Kind() }

// Read reads a file of the kind, applies assignments such as time.budget=30s, and reads the files that it names; an
// empty path means no file. The error wraps [Faults] if a value is invalid.
func (k *Kind) Read(fsys files.FS, path string, set []string) (File, error) {
	return Open(fsys, path).as(k, set)
}

func (k *Kind) read(d *Document, set []string) (File, error) {
	f, doc := k.New(), d.doc.Fresh()
	doc.OldNames = filepath.Base(d.path) == results.ResolvedFile // written by graft, maybe by an earlier version
	doc.Elsewhere = k.elsewhere
	r, err := dialect.Read(doc, set, f)
	if p, has := f.(preset); err == nil && has {
		if other, wanted := p.preset(); wanted {
			f = other
			r, err = dialect.Read(doc, set, f)
		}
	}
	if n, has := f.(named); err == nil && has && d.path != "" {
		n.named(d.path)
	}
	if err == nil {
		err = finish(d.fsys, f, r)
	}
	if err != nil {
		other := cmp.Or(k.misspelt(doc, f), otherKind(doc, k.knowsKey(f)), k.unclear(doc, f))
		return nil, fmt.Errorf("read %s: %w", k.Noun, cmp.Or(other, err))
	}
	return f, nil
}

func finish(fsys files.FS, f File, r *decode.Reading) error {
	f.Origins().Take(r)
	findPaths(fsys, r)
	r.Defaults()
	if u, has := f.(networkUser); has {
		u.UseNetworks(NetworkOf, FindProfile)
	}
	if l, has := f.(loader); has {
		l.load(fsys, r)
	}
	r.Validate()
	if c, has := f.(checker); has {
		c.Check(fsys, r)
	}
	return r.Finish()
}

// Schema returns the JSON Schema (draft 2020-12) of the kind's files, for editors and other programs. The schema does
// not contain constraints between several keys; only Read checks them.
func (k *Kind) Schema() (string, error) { return dialect.Schema(k.Title, k.defaults()) }

func (k *Kind) defaults() File {
	f := k.New()
	f.EnsureDefaults()
	return f
}

// Reference returns the reference page for all file kinds, in Markdown. Each section has a table of its keys with their
// types and defaults, and with descriptions from the comments in the code.
func Reference() string {
	var b strings.Builder
	for k, kind := range Kinds() {
		if k > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("# " + kind.Page.Title + "\n\n" + kind.Page.Intro + dialect.Reference(kind.defaults(),
			kind.Page.Sections...))
	}
	return b.String()
}

// summaryOf converts a method to Kind.Summary.
func summaryOf[T File](summary func(T) (string, error)) func(File) (string, error) {
	return func(f File) (string, error) { return summary(f.(T)) }
}
