package config

import (
	"graft/cluster/study"
	"graft/internal/files"
	"graft/torch/weights"
)

// readScheduler reads a learned scheduler from a file or a run folder.
func readScheduler[K any](
	fsys files.FS, path string, of func(name string, set *weights.Set) (K, error),
) (kind K, seeds []K, digest string, err error) {
	l, err := study.ReadLearned(fsys, path, func(name string, set *weights.Set) (K, bool, error) {
		kind, err := of(name, set)
		return kind, err == nil, err
	})
	return l.Kind, l.Seeds, l.Digest, err
}
