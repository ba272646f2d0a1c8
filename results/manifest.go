package results

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"graft/internal/files"
)

// manifestFormat is the version of the layout of run folders. Raise it if older versions of graft can no longer read
// them.
const manifestFormat = 1

// smallFile limits the bytes of a file read at once: a manifest, a configuration, an outcome.
const smallFile = 64 << 20

// Manifest describes a run. Create sets Format; the caller sets all other fields. A zero field means unknown.
type Manifest struct {
	Format   int       `json:"format"`             // version of the folder's layout; set by Create
	Kind     string    `json:"kind,omitempty"`     // kind of the run, such as job; empty in folders of earlier versions
	Created  time.Time `json:"created"`            // start of the run; zero if unknown
	Graft    string    `json:"graft"`              // version of graft; empty means unknown
	Revision string    `json:"revision,omitempty"` // commit of graft's source code; empty means unknown
	Modified bool      `json:"modified,omitempty"` // the source code differed from that commit
	// seed of all random streams; zero is a valid seed
	Seed uint64 `json:"seed"`
	// device of the tensors, such as "cuda:0"; empty means unknown
	Device  string `json:"device"`
	Profile string `json:"profile,omitempty"` // name of the device profile; empty for the wall clock
	// digest of the resolved configuration; Create computes it if it is empty
	ConfigSHA256  string `json:"config_sha256,omitempty"`
	DatasetSHA256 string `json:"dataset_sha256,omitempty"` // digest of the data; empty means unknown
	Network       string `json:"network,omitempty"`        // name of the initial network; empty means unknown
	WeightsSHA256 string `json:"weights_sha256,omitempty"` // digest of given weights, for jobs that keep checkpoints
	// digest of the content of the files that a job's configuration names, such as the network, the profile, the policy
	// and the initial weights of all seeds, but not the images; empty means unknown
	FilesSHA256 string `json:"files_sha256,omitempty"`
	// digest of the file of initial weights that all seeds share, as it was when the run started; empty without one
	InitialWeightsSHA256 string `json:"initial_weights_sha256,omitempty"`
	// version of the LibTorch that trains a job: for a PyTorch program, the version that the program reports; empty
	// means unknown
	LibTorch string `json:"libtorch,omitempty"`
	// run from whose kept checkpoint this run started, and time of the checkpoint; empty without one
	Fork string `json:"fork,omitempty"`
	// the run continued with another time budget, so its first part followed another learning rate schedule
	OtherBudget bool `json:"other_budget,omitempty"`
	// part of the run used another version of LibTorch: before a resume, or in the run of the fork
	OtherLibTorch bool     `json:"other_libtorch,omitempty"`
	Host          string   `json:"host,omitempty"`         // machine on which the run started; empty means unknown
	CommandLine   []string `json:"command_line,omitempty"` // program and arguments; empty means unknown
}

// ReadManifest reads the manifest of the run in a folder, without a lock.
func ReadManifest(fsys files.FS, path string) (Manifest, error) {
	name := filepath.Join(path, ManifestFile)
	var m Manifest
	if err := readJSON(fsys, name, &m); err != nil {
		return Manifest{}, err
	}
	if m.Format < 1 || m.Format > manifestFormat {
		return Manifest{}, fmt.Errorf("read %s: unsupported format %d; expected at most %d; "+
			"use the version of graft that wrote it, %q", name, m.Format, manifestFormat, m.Graft)
	}
	return m, nil
}

// ReadOutcome reads the outcome of the run in a folder. If the run has not ended, the
// error wraps fs.ErrNotExist.
func ReadOutcome(fsys files.FS, path string, into any) error {
	return readJSON(fsys, filepath.Join(path, OutcomeFile), into)
}

// readJSON reads a file with one JSON value.
func readJSON(fsys files.FS, path string, into any) error {
	text, err := files.ReadAll(fsys, path, smallFile)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

// writeJSON atomically writes a file with one JSON value.
func writeJSON(fsys files.FS, path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return writeBytes(fsys, path, append(text, '\n'))
}

func writeBytes(fsys files.FS, path string, data []byte) error {
	return files.WriteAtomic(fsys, path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
