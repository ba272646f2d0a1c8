package main

import (
	"graft/results/runs"
)

func (c *contender) report(o evaluateOptions) runs.EvaluatedPolicy {
	r := runs.EvaluatedPolicy{Policy: c.path, Name: c.name, Kind: c.kind}
	if c.legacy != nil {
		prefixed := c.legacy.Prefixed()
		r.Vocab, r.Prefix = o.vocab, &prefixed
		return r
	}
	r.Members, r.Notes = len(c.structural.Members), c.structural.Notes
	for _, kind := range c.structural.Learned {
		r.Learned = append(r.Learned, string(kind))
	}
	return r
}
