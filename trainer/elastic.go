package trainer

import (
	"context"
	"fmt"
	"time"
)

// lookEvery is the time between two looks for followers before the first step.
const lookEvery = 50 * time.Millisecond

// expect waits before the first step until Parallel.MinProcesses are there.
func (t *team) expect(ctx context.Context) error {
	network, ok := t.starter.(*Network)
	if t.begun || !ok {
		return nil
	}
	t.begun = true
	limited, cancel := context.WithTimeout(ctx, t.Parallel.Start)
	defer cancel()
	for {
		have := 1 + network.waiting()
		if have >= t.Parallel.MinProcesses || ctx.Err() != nil {
			return nil
		}
		if limited.Err() != nil {
			return fmt.Errorf("wait for followers: %d of %d processes are there after %v; start more with 'graft "+
				"follow --join', or lower parallel.min_processes", have, t.Parallel.MinProcesses, t.Parallel.Start)
		}
		pause(limited, lookEvery)
	}
}

// admit lets in all followers that wait, for Parallel.Elastic, and tells the scheduler how many devices there are: the
// leader's and one for each follower that is ready.
func (t *team) admit(ctx context.Context) error {
	network, ok := t.starter.(*Network)
	if !ok {
		return nil
	}
	for range network.waiting() {
		if len(t.members)+1 >= t.Parallel.most() {
			break
		}
		if p := network.next(); p != nil {
			device := t.free()
			t.members[device] = newMember(device, p, t.group.serve)
		}
	}
	for _, m := range t.sorted() {
		if err := t.await(ctx, m); err != nil {
			return err
		}
	}
	if live, ok := t.Scheduler.(*Live); ok {
		live.Present(1 + len(t.ready()))
	}
	return nil
}

// free is the first device without a member.
func (t *team) free() int {
	device := 1
	for t.members[device] != nil {
		device++
	}
	return device
}
