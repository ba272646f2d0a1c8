package decode

import (
	"io"

	"graft/internal/files"
)

// File holds the options of a configuration file. Its struct embeds [Sources]; its fields are the file's sections.
type File interface {
	EnsureDefaults()   // fills in what zero stands for
	Validate() error   // joins all that is wrong
	Origins() *Sources // where values come from
}

// CheckedFile is a file whose results depend on its keys and on what it names.
type CheckedFile interface {
	File
	// Check reads the files that the configuration names, reports faults to r, and starts no work.
	Check(fsys files.FS, r *Reading)
	// Contents writes what results depend on beside the keys, such as digests of files.
	Contents(w io.Writer)
	// Summary describes the file in one line, without its digest.
	Summary() (string, error)
}

// Page is a kind's part of the reference page.
type Page struct {
	Title    string
	Intro    string   // Markdown, which ends with a line break
	Sections []string // sections that it describes; empty means all
}

// FileKind is a kind of configuration file of a room that config does not know. The room registers it.
type FileKind struct {
	Name     string   // one word: 'graft config schema --NAME' prints its schema
	Noun     string   // a file of it in errors, such as scenario
	Files    string   // its files in help texts, such as "files of scenarios"
	Command  string   // that takes its files, such as graft simulate
	Title    string   // of its schema
	Sections []string // sections that only its files have
	// BeforeWorlds says that a file that also has sections of a cluster simulation is of this kind.
	BeforeWorlds bool
	New          func() CheckedFile
	Page         Page
}

var registered []*FileKind

// Register adds a kind. It is called while packages are initialized.
func Register(k *FileKind) { registered = append(registered, k) }

// Registered returns the kinds that rooms have registered.
func Registered() []*FileKind { return registered }
