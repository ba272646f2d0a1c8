package decode

import (
	"io"

	"graft/internal/files"
)

// File holds the options of a configuration file. Its struct embeds [Sources]; its fields are the file's sections.
type File interface {
	EnsureDefaults()   // sets zero fields to their defaults
	Validate() error   // returns every invalid option
	Origins() *Sources // sources of the values
}

// CheckedFile is a file whose results depend on its keys and on the files that it names.
type CheckedFile interface {
	File
	// Check reads the files that the configuration names, reports faults to r, and starts no work.
	Check(fsys files.FS, r *Reading)
	// Contents writes other inputs of the results than keys, such as digests of files.
	Contents(w io.Writer)
	// Summary describes the file in one line, without its digest.
	Summary() (string, error)
}

// Page is the part of the reference page about a kind.
type Page struct {
	Title    string
	Intro    string   // Markdown, ending with a line break
	Sections []string // sections to describe; empty means all
}

// FileKind is a kind of configuration file of a room that config does not import. The room registers it.
type FileKind struct {
	Name     string   // one word: 'graft config schema --NAME' prints its schema
	Noun     string   // noun for one file in errors, such as scenario
	Files    string   // noun for several files in help texts, such as "files of scenarios"
	Command  string   // command that takes its files, such as graft simulate
	Title    string   // title of its schema
	Sections []string // sections that only its files have
	// BeforeWorlds gives the kind precedence for a file that also has sections of a cluster simulation.
	BeforeWorlds bool
	New          func() CheckedFile
	Page         Page
}

var registered []*FileKind

// Register adds a kind. Call it while packages are initialized.
func Register(k *FileKind) { registered = append(registered, k) }

// Registered returns the kinds registered by rooms.
func Registered() []*FileKind { return registered }
