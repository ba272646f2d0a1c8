package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"graft/cluster/elastic"
	"graft/cluster/elastic/agent"
	"graft/cluster/elastic/schedulers"
	"graft/config/decode"
	"graft/internal/files"
	"graft/original/dl2"
	"graft/torch/weights"
)

// ElasticSchedulerFile is the file of the best learned scheduler in a run folder of 'graft learn', and
// ElasticSeedFolder the folder of those of all seeds.
const (
	ElasticSchedulerFile = "scheduler.safetensors"
	ElasticSeedFolder    = "schedulers"
)

// ElasticScheduler is a scheduler of elastic jobs, which may have been learned.
type ElasticScheduler struct {
	elastic.Kind
	Seeds []elastic.Kind // of a run folder: what each seed learned; nil for others

	digest string // of what was learned; empty where nothing was
}

// Learned reports whether the scheduler was learned.
func (s *ElasticScheduler) Learned() bool { return s.digest != "" }

// readElasticSchedulers finds schedulers by name, and reads learned ones.
func readElasticSchedulers(fsys files.FS, r *decode.Reading, names []string) (all []ElasticScheduler) {
	for _, name := range names {
		kind, err := schedulers.Named(name)
		s := ElasticScheduler{Kind: kind}
		if err != nil {
			s, err = ReadElasticScheduler(fsys, name)
		}
		if err != nil {
			r.Blame("schedule.schedulers", r.Elsewhere("schedule.schedulers", err).Error())
			return nil
		}
		if slices.ContainsFunc(all, func(other ElasticScheduler) bool { return other.Name == s.Name }) {
			r.Blame("schedule.schedulers",
				fmt.Sprintf("two schedulers have the name %s; rename the folder or the file of one", s.Name))
			return nil
		}
		all = append(all, s)
	}
	return all
}

// ReadElasticScheduler reads a learned scheduler: a file, or a run folder of 'graft learn'. Its name is
// the last part of the path.
func ReadElasticScheduler(fsys files.FS, path string) (s ElasticScheduler, err error) {
	s.Kind, s.Seeds, s.digest, err = readScheduler(fsys, path, elasticPolicy)
	return s, err
}

func elasticPolicy(name string, set *weights.Set) (elastic.Kind, error) {
	if dl2.IsPolicy(set) {
		p, err := dl2.ReadPolicy(set)
		if err != nil {
			return elastic.Kind{}, err
		}
		return p.Scheduler(name, dl2.SchedulerOptions{}), nil
	}
	p, err := agent.ReadPolicy(set)
	if err != nil {
		return elastic.Kind{}, err
	}
	return agent.SchedulerOf(name, p), nil
}

// readScheduler reads a learned scheduler of either world from a file or a run folder, with what each
// seed learned in the order of names.
func readScheduler[K any](fsys files.FS, path string, of func(name string, set *weights.Set) (K, error)) (kind K,
	seeds []K, digest string, err error) {
	name := strings.TrimSuffix(filepath.Base(filepath.Clean(path)), ".safetensors")
	file := path
	if info, err := fsys.Stat(path); err == nil && info.IsDir() {
		file = filepath.Join(path, ElasticSchedulerFile)
	}
	h := sha256.New()
	if kind, err = readPolicy(fsys, file, name, h, of); err != nil {
		if file != path && errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w; the folder is none of a scheduler that 'graft learn' has learned to the end", err)
		}
		return kind, nil, "", err
	}
	if file != path {
		folder := filepath.Join(path, ElasticSeedFolder)
		entries, err := fsys.ReadDir(folder)
		if err != nil {
			return kind, nil, "", err
		}
		for _, e := range entries {
			if filepath.Ext(e.Name()) != ".safetensors" {
				continue
			}
			one, err := readPolicy(fsys, filepath.Join(folder, e.Name()), name, h, of)
			if err != nil {
				return kind, nil, "", err
			}
			seeds = append(seeds, one)
		}
	}
	return kind, seeds, fmt.Sprintf("%x", h.Sum(nil)), nil
}

func readPolicy[K any](fsys files.FS, path, name string, h io.Writer,
	of func(string, *weights.Set) (K, error)) (kind K, err error) {
	set, err := weights.Read(fsys, path, weights.Options{})
	if err != nil {
		return kind, err
	}
	for _, t := range set.Tensors {
		fmt.Fprintln(h, t.Name, t.Shape)
		_, _ = h.Write(t.Data) // a hash takes everything
	}
	if kind, err = of(name, set); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return kind, err
}
