package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// demoJob is a job with everything in it: a network that trains, grows when it is
// given devices, and returns to its first size when they are taken away.
var demoJob = []string{
	"time.budget=18s",
	`time.events=[{at = "5s", change = "up", devices = 2}, {at = "14s", change = "down", devices = 1}]`,
	"data.synthetic.train=4000",
	"data.synthetic.test=1000",
	"augment.pad=2",
	"augment.flip=true",
	`adapt.decider="script"`,
	`adapt.actions=["deepen:conv2", "widen:conv3:64"]`,
	"adapt.every=true",
	"adapt.most=2",
	"adapt.noise=0.05", // so that copied channels part
}

// newDemoCommand is `graft demo`.
func newDemoCommand() *cobra.Command {
	o := trainOptions{}
	command := &cobra.Command{
		Use:   "demo",
		Short: "Train a network that grows and shrinks, on synthetic images",
		Long: `demo runs a job on images that it makes itself, in half a minute or so: a small
network trains, is given devices, deepens and widens, loses them again, and returns
to its first size while it learns from the larger network. It prints what each of
these did to the accuracy. It needs no data and no network connection; --set changes
the job, and --folder keeps what it writes, which is thrown away otherwise.`,
		Example: `  graft demo
  graft demo --folder runs/demo --set time.clock=wall --set time.budget=60s`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) (err error) {
			if o.folder == "" {
				var temporary string
				if temporary, err = os.MkdirTemp("", "graft-demo-"); err != nil {
					return err
				}
				defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
				o.folder, o.passing = filepath.Join(temporary, "run"), true
			}
			o.set = append(append([]string{}, demoJob...), o.set...)
			return runTrain(command.Context(), command.OutOrStdout(), "", o)
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&o.set, "set", nil, "set a key, such as time.budget=30s; may be given several times")
	flags.StringVar(&o.folder, "folder", "", "keep the run in a folder")
	flags.BoolVar(&o.json, "json", false, "print one JSON object")
	return command
}
