package pipeline

import (
	"context"

	"graft/work"
)

// Missing says that sequences of a scenario failed, and were left out of its table.
type Missing struct{ Err error }

// Error is the message of the error inside.
func (m Missing) Error() string { return m.Err.Error() }

// Unwrap is the error inside.
func (m Missing) Unwrap() error { return m.Err }

// Simulator runs the sequences of a scenario file, with assignments after it, in a run
// folder. A folder of another scenario is moved aside. Sequences that fail are an error
// that wraps Missing.
type Simulator func(ctx context.Context, env *work.Env, path string, set []string, folder string, o Options) error

// simulated runs a scenario.
func (p *pipeline) simulated(ctx context.Context, path, folder string) error {
	return p.o.Simulate(ctx, p.env, path, p.Assignments(), folder, p.o)
}
