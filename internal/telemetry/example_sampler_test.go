package telemetry_test

import (
	"context"
	"fmt"
	"time"

	"graft/internal/telemetry"
)

// constant is a source of one device with a constant power of 200 W and a counter.
type constant struct {
	now  func() time.Time
	zero time.Time
}

func (constant) Devices() []telemetry.Device { return []telemetry.Device{{UUID: "GPU-0"}} }
func (constant) Close() error                { return nil }

func (c constant) Read(int) (telemetry.Reading, error) {
	return telemetry.Reading{PowerWatts: telemetry.Known(200.0),
		EnergyJoules: telemetry.Known(200 * c.now().Sub(c.zero).Seconds())}, nil
}

// A program opens a source such as OpenNVML, runs a sampler during its tasks, and measures each task from its start to
// its end.
func ExampleSampler() {
	now := time.Unix(0, 0)
	clock := telemetry.Clock{Now: func() time.Time { return now }} // a program uses time.Now
	source := constant{clock.Now, now}
	// a program passes a telemetry.Table
	sampler, err := telemetry.NewSampler(source, nil, clock, telemetry.SamplerOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	task, err := sampler.Begin(0, telemetry.Use{IdleWatts: telemetry.Known(50.0)})
	if err != nil {
		fmt.Println(err)
		return
	}
	now = now.Add(3 * time.Second) // the task runs
	m := sampler.End(task)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- sampler.Run(ctx) }() // a program starts this first
	stop()
	joules, _ := m.Joules.Get()
	net, _ := m.NetJoules.Get()
	fmt.Println(joules, "J,", net, "J above idle,", m.MethodText(), <-done)
	// Output: 600 J, 450 J above idle, counter <nil>
}
