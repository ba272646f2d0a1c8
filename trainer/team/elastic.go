package team

import (
	"context"
	"fmt"
	"time"
)

// lookEvery is the interval between checks for followers before the first step.
const lookEvery = 50 * time.Millisecond

// expect waits before the first step until Parallel.MinProcesses processes are ready.
func (t *Team) expect(ctx context.Context) error {
	network, ok := t.starter.(*Network)
	if t.begun || !ok {
		return nil
	}
	t.begun = true
	limited, cancel := context.WithTimeout(ctx, t.options.Start)
	defer cancel()
	for {
		have := 1 + network.Waiting()
		if have >= t.options.MinProcesses || ctx.Err() != nil {
			return nil
		}
		if limited.Err() != nil {
			return fmt.Errorf("wait for followers: %d of %d processes joined within %v; start more with 'graft "+
				"follow --join', or lower parallel.min_processes", have, t.options.MinProcesses, t.options.Start)
		}
		pause(limited, lookEvery)
	}
}

// admit admits all waiting followers, for Parallel.Elastic, and reports the number of devices to the job: the leader's
// device and one per ready follower.
func (t *Team) admit(ctx context.Context) error {
	network, ok := t.starter.(*Network)
	if !ok {
		return nil
	}
	for range network.Waiting() {
		if len(t.members)+1 >= t.options.most() {
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
	t.job.Present(1 + len(t.ready()))
	return nil
}

// free is the first device without a member.
func (t *Team) free() int {
	device := 1
	for t.members[device] != nil {
		device++
	}
	return device
}
