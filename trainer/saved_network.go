package trainer

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"graft/files"
	"graft/model"
	"graft/results"
)

// SavedNetwork returns the network of a job's newest complete checkpoint, without tensors,
// or nil without a checkpoint. The folder is not changed.
func SavedNetwork(fsys files.FS, folder string) (*model.Network, error) {
	paths, err := savedIn(fsys, folder)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		c, err := results.ReadCheckpoint(fsys, path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, results.ErrDamaged) {
			continue // it was replaced meanwhile, or an older one will do
		}
		if err != nil {
			return nil, err
		}
		text, err := c.ReadSection(networkSection)
		if err := errors.Join(err, c.Close()); err != nil {
			return nil, err
		}
		var form map[string]any
		if err := json.Unmarshal(text, &form); err != nil {
			return nil, fmt.Errorf("the network in %s: %w", path, err)
		}
		return model.FromForm(form)
	}
	return nil, nil
}

// savedIn returns the paths of a folder's checkpoints, newest first.
func savedIn(fsys files.FS, folder string) ([]string, error) {
	dir := filepath.Join(folder, "checkpoints")
	entries, err := fsys.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var paths []string
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".ckpt" {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(b, a) }) // their numbers have leading zeros
	return paths, err
}
