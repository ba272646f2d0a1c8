package simulate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"go.uber.org/zap"

	"graft/config"
	"graft/fleet"
	"graft/internal/failure"
	"graft/report/runs"
	"graft/runner/app"
)

// ManifestOptions configures [Manifest].
type ManifestOptions struct {
	Set []string // assignments applied after the file
	// path of the run folder; empty means run.folder or, if it is empty too, runs/NAME for a file NAME.toml
	Folder string
	Force  bool // moves an existing folder aside
}

// Manifest creates the run folder of a simulation and returns the manifest of the Kubernetes job that runs its workers.
func Manifest(ctx context.Context, env *app.Env, path string, o ManifestOptions) (string, error) {
	s, err := o.open(env, path)
	if err != nil {
		return "", err
	}
	b, err := s.batch()
	if err == nil {
		err = s.checkMount(b)
	}
	if err != nil {
		return "", err
	}
	text, err := fleet.Manifest(b, s.Fleet.Manifest(b.Folder))
	if err != nil {
		return "", failure.With(failure.Configuration, err)
	}
	if err := s.prepareFolder(ctx, path, o.Force); err != nil {
		return "", err
	}
	env.Log.Info("printed the manifest; its pods will run the sequences of the run folder",
		zap.String("folder", s.folder), zap.String("watch", "graft fleet attach "+s.folder))
	return text, nil
}

// open reads the simulation of a file or run folder, for the engine kubernetes.
func (o ManifestOptions) open(env *app.Env, path string) (*workspace, error) {
	file, folder := path, ""
	if info, err := env.Files.Stat(path); err == nil && info.IsDir() {
		if o.Folder != "" || o.Force {
			return nil, failure.Usagef("%s is already a run folder; "+
				"option \"folder\" and option \"force\" apply to a scenario's file", path)
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
		folder = app.Folder(o.Folder, m.Run.Folder, path)
	}
	return &workspace{Simulation: m, env: env, folder: folder}, nil
}

// checkMount rejects a cache outside of the pods' mount.
func (s *workspace) checkMount(b fleet.Batch) error {
	cache, err := filepath.Abs(s.cache())
	if err != nil {
		return err
	}
	mount := s.Fleet.Manifest(b.Folder).Mount
	if inside, err := filepath.Rel(mount, cache); err != nil || inside == ".." || strings.HasPrefix(inside, "../") {
		return failure.With(failure.Configuration, errors.Join(fmt.Errorf("the cache %s is outside the mount "+
			"%s, so results of pods would be lost; set fleet.mount or simulate.cache", cache, mount), err))
	}
	return nil
}
