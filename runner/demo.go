package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"graft/runner/train"
)

// newDemoCommand is `graft demo`.
func newDemoCommand() *cobra.Command {
	o := trainFlags{}
	command := &cobra.Command{
		Use:   "demo",
		Short: "Train a network that grows and shrinks, on synthetic images",
		Long: `demo runs a job on synthetic images in about half a minute. When the job gains devices, its small
network is deepened and widened. When the job loses the added devices, the network shrinks to its
original size and is distilled from the larger network. demo prints how each of these changes
affects the accuracy. demo needs no dataset and no network connection. --set changes keys of the
job; --folder keeps the run folder, which is otherwise deleted. The time budget is 18 s, and the
devices change after 5 s and 14 s. If you set a budget below 14 s, also set earlier device changes
(time.events).`,
		Example: `  graft demo
  graft demo --folder runs/demo --set time.clock=wall --set time.budget=60s`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) (err error) {
			if o.Folder == "" {
				var temporary string
				if temporary, err = os.MkdirTemp("", "graft-demo-"); err != nil {
					return err
				}
				defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
				o.Folder, o.temporary = filepath.Join(temporary, "run"), true
			}
			o.Set = append(train.Demo(), o.Set...)
			return runTrain(command.Context(), command.OutOrStdout(), "", o)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&o.Set, "set", nil, "set a configuration key, such as time.budget=30s; repeatable")
	flags.StringVar(&o.Folder, "folder", "", "path at which to keep the run folder; if empty, the folder is deleted")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	return command
}
