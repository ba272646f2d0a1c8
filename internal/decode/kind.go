package decode

import (
	"io"

	"graft/internal/files"
)

// File is implemented by the option struct of each kind of configuration file. The struct embeds [Sources]; its other
// fields are the file's sections.
type File interface {
	EnsureDefaults()   // sets each zero field to its default
	Validate() error   // returns an error that lists every invalid option
	Origins() *Sources // returns where the values come from
}

// CheckedFile is a File that can name other files. The results of a run depend on the configuration file's keys and on
// the content of those files.
type CheckedFile interface {
	File
	// Check reads the files that the configuration names and reports faults to r. It starts no work.
	Check(fsys files.FS, r *Reading)
	// Contents writes the inputs that affect results but are not keys, such as the digests of the named files.
	Contents(w io.Writer)
	// Summary describes the file in one line. The line does not contain the file's digest.
	Summary() (string, error)
}

// Page describes the part of the reference page about a FileKind.
type Page struct {
	Title    string
	Intro    string   // introduction in Markdown, ending with a line break
	Sections []string // sections to describe; empty means all
}

// FileKind describes a kind of configuration file that a package other than config defines and registers.
type FileKind struct {
	Name     string   // name, one word: 'graft config schema --NAME' prints the schema
	Noun     string   // noun for one file in errors, such as "scenario"
	Files    string   // noun for several files in help texts, such as "files of scenarios"
	Command  string   // command that reads these files, such as "graft simulate"
	Title    string   // title of the JSON Schema
	Sections []string // sections that occur only in these files
	// BeforeWorlds means that a file with the kind's sections is of this kind even if it also has sections that
	// describe a cluster simulation. Default false.
	BeforeWorlds bool
	New          func() CheckedFile
	Page         Page
}

var registered []*FileKind

// Register adds a file kind to the list that Registered returns. It must be called while packages are initialized.
func Register(k *FileKind) { registered = append(registered, k) }

// Registered returns the file kinds that packages have registered.
func Registered() []*FileKind { return registered }
