package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"graft/config"
	"graft/internal/words"
	"graft/report/document"
	"graft/report/runs"
	"graft/runner/app"
	"graft/runner/profile"
	"graft/trainer/clock"
)

func newProfileShowCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "show FILE|NAME",
		Short: "Print a profile, and the error of its rates",
		Long: `show prints how a profile was measured, the measured and predicted times of each network, and the
rates that predict them. An argument that contains a slash or ends in .toml is a profile FILE.
NAME is a built-in profile:

` + profileHelp(),
		Example: `  graft profile show laptop.toml
  graft profile show v100-original --json`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			p, err := findProfile(environment(command.Context()), args[0])
			if err != nil {
				return err
			}
			return show(command.OutOrStdout(), asJSON, profile.NewReport(p, ""), nil, printProfile)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

// profileHelp has a line for each built-in profile.
func profileHelp() (text string) {
	for _, p := range clock.Profiles() {
		text += fmt.Sprintf("  %-14s  %s\n", p.Name, p.Device)
	}
	return text
}

// findProfile returns the profile that an argument names, or an error with its exit code.
func findProfile(env *app.Env, arg string) (*clock.Profile, error) {
	p, err := config.FindProfile(env.Files, arg)
	return p, runs.AsConfigFault(err)
}

func newProfileCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE…",
		Short: "Check profile files",
		Long: `check reads profile files and prints a line for each valid file. Errors of invalid files are
listed with their line numbers. If a profile predicts its measured networks from operators that were
measured in other networks, check also prints the errors of predicted steps by family, batch and
number of processes, and before and after surgery.`,
		Example: `  graft profile check laptop.toml
  graft profile check *.toml`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return checkFiles(command.OutOrStdout(), args, func(path string) (string, error) {
				p, err := config.ReadProfile(environment(command.Context()).Files, path)
				if err != nil {
					return "", runs.AsConfigFault(err)
				}
				return describeProfile(p) + "\n" + errorsText(p), nil
			})
		},
	}
}

// errorsText is a table of the errors of predicted steps; empty if none was predicted.
func errorsText(p *clock.Profile) string {
	r := profile.NewReport(p, "")
	if len(r.Errors) == 0 {
		return ""
	}
	var b strings.Builder
	printer := &document.Printer{W: &b}
	printer.Table(profileErrors(r))
	return b.String() // a strings.Builder never fails
}

func describeOperators(p *clock.Profile) string {
	d := &p.GraftOperators
	if p.Computed.On() {
		return "operators computed from constants of the hardware"
	}
	if len(d.Operators) == 0 {
		return fmt.Sprintf("%s of %s", words.Plural(len(p.Operators.Measured), "operator"), p.Operators.Network)
	}
	text := fmt.Sprintf("%s of %s", words.Plural(len(d.Operators), "operator"),
		words.Plural(d.Networks, "small network"))
	if p.Fit.NewStep.Network != "" {
		text += fmt.Sprintf(" with a median error of %s for the measured networks", shareText(p.Fit.NewStep.Median))
	}
	return text
}

// describeProfile describes a profile in one line.
func describeProfile(p *clock.Profile) string {
	rates := "rates written by hand"
	if p.HasOperators() {
		rates = describeOperators(p)
	} else if p.Fit.Networks > 0 {
		rates = fmt.Sprintf("rates with a median error of %s for a network left out", shareText(p.Fit.Step.Median))
	} else if p.Closed() {
		rates = "no rates, so other networks cannot be charged"
	}
	return document.Printable(fmt.Sprintf("%s, %s, %s, %s", p.Name, p.Device,
		words.Plural(len(p.Measured), "measurement"), rates))
}
