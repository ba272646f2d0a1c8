package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// Size of a run of bench/attached.py.
const (
	attachedEpochs = 4 // the first one is not counted
	attachedSteps  = 100
)

// attachedRun holds the measurements of bench/attached.py.
type attachedRun struct {
	Seconds []float64 `json:"seconds"`  // of each epoch
	Peak    float64   `json:"peak_kib"` // peak memory
}

// step is the median time of a step in ms, without the first epoch.
func (r attachedRun) step() float64 { return 1e3 * median(r.Seconds[1:]) / attachedSteps }

// studyAttached prints the time of a step and the memory of a PyTorch program as a job, relative to the program alone.
func (b *bench) studyAttached(out io.Writer) error {
	if exec.Command(b.python, "-c", "import torch.export").Run() != nil {
		_, err := fmt.Fprintf(out, "\nPyTorch programs: left out: %s has no torch.export; name a Python with "+
			"PyTorch 2.5 or later with -python\n", b.python)
		return err
	}
	var alone, times, memory []float64
	for k := range b.rounds {
		own, errOwn := b.attached(false)
		job, errJob := b.attached(true)
		if err := errors.Join(errOwn, errJob); err != nil {
			return fmt.Errorf("round %d: %w", k, err)
		}
		alone, times = append(alone, own.step()), append(times, job.step()/own.step())
		memory = append(memory, job.Peak/own.Peak)
	}
	fmt.Fprintf(out, "\na PyTorch program as a job, relative to the program alone, medians and quartiles of %d pairs\n",
		b.rounds)
	_, err := fmt.Fprintf(out, "step of %.1f ms: %.3f %s times as long; peak memory of the program: %.3f %s times as "+
		"much\n", median(alone), median(times), quartiles(times, "%.3f"), median(memory), quartiles(memory, "%.3f"))
	return err
}

// attached runs bench/attached.py once, alone or as a job.
func (b *bench) attached(job bool) (r attachedRun, err error) {
	folder, err := os.MkdirTemp("", "attached-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	script, errScript := filepath.Abs("bench/attached.py")
	modules, errModules := filepath.Abs("python")
	if err := errors.Join(errScript, errModules); err != nil {
		return r, err
	}
	result := filepath.Join(folder, "result.json")
	command := exec.Command(b.python, script)
	if job {
		file := filepath.Join(folder, "job.toml")
		text := fmt.Sprintf("[program]\ncommand = [%q, %q]\n[time]\nclock = \"wall\"\nbudget = \"1h\"\n"+
			"[train]\nepochs = %d\n", b.python, script, attachedEpochs)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return r, err
		}
		command = exec.Command(b.graft, "train", file, "--folder", filepath.Join(folder, "run"), "--quiet")
	}
	command.Env = append(os.Environ(), "PYTHONPATH="+modules, "OUT="+result, fmt.Sprintf("EPOCHS=%d", attachedEpochs))
	if said, err := command.CombinedOutput(); err != nil {
		return r, fmt.Errorf("run %s: %w: %s", command, err, said)
	}
	text, err := os.ReadFile(result)
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err == nil && len(r.Seconds) != attachedEpochs {
		err = fmt.Errorf("%s measured %d epochs; expected %d", script, len(r.Seconds), attachedEpochs)
	}
	return r, err
}
