package simulate

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.uber.org/zap"

	"graft/config"
	"graft/fleet"
	"graft/results/failure"
	"graft/results/runs"
	"graft/work"
)

// ManifestOptions are the flags of `graft fleet manifest`.
type ManifestOptions struct {
	Set    []string // assignments after the file
	Folder string   // empty is the file's, or one named after it
	Force  bool     // move an existing folder aside
}

// Manifest makes the run folder of a simulation, and describes its workers as a job of
// Kubernetes.
func Manifest(env *work.Env, path string, o ManifestOptions) (string, error) {
	s, err := o.site(env, path)
	if err != nil {
		return "", err
	}
	b, err := s.batch()
	if err == nil {
		err = s.mounted(b)
	}
	if err != nil {
		return "", err
	}
	text, err := fleet.Manifest(b, s.Fleet.Manifest(b.Folder))
	if err != nil {
		return "", failure.With(failure.Configuration, err)
	}
	if err := s.settle(path, o.Force); err != nil {
		return "", err
	}
	env.Log.Info("pods run the sequences in", zap.String("folder", s.folder), zap.String("watch", "graft fleet attach "+s.folder))
	return text, nil
}

// site is the simulation of a file, or of a run folder, for the engine kubernetes.
func (o ManifestOptions) site(env *work.Env, path string) (*site, error) {
	file, folder := path, ""
	if info, err := env.Files.Stat(path); err == nil && info.IsDir() {
		if o.Folder != "" || o.Force {
			return nil, failure.Usagef("%s is a run folder already; folder and force are for a scenario's file", path)
		}
		file, folder = filepath.Join(path, runs.ResolvedFile), path
		if _, err := env.Files.Stat(filepath.Join(path, runs.PlanFile)); err != nil {
			return nil, noSimulation(path, err)
		}
	}
	m, err := config.ReadSimulation(env.Files, file, append(slices.Clone(o.Set), "fleet.engine="+config.Kubernetes))
	if err != nil {
		return nil, runs.AsConfigFault(err)
	}
	if folder == "" {
		folder = work.Folder(o.Folder, m.Run.Folder, path)
	}
	return &site{Simulation: m, env: env, folder: folder}, nil
}

// mounted is an error where workers would not see the cache.
func (s *site) mounted(b fleet.Batch) error {
	cache, err := filepath.Abs(s.cache())
	if err != nil {
		return err
	}
	mount := s.Fleet.Manifest(b.Folder).Mount
	if inside, err := filepath.Rel(mount, cache); err != nil || inside == ".." || strings.HasPrefix(inside, "../") {
		return failure.With(failure.Configuration, errors.Join(fmt.Errorf("the cache %s does not lie in the mount %s, so that what pods run would be lost; set fleet.mount or simulate.cache", cache, mount), err))
	}
	return nil
}
