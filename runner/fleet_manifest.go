package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"graft/config"
	"graft/fleet"
	"graft/results/failure"
	"graft/results/runs"
	"graft/work"
)

// manifestOptions are the flags of `graft fleet manifest`.
type manifestOptions struct {
	set    []string // assignments after the file
	folder string   // empty is the file's, or one named after it
	force  bool     // move an existing folder aside
}

// newFleetManifestCommand is `graft fleet manifest`.
func newFleetManifestCommand() *cobra.Command {
	var o manifestOptions
	command := &cobra.Command{
		Use:   "manifest CONFIG|FOLDER",
		Short: "Print the workers of a simulation as a job of Kubernetes",
		Long: `manifest prints an Indexed Job for 'kubectl apply -f -', whose pods run the sequences of
a simulation. Given a scenario's file it makes the run folder first, as 'graft
simulate' does. The section fleet names the image, which has graft on its path, and the
volume claim in which run folder and cache lie. The cluster looks after the pods;
'graft fleet attach' watches them and collects the table.`,
		Example: `  graft fleet manifest late.toml --set fleet.image=graft:1 --set fleet.claim=shared | kubectl apply -f -
  graft fleet manifest runs/late`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			text, err := manifest(environment(command.Context()), args[0], o)
			if err == nil {
				_, err = io.WriteString(command.OutOrStdout(), text)
			}
			return err
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&o.set, "set", nil, "set a key, such as fleet.image=graft:1; may be given several times")
	flags.StringVar(&o.folder, "folder", "", "the run folder; empty is run.folder, or runs/ and the file's name")
	flags.BoolVar(&o.force, "force", false, "move a run folder of another simulation aside")
	return command
}

// manifest makes the run folder of a simulation, and describes its workers as a job of
// Kubernetes.
func manifest(env *work.Env, path string, o manifestOptions) (string, error) {
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
	if err := s.settle(path, o.force); err != nil {
		return "", err
	}
	env.Log.Info("pods run the sequences in", zap.String("folder", s.folder), zap.String("watch", "graft fleet attach "+s.folder))
	return text, nil
}

// site is the simulation of a file, or of a run folder, for the engine kubernetes.
func (o manifestOptions) site(env *work.Env, path string) (*site, error) {
	file, folder := path, ""
	if info, err := env.Files.Stat(path); err == nil && info.IsDir() {
		if o.folder != "" || o.force {
			return nil, failure.Usagef("%s is a run folder already; folder and force are for a scenario's file", path)
		}
		file, folder = filepath.Join(path, runs.ResolvedFile), path
		if _, err := env.Files.Stat(filepath.Join(path, runs.PlanFile)); err != nil {
			return nil, noSimulation(path, err)
		}
	}
	m, err := config.ReadSimulation(env.Files, file, append(slices.Clone(o.set), "fleet.engine="+config.Kubernetes))
	if err != nil {
		return nil, runs.AsConfigFault(err)
	}
	if folder == "" {
		folder = work.Folder(o.folder, m.Run.Folder, path)
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
