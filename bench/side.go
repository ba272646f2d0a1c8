package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// command is a line to a worker; answer is a line from it.
type command struct {
	Cmd        string `json:"cmd"`
	Steps      int    `json:"steps,omitempty"`
	Iterations int    `json:"iterations,omitempty"`
	Network    string `json:"network,omitempty"`
	Batch      int    `json:"batch,omitempty"`
	Action     string `json:"action,omitempty"`
	How        string `json:"how,omitempty"` // method of surgery, or decoder of a stream
}

type answer struct {
	Torch      string    `json:"torch"`
	Threads    int       `json:"threads"`
	Seconds    float64   `json:"seconds"`     // wall time of the burst
	CPUSeconds float64   `json:"cpu_seconds"` // user and system time of the whole process
	Losses     []float64 `json:"losses"`
	PeakMB     float64   `json:"peak_mb"` // peak memory since the start of the process, after epochs
	Error      string    `json:"error"`
	Remedy     string    `json:"remedy"`
}

// side is a resident process measured in one column of the comparison.
type side struct {
	name string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	errs strings.Builder
}

// start starts a process; env extends this process's environment.
func start(name string, env []string, program string, args ...string) (*side, error) {
	s := &side{name: name, cmd: exec.Command(program, args...)}
	s.cmd.Env = append(os.Environ(), env...)
	s.cmd.Stderr = &s.errs
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	s.in, s.out = in, bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return s, nil
}

// ask sends one command and waits for its answer.
func (s *side) ask(c command) (answer, error) {
	line, err := json.Marshal(c)
	if err != nil {
		return answer{}, err
	}
	// A side that could not start has still left its reason to read.
	_, _ = s.in.Write(append(line, '\n'))
	reply, err := s.out.ReadBytes('\n')
	if err != nil {
		return answer{}, s.died(err)
	}
	var a answer
	if err := json.Unmarshal(reply, &a); err != nil {
		return answer{}, fmt.Errorf("parse the answer %q of %s: %w", reply, s.name, err)
	}
	if a.Error != "" {
		return answer{}, fmt.Errorf("%s; %s", a.Error, a.Remedy)
	}
	return a, nil
}

func (s *side) died(err error) error {
	_ = s.cmd.Wait()
	tail := strings.TrimSpace(s.errs.String())
	if cut := len(tail) - 2000; cut > 0 {
		tail = tail[cut:]
	}
	return fmt.Errorf("%s exited unexpectedly (%w): %s", s.name, err, tail)
}

func (s *side) stop() {
	_ = s.in.Close()
	_ = s.cmd.Wait()
}
