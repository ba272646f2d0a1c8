package results

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"graft/files"
)

// Summary is everything of a run folder, as it was at one moment.
type Summary struct {
	Path        string                       // of the folder
	Manifest    Manifest                     // what was run
	Config      string                       // the configuration as given; empty if there is none
	Resolved    string                       // the configuration with its defaults; empty if there is none
	Tables      map[string]*Table            // by the name that Run.Stream was given
	Logs        map[string][]json.RawMessage // lines by the name that Run.Lines was given, the diary among them
	Checkpoints []CheckpointInfo             // oldest first; whether they are whole is not looked at
	Outcome     json.RawMessage              // how the run ended; nil if it has not
}

// ReadRun reads the folder of a run, also while it is written, and takes no lock.
// A folder without a run is an error that wraps ErrNoRun. If parts of a run cannot
// be read the summary has the others, and the error says which they are.
func ReadRun(fsys files.FS, path string) (*Summary, error) {
	path = filepath.Clean(path)
	if err := isRun(fsys, path); err != nil {
		return nil, fmt.Errorf("read run %s: %w", path, err)
	}
	manifest, err := readManifest(fsys, path)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", path, err)
	}
	s := &Summary{Path: path, Manifest: manifest, Tables: map[string]*Table{}, Logs: map[string][]json.RawMessage{}}
	err = errors.Join(s.readTexts(fsys), s.readStreams(fsys), s.readRest(fsys))
	if err != nil {
		return s, fmt.Errorf("read run %s: %w", path, err)
	}
	return s, nil
}

func (s *Summary) readTexts(fsys files.FS) error {
	config, err := readOptional(fsys, filepath.Join(s.Path, configName))
	resolved, err2 := readOptional(fsys, filepath.Join(s.Path, resolvedName))
	s.Config, s.Resolved = string(config), string(resolved)
	return errors.Join(err, err2)
}

func (s *Summary) readRest(fsys files.FS) error {
	list, err := listCheckpoints(fsys, s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	s.Checkpoints = list
	outcome, err2 := readOptional(fsys, filepath.Join(s.Path, outcomeName))
	if outcome != nil && !json.Valid(outcome) {
		return errors.Join(err, err2, fmt.Errorf("%s is not JSON", filepath.Join(s.Path, outcomeName)))
	}
	s.Outcome = outcome
	return errors.Join(err, err2)
}

// ReadManifest reads what the run in a folder is, also while it is written.
func ReadManifest(fsys files.FS, path string) (Manifest, error) { return readManifest(fsys, path) }

// ReadOutcome reads how the run in a folder ended. One that has not is an error that
// wraps fs.ErrNotExist.
func ReadOutcome(fsys files.FS, path string, into any) error {
	return readJSON(fsys, filepath.Join(path, outcomeName), into)
}

// readStreams reads all tables and logs. One that has a name and no file yet is
// left out, and so are event files, which hold nothing that these have not.
func (s *Summary) readStreams(fsys files.FS) error {
	names, err := readRegistry(fsys, s.Path)
	faults := []error{err}
	for _, file := range names {
		if isEvents(file) {
			continue
		}
		if err := s.readStream(fsys, file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

func (s *Summary) readStream(fsys files.FS, file string) error {
	path := filepath.Join(s.Path, file)
	name, heads := splitStream(file)
	if heads == 1 {
		table, err := ReadStream(fsys, path)
		if err == nil {
			s.Tables[name] = table
		}
		return err
	}
	lines, err := ReadJSONLines[json.RawMessage](fsys, path)
	if err == nil {
		s.Logs[name] = lines
	}
	return err
}

// readOptional reads a file that need not be there; nil stands for none.
func readOptional(fsys files.FS, path string) ([]byte, error) {
	data, err := files.ReadAll(fsys, path, smallFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// maxDepth bounds how deep below a folder runs are looked for.
const maxDepth = 8

// Listed is a run in a list of them.
type Listed struct {
	Path     string   // of its folder
	Manifest Manifest // zero if Err is not nil
	Finished bool     // it has an outcome
	Err      error    // why the manifest could not be read; nil if it could
}

// List finds the runs beneath a folder, sorted by path, at most eight folders
// deep. It looks neither into runs, nor into hidden folders, nor behind links.
// A run with a damaged manifest is listed with what is wrong.
func List(fsys files.FS, dir string) ([]Listed, error) {
	found, err := list(fsys, filepath.Clean(dir), maxDepth)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	return found, nil
}

func list(fsys files.FS, dir string, depth int) ([]Listed, error) {
	entries, err := fsys.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	if files.HasName(entries, manifestName) {
		l := Listed{Path: dir, Finished: files.HasName(entries, outcomeName)}
		l.Manifest, l.Err = readManifest(fsys, dir)
		return []Listed{l}, nil
	}
	var found []Listed
	for _, entry := range entries {
		if !entry.IsDir() || strings.HasPrefix(entry.Name(), ".") || depth == 0 {
			continue
		}
		below, err := list(fsys, filepath.Join(dir, entry.Name()), depth-1)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return nil, err
		}
		found = append(found, below...)
	}
	return found, nil
}
