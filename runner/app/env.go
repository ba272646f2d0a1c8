// Package app has the environment and helpers of graft's commands, which are library functions. They take an [Env] and
// options and return values; they read no flags and print nothing.
package app

import (
	"errors"
	"io"
	"path/filepath"
	"strings"
	"time"

	"go.uber.org/zap"

	"graft/internal/failure"
	"graft/internal/files"
	"graft/internal/telemetry"
	"graft/report/runs"
	"graft/results"
)

// Env gives commands access to the machine: files, clock, environment variables and telemetry. Tests replace these
// parts, for example with faulty files or a fixed clock.
type Env struct {
	Files files.FS         // file system; required
	Now   func() time.Time // wall clock; required
	// digests of large files, such as initial weights, which this process has read; nil reads them for each use
	Digests *files.Digests
	// source of cryptographic random numbers, for tokens and the names of leases; required
	Random  io.Reader
	Version string // version of graft, for manifests and pages; empty means unknown
	// Revision is the commit of graft's source code, for manifests; empty means unknown. Modified reports whether the
	// source code differed from this commit.
	Revision string
	Modified bool
	Host     string   // name of the machine, for manifests; empty means unknown
	Args     []string // command line, for manifests; empty means unknown
	// path of the graft executable, for worker processes; empty means that no processes are started
	Program string
	Log     *zap.Logger // log of progress and warnings; required, zap.NewNop() discards it
	// Show draws the progress of a piece of work until stop is called. If it is nil, the progress is logged instead.
	Show func(s Progress) (stop func())
	// Telemetry opens a source of energy readings for GPUs or, if gpus is false, for processors. Nil means that nothing
	// is measured.
	Telemetry func(gpus bool) (telemetry.Source, error)
	// Getenv returns an environment variable. Nil means that no variables are set.
	Getenv func(name string) string
	// timeout after which a worker of a simulation takes over the leg of a silent worker; zero means 30 s
	LeaseTimeout time.Duration
	// Enter changes the working directory, the base of relative paths. Nil keeps the current directory.
	Enter func(folder string) error
}

// FileDigests returns the digests of files.
func (e *Env) FileDigests() *files.Digests {
	if e.Digests != nil {
		return e.Digests
	}
	return files.NewDigests(e.Files, e.Now)
}

// Progress describes a progress bar. The bar calls the functions from another goroutine.
type Progress struct {
	// function that returns the completed and the total work, which determine the length of the bar
	Done    func() (done, all int64)
	Text    func() string          // returns the text next to the bar
	Details func(width int) string // returns the line below the bar, at most width characters long
}

// Manifest fills in the kind, time, version, host and command line of a run that starts now.
func (e *Env) Manifest(kind *runs.Kind, m results.Manifest) results.Manifest {
	m.Kind, m.Created, m.Graft, m.Host, m.CommandLine = kind.Name, e.Now().UTC(), e.Version, e.Host, e.Args
	m.Revision, m.Modified = e.Revision, e.Modified
	return m
}

// Variable returns the value of an environment variable. An unset variable gives an empty string.
func (e *Env) Variable(name string) string {
	if e.Getenv == nil {
		return ""
	}
	return e.Getenv(name)
}

// CreateRun creates the folder of a run. If the folder exists and o.Force is false, the error has the code
// failure.Usage.
func (e *Env) CreateRun(folder string, kind *runs.Kind, o results.CreateOptions,
	m results.Manifest) (*results.Run, error) {
	run, err := results.Create(e.Files, folder, o, e.Manifest(kind, m))
	if errors.Is(err, results.ErrExists) {
		err = failure.With(failure.Usage, err)
	}
	return run, err
}

// Suffixed adds a suffix to the file name in a configuration file's path, before the extension. Folder derives a
// different run folder from the new path, so that different commands can use the same configuration file. An empty path
// stays empty.
func Suffixed(path, suffix string) string {
	if path == "" {
		return ""
	}
	ext := filepath.Ext(path)
	return strings.TrimSuffix(path, ext) + "-" + suffix + ext
}

// Folder returns the path of the run folder. A path given by an option takes precedence over a configured path. If
// neither path is set, the folder is derived from the configuration file's name.
func Folder(given, configured, path string) string {
	switch {
	case given != "":
		return given
	case configured != "":
		return configured
	case path == "":
		return filepath.Join("runs", "job")
	}
	return filepath.Join("runs", strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)))
}

// largestText is the maximum size of a text file copied into a run folder, in bytes.
const largestText = 4 << 20

// Text reads a text file that will be copied into the run folder. For an empty path it returns an empty string.
func (e *Env) Text(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := files.ReadAll(e.Files, path, largestText)
	return string(text), err
}

// WriteText atomically replaces the content of a file with text.
func (e *Env) WriteText(path, text string) error {
	return files.WriteAtomic(e.Files, path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}
