package profile

import (
	"cmp"
	"context"
	"time"

	"graft/config"
	"graft/internal/failure"
	"graft/runner/app"
	"graft/trainer"
	"graft/trainer/clock"
)

// ofProgram returns the network of a job whose program trains it, with the networks that its actions produce.
func (o *Options) ofProgram(m *config.Measurable, given Options) ([]clock.Subject, error) {
	for _, flag := range []struct {
		name string
		set  bool
	}{{"device", given.Device != "cpu"}, {"threads", given.Threads > 0}, {"batch", len(given.Batches) > 0},
		{"optimizer", given.Optimizer != ""}, {"exact", given.Exact}, {"fast", given.Fast}, {"steady", given.Steady}} {
		if flag.set {
			return nil, failure.Usagef("option %q does not apply to a job with program.command: the program chooses "+
				"its device, threads, batch and optimizer; remove it", flag.name)
		}
	}
	o.Only, o.surgery = true, m.Surgery // the other networks run outside the program
	first := clock.Subject{Name: m.Network.Name(), Network: m.Network}
	if o.Plain {
		return []clock.Subject{first}, nil
	}
	if len(m.Sequences) > 0 {
		return clock.Grown(first, m.Sequences, m.Surgery)
	}
	adapted, err := clock.Adapted(first, ways)
	return append([]clock.Subject{first}, adapted...), err
}

// measureProgram measures the subjects inside the program.
func (o Options) measureProgram(ctx context.Context, env *app.Env, subjects []clock.Subject) (*clock.Profile, error) {
	m := trainer.MeasureOptions{Rounds: o.Rounds, Now: env.Now, Tell: teller(env)}
	m.EnsureDefaults()
	measured, err := trainer.MeasureProgram(ctx, &o.program.Program, subjects, o.surgery, m)
	if err != nil {
		return nil, err
	}
	begun := o.program.Session.Begun
	made := clock.Provenance{Date: env.Now().UTC().Format(time.DateOnly), Graft: cmp.Or(o.Graft, env.Version),
		Torch: begun.Torch, Rounds: m.Rounds, Optimizer: begun.Kind, Device: clock.InsideProgram}
	return measured.Profile(o.title(), "PyTorch program on "+deviceText(env.Files, m.Device), made), nil
}
