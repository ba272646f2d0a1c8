package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"graft/files"
	"graft/results/document"
	"graft/torch"
)

// doctorReport is what `graft doctor --json` prints.
type doctorReport struct {
	Healthy  bool          `json:"healthy"`  // whether every check passed
	LibTorch *libtorch     `json:"libtorch"` // null where none could be opened
	Devices  []string      `json:"devices"`  // that tensors can be on
	Machine  machine       `json:"machine"`  // what graft runs on
	Checks   []checkResult `json:"checks"`   // what was tried
}

// libtorch is the LibTorch in use and where it came from.
type libtorch struct {
	torch.Runtime
	Origin string `json:"origin"` // "Debian", the folder it was built against, or "unknown"
}

// together says over what the processes of a job speak to each other.
func (l *libtorch) together() string {
	switch {
	case l.NCCL:
		return "can train together, over NCCL and Gloo"
	case l.Gloo:
		return "can train together, over Gloo"
	}
	return "train alone: this LibTorch lacks c10d's Gloo"
}

type machine struct {
	OS         string `json:"os"`          // the system, as Go names it
	Arch       string `json:"arch"`        // the processor, as Go names it
	Processors int    `json:"processors"`  // that this process may use
	WaitPolicy string `json:"wait_policy"` // how OpenMP's threads wait for work
}

// checkResult is one line of the doctor's table.
type checkResult struct {
	Check  string `json:"check"`            // what was looked at
	Pass   bool   `json:"pass"`             // whether it works
	Detail string `json:"detail"`           // what was found
	Remedy string `json:"remedy,omitempty"` // what to do about it; empty where it works
}

// newDoctorCommand is `graft doctor`.
func newDoctorCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Look the machine over: LibTorch, devices, threads, and whether they work",
		Long: `doctor says which LibTorch graft found and where it came from, what devices and
threads there are, and checks that what graft stands on works. Each check prints
pass or fail, and what to do about a failure. The exit code is 1 if any fails.`,
		Example: `  graft doctor
  graft doctor --json`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return runDoctor(command.OutOrStdout(), asJSON)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return command
}

func runDoctor(w io.Writer, asJSON bool) error {
	report := examine(environment(context.Background()).Files)
	print := report.print
	if asJSON {
		print = func(w io.Writer) error { return document.PrintJSON(w, report) }
	}
	if err := print(w); err != nil {
		return err
	}
	if !report.Healthy {
		return errors.New("doctor: a check failed; its remedy is on its line")
	}
	return nil
}

// examine looks the machine over.
func examine(fsys files.FS) doctorReport {
	report := doctorReport{Healthy: true, Devices: []string{}, Machine: machine{
		OS: runtime.GOOS, Arch: runtime.GOARCH, Processors: torch.DefaultThreads(),
	}}
	if found, err := torch.Describe(); err == nil {
		report.LibTorch = &libtorch{Runtime: found, Origin: origin(fsys, found.Library)}
	}
	report.Machine.WaitPolicy = waitPolicy()
	devices, _ := torch.Devices() // where this fails the first check says why
	for _, d := range devices {
		report.Devices = append(report.Devices, d.String())
	}
	report.Checks = runChecks(fsys, devices)
	for _, c := range report.Checks {
		report.Healthy = report.Healthy && c.Pass
	}
	return report
}

// largestOrigin is above the size of the file that the build writes, in bytes.
const largestOrigin = 1 << 16

// origin reads what the build wrote beside the library.
func origin(fsys files.FS, library string) string {
	data, err := files.ReadAll(fsys, filepath.Join(filepath.Dir(library), "origin"), largestOrigin)
	if err != nil {
		return unknown
	}
	for line := range strings.Lines(string(data)) {
		if from, ok := strings.CutPrefix(strings.TrimSpace(line), "libtorch="); ok {
			return from
		}
	}
	return unknown
}

func waitPolicy() string {
	if policy := os.Getenv("OMP_WAIT_POLICY"); policy != "" {
		return policy
	}
	if spins := os.Getenv("GOMP_SPINCOUNT"); spins != "" {
		return "spin " + spins + " times"
	}
	return torch.WaitPolicy
}

func (r doctorReport) print(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if l := r.LibTorch; l != nil {
		fmt.Fprintf(table, "LibTorch\t%s from %s, %s\n", l.Version, l.Origin, l.Vectors)
		fmt.Fprintf(table, "library\t%s\n", l.Library)
		fmt.Fprintf(table, "threads\t%d of %d processors; idle ones %s\n", l.Threads, r.Machine.Processors, r.Machine.WaitPolicy)
		fmt.Fprintf(table, "devices\t%s\n", strings.Join(r.Devices, ", "))
		fmt.Fprintf(table, "processes\t%s\n", l.together())
	} else {
		fmt.Fprintf(table, "LibTorch\tnone\n")
	}
	fmt.Fprintf(table, "machine\t%s/%s\n\n", r.Machine.OS, r.Machine.Arch)
	for _, c := range r.Checks {
		verdict := "pass"
		if !c.Pass {
			verdict = "FAIL"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", verdict, c.Check, c.Detail)
		if c.Remedy != "" {
			fmt.Fprintf(table, "\t\tremedy: %s\n", c.Remedy)
		}
	}
	return table.Flush()
}
