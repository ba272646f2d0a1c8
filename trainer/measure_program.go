package trainer

import (
	"context"
	"fmt"
	"math/rand/v2"

	"graft/model"
	"graft/net2net"
	"graft/torch"
	"graft/trainer/clock"
	"graft/trainer/program"
)

// MeasureProgram times networks inside a program that trains: the steps of its loop, with its data loading, and its
// validation. The program must have reached its first epoch. The subjects are its network and networks that grow from
// it. The time of a surgery operation includes the exchange of the network between graft and the program.
func MeasureProgram(ctx context.Context, p *Program, subjects []clock.Subject, surgery net2net.Options,
	o MeasureOptions) (m *clock.Measured, err error) {
	o.Batches = []int{p.Facts.Batch}
	o.EnsureDefaults()
	if err := o.Validate(); err != nil {
		return nil, fmt.Errorf("measure: %w", err)
	}
	err = torch.With(func(s *torch.Scope) error {
		run := &measuringProgram{MeasureOptions: o, Program: p}
		for k, subject := range subjects {
			if err := run.add(s, subject, surgery); err != nil {
				return fmt.Errorf("measure %s: %w", subject, err)
			}
			o.Tell("warmed up "+subject.String(), k+1, len(subjects))
		}
		m, err = run.measure(ctx)
		return err
	})
	return m, err
}

type measuringProgram struct {
	MeasureOptions
	*Program
	grown     []*grown
	operating []float64 // seconds of operations
}

// grown is a network with its weights, and its measured times.
type grown struct {
	clock.Subject
	content          program.Content
	applying         float64 // seconds of its surgery
	steps            int     // steps of a burst
	step, validation []float64
}

// add applies the actions of a subject to the program's network, lets the program run the result, and sets the length
// of its bursts.
func (m *measuringProgram) add(s *torch.Scope, of clock.Subject, surgery net2net.Options) error {
	n, err := m.Session.Network(s)
	if err != nil {
		return err
	}
	began := m.Now()
	for _, action := range of.Actions {
		if _, err := net2net.Apply(n, action, surgery); err != nil {
			return err
		}
	}
	g := &grown{Subject: of, applying: m.Now().Sub(began).Seconds(), steps: 1}
	if g.content, err = contentOf(n); err != nil {
		return err
	}
	if _, _, err := m.turn(g); err != nil {
		return err
	}
	step, _, err := m.turn(g)
	if err != nil {
		return err
	}
	g.steps = max(1, min(int(m.Burst.Seconds()/max(step, 1e-9)), longest, m.Facts.Steps-1))
	m.grown = append(m.grown, g)
	return nil
}

func contentOf(n *model.Network) (program.Content, error) {
	set, err := n.Save()
	return program.Content{Network: n.Sketch(), Tensors: set, Counts: map[string]int64{}}, err
}

// turn lets the program train a network for a burst and validate it. It returns the seconds of a step and of the
// validation. If an epoch has several batches, the first step is not timed, because the network's sizes are new to it.
func (m *measuringProgram) turn(g *grown) (step, validation float64, err error) {
	began := m.Now()
	if _, _, err := m.Session.Pull(); err != nil {
		return 0, 0, err
	}
	if _, err := m.Session.Push(g.content, nil); err != nil {
		return 0, 0, err
	}
	if len(g.Actions) > 0 {
		m.operating = append(m.operating, m.Now().Sub(began).Seconds()+g.applying)
	}
	if m.Facts.Steps > g.steps {
		if _, err := m.train(1); err != nil {
			return 0, 0, err
		}
	}
	if step, err = m.train(g.steps); err != nil {
		return 0, 0, err
	}
	began = m.Now()
	_, _, err = m.Session.Evaluate()
	return step, m.Now().Sub(began).Seconds(), err
}

// train returns the seconds of a step.
func (m *measuringProgram) train(steps int) (float64, error) {
	rates := make([]float64, steps)
	for k := range rates {
		rates[k] = m.Optimizer.LR
	}
	began := m.Now()
	_, err := m.Session.Train(rates, nil, m.Session.Devices())
	return m.Now().Sub(began).Seconds() / float64(steps), err
}

// measure runs rounds of all networks, in a different order each round.
func (m *measuringProgram) measure(ctx context.Context) (*clock.Measured, error) {
	m.operating = nil // the warm-up also loads code
	for round := range m.Rounds {
		for _, k := range rand.New(rand.NewPCG(1, uint64(round))).Perm(len(m.grown)) {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			g := m.grown[k]
			step, validation, err := m.turn(g)
			if err != nil {
				return nil, fmt.Errorf("measure %s: %w", g, err)
			}
			g.step, g.validation = append(g.step, step), append(g.validation, validation/float64(m.validations()))
		}
		m.Tell("rounds", round+1, m.Rounds)
	}
	result := &clock.Measured{Surgery: clock.SecondsOf(m.operating)}
	for _, g := range m.grown {
		size, err := clock.SizeOf(g.Network)
		if err != nil {
			return nil, err
		}
		result.Networks = append(result.Networks, measurementOf(g.Subject, m.Facts.Batch, size, g.step, g.validation))
	}
	return result, nil
}

// validations is the number of batches that a virtual clock charges for a validation, and at least 1.
func (p *Program) validations() int { return max(1, (p.Validation+p.Facts.Batch-1)/p.Facts.Batch) }
