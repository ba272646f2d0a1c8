package evaluate

import (
	"context"
	"io"

	"graft/internal/failure"
	"graft/model"
	"graft/original"
	"graft/original/bilstm"
	"graft/original/published"
	"graft/report/runs"
	"graft/runner/app"
)

// OriginalOptions holds the options of an evaluation that prints its results as the original system did.
type OriginalOptions struct {
	Policy string // path of a policy in the original system's format; required
	Table  string // path of a table in the original system's format; required
	Vocab  string // path of the policy's vocabulary; required
	// whether the policy reads token 0 before the tokens of the network's layers: "always" or "never"; empty means as
	// in the original system's report
	Prefix string
	// reproduces two bugs of the original system's last version, which omitted token 0 and evaluated the policy from
	// which learning started; requires an empty Prefix
	AsPublished bool
}

// OriginalReport is the evaluation of a policy, in the form in which the original system reports it.
type OriginalReport struct {
	o          OriginalOptions
	evaluation *original.Evaluation
	network    *model.Network
}

// Write writes the report, byte-identical to the original system's report.
func (r *OriginalReport) Write(w io.Writer) error {
	return r.evaluation.WriteReport(w, r.network, r.o.Policy, r.o.Table)
}

// Original evaluates a policy in the same way as the original system.
func Original(ctx context.Context, env *app.Env, o OriginalOptions) (*OriginalReport, error) {
	if kind, err := kindOf(env.Files, o.Policy); err == nil && kind == runs.StructuralPolicy {
		return nil, failure.Usagef("option \"compat\" requires a policy of the original system, but %s is a "+
			"structural "+
			"policy; omit option \"compat\" and option \"vocab\"", o.Policy)
	}
	if o.Vocab == "" {
		return nil, needsVocab(o.Policy)
	}
	p, run, err := o.read(env)
	if err != nil {
		return nil, app.ReadFault(err)
	}
	table, n, err := published.ReadTable(env.Files, o.Table)
	if err != nil {
		return nil, app.ReadFault(err)
	}
	if o.Prefix == "" && !reportedWithToken(p, run, n) {
		p.Prefix = bilstm.Never
	}
	e, err := original.Evaluate(ctx, table, n, original.StepPolicy{Policy: p})
	return &OriginalReport{o, e, n}, err
}

// reportedWithToken reports whether the original put token 0 before the layers when it reported on a policy. It
// reported at two times. At the first, it compared policies with 13 vectors that were continued from others with the
// tables of the first network, as they had learned: with token 0 if they have 13 vectors. It reported on all others
// when it no longer put anything before the layers.
func reportedWithToken(p *bilstm.Policy, run *published.Run, n *model.Network) bool {
	return p.Prefixed() && run != nil && run.Source != "" && p.Early(n)
}

// read reads the named policy, or the one that the original would have taken instead, and the run of the named one.
func (o OriginalOptions) read(env *app.Env) (*bilstm.Policy, *published.Run, error) {
	reading := bilstm.Options{Prefix: bilstm.Prefix(o.Prefix)}
	if o.AsPublished {
		reading.Prefix = bilstm.Never
	}
	p, run, err := published.ReadPolicy(env.Files, o.Policy, o.Vocab, reading)
	if err != nil || !o.AsPublished {
		return p, run, err
	}
	if run == nil {
		return nil, nil, failure.Usagef("option \"as-published\" requires the folder of the policy, because the "+
			"folder's file %s "+
			"names the initial policy; set option \"policy\" to the folder", published.ConfigFile)
	}
	if run.Source == "" {
		return p, run, nil
	}
	p, err = published.ReadFirstPolicy(env.Files, o.Policy, run, o.Vocab, reading)
	return p, run, err
}
