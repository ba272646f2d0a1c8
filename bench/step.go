package main

import (
	"errors"
	"fmt"
)

// trainingSteps compares training steps on each number of threads.
func (b *bench) trainingSteps() error {
	var faults []error
	for _, threads := range threadCounts() {
		faults = append(faults, b.threads(threads))
	}
	return errors.Join(faults...)
}

// threads compares each of our variants with each of the twin's.
func (b *bench) threads(n int) error {
	fmt.Printf("\n%d thread(s)\n", n)
	fmt.Fprintln(b.table, "what\tgraft\ttwin\tratio\t\tgraft images/s\ttwin images/s\tlosses")
	defer b.table.Flush()
	for _, v := range b.twins() {
		for _, u := range ours {
			if err := b.compare(u, v, n); err != nil {
				fmt.Fprintf(b.table, "step\t%s\t%s\tskipped: %s\n", u.name, v.name, firstLine(err))
			}
		}
	}
	return nil
}

// compare measures training steps, and once the operator chain as well, over fresh pairs of processes.
func (b *bench) compare(u, v variant, threads int) error {
	var steps, chain measured
	err := b.repeated(u, v, threads, func(us, twin *side, rounds int) error {
		err := steps.pairs(alike(us, twin, command{Cmd: "train", Steps: b.steps}), rounds)
		if err != nil || u.name != ours[0].name || v.name != b.twins()[0].name {
			return err
		}
		return chain.pairs(alike(us, twin, command{Cmd: "ops", Iterations: b.ops}), rounds)
	})
	if err != nil {
		return err
	}
	images := float64(b.steps * batchSize)
	fmt.Fprintf(b.table, "step\t%s\t%s\t%s\t%.0f\t%.0f\t%s\n", u.name, v.name, steps.ratio(),
		images/median(steps.ours), images/median(steps.twin), steps.agreement())
	if len(chain.ours) > 0 {
		fmt.Fprintf(b.table, "operators\t%s\t%s\t%s\t\t\t%.2f and %.2f us an operator\n", u.name, v.name, chain.ratio(),
			1e6*median(chain.ours)/float64(9*b.ops), 1e6*median(chain.twin)/float64(9*b.ops))
	}
	return nil
}
