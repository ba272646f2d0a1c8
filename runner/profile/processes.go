package profile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"graft/internal/coprocess"
	"graft/internal/failure"
	"graft/runner/app"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
)

// Peer tells a process of a measured group what to do. `graft profile` starts the process and writes Peer to its
// standard input.
type Peer struct {
	Rank, Size int
	File       string // file through which the processes find each other
	Threads    int
	Rounds     int
	Optimizer  string
	// vector instructions of the leader
	Instructions string
	Exact        bool
	Steady       bool
	Precision    torch.Precision
}

const (
	// togetherProcesses limits the number of processes, far above the processors of a machine.
	togetherProcesses = 256
	togetherTimeout   = time.Minute // maximum time to wait for another process
	mostPeerInput     = 1 << 16
)

// processFaults returns an error for numbers of processes that cannot be measured.
func (o Options) processFaults() error {
	for k, count := range o.Processes {
		switch {
		case count < 2 || count > togetherProcesses:
			return fmt.Errorf("option \"processes\" has %d; must be from 2 to %d", count, togetherProcesses)
		case slices.Contains(o.Processes[:k], count):
			return fmt.Errorf("option \"processes\" lists %d twice", count)
		}
	}
	if len(o.Processes) > 0 && o.Device != "cpu" {
		return fmt.Errorf("option \"processes\" requires the CPU, but the device is %s; remove the option", o.Device)
	}
	return nil
}

// measureProcesses adds the measured times of several processes to a profile.
func (o Options) measureProcesses(ctx context.Context, env *app.Env, p *clock.Profile, m trainer.MeasureOptions) error {
	for _, size := range slices.Sorted(slices.Values(o.Processes)) {
		peer := Peer{Size: size, Threads: p.Made.Threads, Rounds: m.Rounds, Optimizer: m.Optimizer.Rule.String(),
			Exact: m.Exact, Steady: m.Steady, Precision: m.Precision, Instructions: p.Made.Instructions}
		made, err := measureGroup(ctx, env, peer, m)
		if err != nil {
			return fmt.Errorf("measure %d processes: %w", size, err)
		}
		p.Processes = append(p.Processes, *made)
	}
	return p.Validate()
}

// measureGroup starts the other processes of a group, and measures together with them.
func measureGroup(ctx context.Context, env *app.Env, peer Peer, m trainer.MeasureOptions) (made *clock.Processes,
	err error) {
	if env.Program == "" {
		return nil, errors.New("the path of this program is unknown, so no processes can be started; remove the " +
			"option \"processes\"")
	}
	folder, err := env.Files.MkdirTemp("", "graft-")
	if err != nil {
		return nil, fmt.Errorf("create the rendezvous folder: %w", err)
	}
	peer.File = filepath.Join(folder, "meet")
	defer func() {
		_ = env.Files.Remove(peer.File) // the processes may not have met
		err = errors.Join(err, env.Files.Remove(folder))
	}()
	interrupted := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var others []*otherProcess
	for rank := 1; rank < peer.Size; rank++ {
		of := peer
		of.Rank = rank
		other, err := startPeer(ctx, env.Program, of)
		if err != nil {
			return nil, err
		}
		others = append(others, other)
	}
	made, err = peer.measure(ctx, m)
	if err == nil {
		for _, other := range others {
			<-other.ended
		}
	}
	for _, other := range others { // a process that ended by itself is the cause
		if failed := other.failure(); failed != nil && interrupted.Err() == nil {
			err = failed
		}
	}
	cancel() // processes that still run wait for this one
	for _, other := range others {
		<-other.ended
	}
	return made, cmp.Or(interrupted.Err(), err)
}

// otherProcess is a started process of a group.
type otherProcess struct {
	command *exec.Cmd
	output  coprocess.Tail
	ended   chan struct{} // closed when err is set
	err     error
}

func startPeer(ctx context.Context, program string, p Peer) (*otherProcess, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	o := &otherProcess{command: exec.CommandContext(ctx, program, "profile", "peer"), ended: make(chan struct{})}
	o.command.Stdin, o.command.Stderr = bytes.NewReader(text), &o.output
	if err := o.command.Start(); err != nil {
		return nil, fmt.Errorf("start process %d: %w", p.Rank, err)
	}
	go func() {
		o.err = o.command.Wait()
		close(o.ended)
	}()
	return o, nil
}

// failure returns the error of a process that has ended by itself.
func (o *otherProcess) failure() error {
	select {
	case <-o.ended:
		if o.err != nil {
			return fmt.Errorf("%w; its last messages:\n%s", o.err, o.output.String())
		}
	default:
	}
	return nil
}

// Join measures in a process of a group that `graft profile` has started. It reads a [Peer] from the reader.
func Join(ctx context.Context, env *app.Env, r io.Reader) error {
	var p Peer
	if err := json.NewDecoder(io.LimitReader(r, mostPeerInput)).Decode(&p); err != nil {
		return failure.Usagef("read the options of a measured process: %w; only 'graft profile --processes' starts "+
			"this command", err)
	}
	if err := torch.LimitTo(torch.Instructions(p.Instructions)); err != nil {
		return err
	}
	m := trainer.MeasureOptions{Rounds: p.Rounds, Exact: p.Exact, Steady: p.Steady, Precision: p.Precision,
		Now: env.Now}
	if err := m.Optimizer.Rule.UnmarshalText([]byte(p.Optimizer)); err != nil {
		return failure.Usagef("option \"optimizer\": %w", err)
	}
	_, err := p.measure(ctx, m)
	return err
}

// measure forms the group and measures with it.
func (p Peer) measure(ctx context.Context, m trainer.MeasureOptions) (made *clock.Processes, err error) {
	if err := torch.SetThreads(max(1, p.Threads)); err != nil {
		return nil, err
	}
	networks, err := trainer.TogetherProbes()
	if err != nil {
		return nil, err
	}
	err = torch.With(func(s *torch.Scope) error {
		peers := s.NewPeers(torch.PeersOptions{Rank: p.Rank, Size: p.Size, File: p.File, Timeout: togetherTimeout})
		if s.Err() != nil {
			return s.Err()
		}
		defer peers.Close()
		made, err = trainer.MeasureTogether(ctx, peers, networks, m)
		return err
	})
	return made, err
}
