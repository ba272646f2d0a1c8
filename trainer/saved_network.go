package trainer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"graft/internal/files"
	"graft/model"
	"graft/results"
	"graft/torch/weights"
)

// SavedNetwork returns the network of a job's newest complete checkpoint, without tensors, or nil if there is no
// checkpoint. The folder is not changed.
func SavedNetwork(fsys files.FS, folder string) (n *model.Network, err error) {
	err = newest(fsys, folder, func(c *results.Checkpoint) error {
		n, err = networkIn(c, networkSection)
		return err
	})
	return n, err
}

// Which selects one of the networks that a job keeps.
type Which string

// Networks that a job keeps.
const (
	AtEnd  Which = "final" // last network
	AtBest Which = "best"  // network with the highest validation accuracy, if Options.KeepBest is set
)

// SavedResult returns a network from a job's newest complete checkpoint, without its tensors, and the network's
// weights. Both results are nil if there is no checkpoint, or if the checkpoint lacks this network.
func SavedResult(fsys files.FS, folder string, which Which) (n *model.Network, set *weights.Set, err error) {
	err = newest(fsys, folder, func(c *results.Checkpoint) error {
		has := func(section string) bool { return slices.Contains(c.Sections(), section) }
		shape, tensors := networkSection, weightsSection
		switch {
		case which == AtBest && !has(bestSection):
			return nil
		case which == AtBest:
			shape, tensors = bestSection, bestWeights
		case has(keptSection):
			shape, tensors = keptSection, keptWeights
		case has(averageSection):
			tensors = averageSection
		}
		if n, err = networkIn(c, shape); err != nil {
			return err
		}
		data, err := c.ReadSection(tensors)
		if err != nil {
			return err
		}
		set, err = weights.ReadFrom(bytes.NewReader(data), int64(len(data)), weights.Options{})
		return err
	})
	return n, set, err
}

func networkIn(c *results.Checkpoint, section string) (*model.Network, error) {
	text, err := c.ReadSection(section)
	if err != nil {
		return nil, err
	}
	var form map[string]any
	if err := json.Unmarshal(text, &form); err != nil {
		return nil, fmt.Errorf("read the network in %s: %w", c.Path, err)
	}
	return model.FromForm(form)
}

// newest reads the newest complete checkpoint of a folder, if there is one.
func newest(fsys files.FS, folder string, read func(*results.Checkpoint) error) error {
	paths, err := savedIn(fsys, folder)
	if err != nil {
		return err
	}
	for _, path := range paths {
		c, err := results.ReadCheckpoint(fsys, path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, results.ErrDamaged) {
			continue // it was replaced in the meantime, or an older one is sufficient
		}
		if err != nil {
			return err
		}
		return errors.Join(read(c), c.Close())
	}
	return nil
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
	slices.SortFunc(paths, func(a, b string) int { return cmp.Compare(b, a) }) // file numbers have leading zeros
	return paths, err
}
