package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"graft/report"
	"graft/report/document"
	"graft/runner/node"
)

func newNodeDevicesCommand() *cobra.Command {
	var asJSON bool
	var smi string
	command := &cobra.Command{
		Use:   "devices",
		Short: "List the devices that tasks can run on, with their current readings",
		Long: `devices lists the GPUs of this machine and reads each once through NVIDIA's management library,
NVML: utilization, memory, power, energy counter, temperature, clocks, throttle reasons, and
processes. On a machine without GPUs, devices lists the CPU slots for tasks, and the CPU power
averaged over one second if RAPL is readable.

With --smi, devices reads a file with the output of nvidia-smi --query-gpu=timestamp,index,...
--format=csv and summarises each GPU in the file. Unknown values are printed as a dash, and as
null in JSON, never as zero.`,
		Example: `  graft node devices
  graft node devices --json
  graft node devices --smi usage.csv`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			env, w := environment(command.Context()), command.OutOrStdout()
			if smi != "" {
				r, err := node.ReadSMI(env, smi)
				return show(w, asJSON, r, err, printSMI)
			}
			return runNodeDevices(command.Context(), w, asJSON)
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	command.Flags().StringVar(&smi, "smi", "", "nvidia-smi output file to summarise instead of the machine's devices")
	return command
}

func runNodeDevices(ctx context.Context, w io.Writer, asJSON bool) error {
	r, err := node.Devices(ctx, environment(ctx))
	if err != nil {
		return err
	}
	return show(w, asJSON, r, nil, printDevices)
}

func printDevices(w io.Writer, r *node.DeviceReport) error {
	d := &document.Document{}
	if len(r.GPUs) > 0 {
		d.Show(report.GPUs(r.GPUs))
		d.Show(report.Readings(r.GPUs))
	}
	slots := document.NewTable("slot", "CPU cores")
	for _, s := range r.Slots {
		slots.Add(s.Name, strings.Trim(fmt.Sprint(s.CPUs), "[]"))
	}
	d.Show(slots)
	domains := document.NewTable("processor", "counter").Numbers("", "%.1f", "W")
	for _, p := range r.Processors {
		domains.Add(p.Name, p.UUID, report.Optional(p.Reading.PowerWatts))
	}
	d.Show(domains)
	for _, s := range append(r.GPUs, r.Processors...) {
		if s.Fault != "" {
			d.Say(fmt.Sprintf("Device %d failed: %s.", s.Index, s.Fault))
		}
	}
	if r.Note != "" {
		d.Say("Note: " + r.Note + ".")
	}
	return d.Print(w)
}

func printSMI(w io.Writer, r *node.SMIReport) error {
	d := &document.Document{}
	t := (&document.Table{}).Numbers("", "", "GPU").Texts("name").Numbers("", "", "samples").Numbers("", "%.1f", "s",
		"busy %", "mean W", "peak W").Numbers("", "%.0f", "peak MiB").Numbers("", "%.1f", "J").Texts("energy")
	for _, g := range r.Devices {
		t.Add(g.Index, report.Word(g.Name), g.Samples, g.Seconds, report.Optional(g.MeanUtilizationPercent),
			report.Optional(g.MeanWatts), report.Optional(g.PeakWatts), report.Optional(g.PeakMemoryMiB),
			report.Optional(g.Joules), g.MethodText())
	}
	d.Show(t)
	if len(r.Devices) == 0 {
		d.Say("The file has no rows.")
	}
	if r.Cut {
		d.Say("The last row is incomplete and ignored: nvidia-smi was interrupted.")
	}
	return d.Print(w)
}
