package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"graft/internal/telemetry"
	"graft/runner/doctor"
)

// together names the transport between the processes of a job.
func together(l *doctor.Libtorch) string {
	switch {
	case l.NCCL:
		return "can train together, over NCCL and Gloo"
	case l.Gloo:
		return "can train together, over Gloo"
	}
	return "train alone: this LibTorch lacks c10d's Gloo"
}

// newDoctorCommand is `graft doctor`.
func newDoctorCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "doctor",
		Short: "Check LibTorch, devices and threads of this machine",
		Long: `doctor prints the version and origin of LibTorch, the devices and the number of threads, and
checks that they work. Each check prints pass or fail; a failed check also prints a remedy. The
exit code is 1 if a check fails.`,
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
	report := doctor.Examine(environment(context.Background()))
	if err := show(w, asJSON, &report, nil, printDoctor); err != nil {
		return err
	}
	if !report.Healthy {
		return errors.New("doctor: a check failed; the output lists the remedy")
	}
	return nil
}

func printDoctor(w io.Writer, r *doctor.Report) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	if l := r.LibTorch; l != nil {
		fmt.Fprintf(table, "LibTorch\t%s from %s, %s\n", l.Version, l.Origin, l.Vectors)
		fmt.Fprintf(table, "library\t%s\n", l.Library)
		fmt.Fprintf(table, "threads\t%d on %d processors; idle threads: %s\n", l.Threads, r.Machine.Processors,
			r.Machine.WaitPolicy)
		fmt.Fprintf(table, "devices\t%s\n", strings.Join(r.Devices, ", "))
		fmt.Fprintf(table, "processes\t%s\n", together(l))
		if l.CUDABuilt {
			fmt.Fprintf(table, "CUDA graphs\t%s\n", map[bool]string{true: "can be recorded",
				false: "cannot be recorded: CUDA's headers were missing when the library was built"}[l.Graphs])
		}
	} else {
		fmt.Fprintf(table, "LibTorch\tnone\n")
	}
	for _, g := range r.GPUs {
		fmt.Fprintf(table, "GPU %d\t%s\n", g.Index, strings.Join(gpuFacts(g), ", "))
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

// gpuFacts lists the known properties of a GPU.
func gpuFacts(g telemetry.State) []string {
	facts := []string{cmp.Or(g.Name, "name unknown")}
	for _, f := range []struct {
		value  telemetry.Optional[float64]
		format string
	}{{g.MemoryMiB, "%.0f MiB"}, {g.Reading.MemoryUsedMiB, "%.0f MiB in use"},
		{g.Reading.UtilizationPercent, "%.0f%% busy"}, {g.Reading.PowerWatts, "%.0f W"},
		{g.Reading.TemperatureCelsius, "%.0f °C"}} {
		if v, known := f.value.Get(); known {
			facts = append(facts, fmt.Sprintf(f.format, v))
		}
	}
	if g.Fault != "" {
		facts = append(facts, "failed: "+g.Fault)
	}
	return facts
}
