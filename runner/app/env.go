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

// Env holds the parts of the machine that commands use. Tests supply faulty files and a clock.
type Env struct {
	Files   files.FS         // file system; required
	Now     func() time.Time // wall clock; required
	Random  io.Reader        // cryptographic randomness, for tokens and the names of leases; required
	Version string           // version of graft, for manifests and pages; empty means unknown
	// Revision is the commit of graft's source, for manifests; empty means unknown. Modified means that the source
	// differed from it.
	Revision string
	Modified bool
	Host     string      // name of the machine, for manifests; empty means unknown
	Args     []string    // command line, for manifests; empty for none
	Program  string      // path of the graft executable, for worker processes; empty starts none
	Log      *zap.Logger // progress and warnings; required, zap.NewNop() drops them
	// Show draws the progress of one piece of work until stop is called. Nil draws nothing; the log then has the
	// progress.
	Show func(s Progress) (stop func())
	// Telemetry opens the measurement of energy of GPUs, or otherwise of processors. Nil measures nothing.
	Telemetry func(gpus bool) (telemetry.Source, error)
	// Getenv returns environment variables, such as CUDA's. Nil means that none are set.
	Getenv func(name string) string
	// Enter changes the working directory, the base of relative paths. Nil keeps the current one.
	Enter func(folder string) error
}

// Progress is the progress of one piece of work. Its functions are called from another goroutine.
type Progress struct {
	Done    func() (done, all int64) // length of the bar
	Text    func() string            // text next to the bar
	Details func(width int) string   // line below the bar, of at most width characters
}

// Manifest sets kind, time, version, host and command line of a run that starts now.
func (e *Env) Manifest(kind *runs.Kind, m results.Manifest) results.Manifest {
	m.Kind, m.Created, m.Graft, m.Host, m.CommandLine = kind.Name, e.Now().UTC(), e.Version, e.Host, e.Args
	m.Revision, m.Modified = e.Revision, e.Modified
	return m
}

// Variable returns an environment variable; empty if it is not set.
func (e *Env) Variable(name string) string {
	if e.Getenv == nil {
		return ""
	}
	return e.Getenv(name)
}

// CreateRun makes the folder of a run of a kind. If the folder exists and may not be moved aside, the error has the
// code failure.Usage.
func (e *Env) CreateRun(folder string, kind *runs.Kind, o results.CreateOptions,
	m results.Manifest) (*results.Run, error) {
	run, err := results.Create(e.Files, folder, o, e.Manifest(kind, m))
	if errors.Is(err, results.ErrExists) {
		err = failure.With(failure.Usage, err)
	}
	return run, err
}

// Folder returns the path of the run folder: the given one, else the configured one, else a path named after the
// configuration file. Empty arguments are not given.
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

// Text reads a text file of which a run keeps a copy. An empty path gives an empty text.
func (e *Env) Text(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := files.ReadAll(e.Files, path, largestText)
	return string(text), err
}

// WriteText atomically replaces a file by a text.
func (e *Env) WriteText(path, text string) error {
	return files.WriteAtomic(e.Files, path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}
