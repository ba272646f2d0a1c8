package main

import (
	"io"

	"github.com/spf13/cobra"

	"graft/runner/simulate"
)

// newFleetManifestCommand is `graft fleet manifest`.
func newFleetManifestCommand() *cobra.Command {
	var o simulate.ManifestOptions
	command := &cobra.Command{
		Use:   "manifest CONFIG|FOLDER",
		Short: "Print a Kubernetes job that runs the workers of a simulation",
		Long: `manifest prints a Kubernetes Indexed Job, whose pods run a simulation; pass it to 'kubectl apply
-f -'. For a scenario file, manifest first creates the run folder, as 'graft simulate' does. The
section [fleet] names the image, which must have graft on its PATH, and the volume claim that
holds the run folder and the cache. Kubernetes supervises the pods; 'graft fleet attach' follows
the pods and collects their results into a table.`,
		Example: `  graft fleet manifest late.toml --set fleet.image=graft:1 --set fleet.claim=shared | kubectl apply -f -
  graft fleet manifest runs/late`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			text, err := simulate.Manifest(command.Context(), environment(command.Context()), args[0], o)
			if err == nil {
				_, err = io.WriteString(command.OutOrStdout(), text)
			}
			return err
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&o.Set, "set", nil, "set a configuration key, such as fleet.image=graft:1; repeatable")
	flags.StringVar(&o.Folder, "folder", "",
		"run folder (default: the value of run.folder or, without that key, runs/NAME for a file NAME.toml)")
	flags.BoolVar(&o.Force, "force", false, "move aside an existing run folder if it contains another simulation")
	return command
}
