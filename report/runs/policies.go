package runs

import (
	"cmp"
	"errors"
	"fmt"
	"graft/decider"
	"graft/internal/failure"
	"graft/internal/files"
	"graft/torch/weights"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// ReadWeights reads a weight file. If the file opens but cannot be parsed, the error has the exit code Damaged.
func ReadWeights(fsys files.FS, path string) (*weights.Set, error) {
	set, err := weights.Read(fsys, path, weights.Options{})
	switch {
	case err == nil || errors.As(err, new(*fs.PathError)):
		return set, err
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = fmt.Errorf("%w: the file is truncated", err)
	}
	return nil, failure.With(failure.Damaged, fmt.Errorf("%w; copy the file again", err))
}

// ReadStructuralFile reads a structural policy from a file.
func ReadStructuralFile(fsys files.FS, path string) (*decider.Structural, error) {
	set, err := ReadWeights(fsys, path)
	if err != nil {
		return nil, fmt.Errorf("read policy: %w", err)
	}
	p, err := decider.StructuralOf(set)
	if err != nil {
		return nil, fmt.Errorf("read policy %s: %w; expected a file written by 'graft learn'", path, err)
	}
	return p, nil
}

// SeedFiles lists the paths of the policy files in a run folder, sorted by seed.
func SeedFiles(fsys files.FS, folder string) ([]string, error) {
	entries, err := fsys.ReadDir(filepath.Join(folder, SeedFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read policy %s: %w", folder, err)
	}
	seeds := map[string]uint64{}
	var paths []string
	for _, e := range entries {
		number, ours := strings.CutPrefix(strings.TrimSuffix(e.Name(), seedEnd), seedBegin)
		if n, err := strconv.ParseUint(number, 10, 64); err == nil && ours {
			path := filepath.Join(folder, SeedFolder, e.Name())
			seeds[path], paths = n, append(paths, path)
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(seeds[a], seeds[b]) })
	return paths, nil
}

// SeedFile returns the path, inside the run folder, of the policy that was learned with the given seed.
func SeedFile(seed uint64) string {
	return filepath.Join(SeedFolder, fmt.Sprintf("%s%d%s", seedBegin, seed, seedEnd))
}
