package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"

	"graft/report/runs"
)

// machinesJob trains ConvNet2 in processes connected by TCP. The virtual clock determines its steps, the machine its
// speed.
const machinesJob = `[network]
name = "ConvNet2"
[time]
budget = "1s"
events = [{at = "1ms", change = "up", devices = %d}]
[data.synthetic]
size = 32
train = 3520
test = 100
[parallel]
on = %t
threads = 1
%s`

// machineCounts are the numbers of processes to compare.
var machineCounts = []int{1, 2, 4}

// machines compares images per second of processes that train together over TCP with PyTorch's DistributedDataParallel
// over Gloo, one thread per process.
func (b *bench) machines(graft string, rounds int) error {
	graft, err := filepath.Abs(graft)
	if err != nil {
		return err
	}
	fmt.Printf("\nimages a second of ConvNet2, batch %d, by processes of one thread over TCP on this machine; "+
		"the twin is DistributedDataParallel over Gloo, whose BatchNorms see their own part of a batch\n", batchSize)
	fmt.Fprintln(b.table, "processes\tratio\t\tgraft images/s\ttwin images/s")
	defer b.table.Flush()
	for _, n := range machineCounts {
		var m measured
		for range rounds {
			ours, err := b.ourMachines(graft, n)
			if err != nil {
				return err
			}
			twin, err := b.twinMachines(n)
			if err != nil {
				fmt.Fprintf(b.table, "%d\tskipped: %s\n", n, firstLine(err))
				return nil
			}
			m.ours, m.twin = append(m.ours, 1/ours), append(m.twin, 1/twin)
		}
		fmt.Fprintf(b.table, "%d\t%s\t%.0f\t%.0f\n", n, m.ratio(), 1/median(m.ours), 1/median(m.twin))
	}
	return nil
}

// ourMachines returns the speed of a job whose followers join it over TCP.
func (b *bench) ourMachines(graft string, processes int) (speed float64, err error) {
	folder, err := os.MkdirTemp(b.folder, "machines")
	if err != nil {
		return 0, err
	}
	address, err := freeAddress()
	if err != nil {
		return 0, err
	}
	listen := ""
	if processes > 1 {
		listen = fmt.Sprintf("listen = %q\ntoken_file = \"token\"\n", address)
	}
	job := fmt.Sprintf(machinesJob, processes, processes > 1, listen)
	if err := errors.Join(os.WriteFile(filepath.Join(folder, "job.toml"), []byte(job), 0o600),
		os.WriteFile(filepath.Join(folder, "token"), []byte("0123456789abcdef"), 0o600)); err != nil {
		return 0, err
	}
	for range processes - 1 {
		c := exec.Command(graft, "follow", "--join", address, "--token", "token", "--quiet")
		c.Dir, c.Env = folder, append(os.Environ(), "GRAFT_THREADS=1")
		if err := c.Start(); err != nil {
			return 0, err
		}
		defer func() { _, _ = c.Process.Kill(), c.Wait() }()
	}
	c := exec.Command(graft, "train", "job.toml", "--json", "--quiet", "--set", "run.threads=1")
	c.Dir, c.Stderr = folder, os.Stderr
	out, err := c.Output()
	if err != nil {
		return 0, fmt.Errorf("train in %d processes: %w", processes, err)
	}
	var r struct{ Outcome *runs.JobOutcome }
	if err := json.Unmarshal(out, &r); err != nil || r.Outcome == nil {
		return 0, fmt.Errorf("train in %d processes: read the outcome: %w", processes, err)
	}
	return r.Outcome.MachineSpeed, nil
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// twinMachines returns the speed of PyTorch's processes.
func (b *bench) twinMachines(processes int) (float64, error) {
	address, err := freeAddress()
	if err != nil {
		return 0, err
	}
	_, port, _ := net.SplitHostPort(address)
	c := exec.Command(b.python, filepath.Join(filepath.Dir(b.twin), "twin_ddp.py"), "--processes",
		fmt.Sprint(processes), "--steps", "100", "--port", port)
	out, err := c.Output()
	if err != nil {
		return 0, fmt.Errorf("train with PyTorch in %d processes: %w", processes, err)
	}
	var r struct {
		Speed float64 `json:"images_per_second"`
	}
	return r.Speed, json.Unmarshal(out, &r)
}
