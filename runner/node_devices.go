package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"graft/cluster/node/telemetry"
	"graft/results/document"
	"graft/work/node"
)

func newNodeDevicesCommand() *cobra.Command {
	var asJSON bool
	var smi string
	command := &cobra.Command{
		Use:   "devices",
		Short: "List the devices that tasks can run on, with a reading of each",
		Long: `devices lists the GPUs of this machine and reads each once by NVIDIA's management library,
NVML: use, memory, power, energy counter, temperature, clocks, reasons for a reduced clock,
and processes. Where there are no GPUs it lists the slots of the processors that tasks get
instead, and the power of the processors over a second, by RAPL where it can be read.

With --smi it reads a file of nvidia-smi --query-gpu=timestamp,index,... --format=csv and
summarises each GPU in it. Unknown values are a dash, and null in JSON, never zero.`,
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
	command.Flags().StringVar(&smi, "smi", "", "summarise this file of nvidia-smi in place of the machine's devices")
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
		d.Show(gpuTable(r.GPUs))
		d.Show(readingTable(r.GPUs))
	}
	slots := document.NewTable("slot", "CPU cores")
	for _, s := range r.Slots {
		slots.Add(s.Name, strings.Trim(fmt.Sprint(s.CPUs), "[]"))
	}
	d.Show(slots)
	domains := document.NewTable("processor", "counter").Numbers("", "%.1f", "W")
	for _, p := range r.Processors {
		domains.Add(p.Name, p.UUID, optional(p.Reading.PowerWatts))
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

// gpuTable shows what does not change.
func gpuTable(list []node.DeviceState) *document.Table {
	t := (&document.Table{}).Numbers("", "", "GPU").Texts("name", "UUID").Numbers("", "%.0f", "MiB").Texts("MIG", "compute mode")
	for _, s := range list {
		mig := any(document.Missing())
		if on, known := s.MIG.Get(); known {
			mig = map[bool]string{false: "off", true: "on"}[on]
		}
		t.Add(s.Index, known(s.Name), known(s.UUID), optional(s.MemoryMiB), mig, known(s.ComputeMode))
	}
	return t
}

// readingTable shows a reading of each GPU.
func readingTable(list []node.DeviceState) *document.Table {
	t := (&document.Table{}).Numbers("", "", "GPU").Numbers("", "%.0f", "busy %", "MiB in use").Numbers("", "%.1f", "W").Numbers("", "%.0f", "J", "°C", "SM MHz", "memory MHz").Texts("reduced clock", "processes")
	for _, s := range list {
		r := &s.Reading
		throttle, processes := any(document.Missing()), any(document.Missing())
		if reasons, known := r.Throttle.Get(); known {
			throttle = reasons.String()
		}
		if all, known := r.Processes.Get(); known {
			processes = processText(all)
		}
		t.Add(s.Index, optional(r.UtilizationPercent), optional(r.MemoryUsedMiB), optional(r.PowerWatts), optional(r.EnergyJoules), optional(r.TemperatureCelsius), optional(r.SMClockMHz), optional(r.MemoryClockMHz), throttle, processes)
	}
	return t
}

func processText(all []telemetry.Process) string {
	var texts []string
	for _, p := range all {
		memory := "-"
		if v, known := p.MemoryMiB.Get(); known {
			memory = fmt.Sprintf("%.0f", v)
		}
		texts = append(texts, fmt.Sprintf("%d: %s MiB", p.PID, memory))
	}
	return cmp.Or(strings.Join(texts, ", "), "none")
}

// optional is a number of a table.
func optional(o telemetry.Optional[float64]) document.Cell {
	if v, known := o.Get(); known {
		return document.Value(v, "")
	}
	return document.Missing()
}

// known is a text of a table; an empty one is unknown.
func known(text string) any {
	if text == "" {
		return document.Missing()
	}
	return text
}

func printSMI(w io.Writer, r *node.SMIReport) error {
	d := &document.Document{}
	t := (&document.Table{}).Numbers("", "", "GPU").Texts("name").Numbers("", "", "samples").Numbers("", "%.1f", "s", "busy %", "mean W", "peak W").Numbers("", "%.0f", "peak MiB").Numbers("", "%.1f", "J").Texts("energy")
	for _, g := range r.Devices {
		t.Add(g.Index, known(g.Name), g.Samples, g.Seconds, optional(g.MeanUtilizationPercent), optional(g.MeanWatts), optional(g.PeakWatts), optional(g.PeakMemoryMiB), optional(g.Joules), g.MethodText())
	}
	d.Show(t)
	if len(r.Devices) == 0 {
		d.Say("The file has no rows.")
	}
	if r.Cut {
		d.Say("The last row is incomplete and left out: nvidia-smi was interrupted.")
	}
	return d.Print(w)
}
