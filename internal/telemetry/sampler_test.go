package telemetry

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/internal/prometheus"
	"graft/results"
)

// scripted is a source of two devices: one with a counter at 100 W, and one that read controls.
type scripted struct {
	now  func() time.Time
	zero time.Time
	read func(r *Reading) error
}

func (s *scripted) Devices() []Device {
	return []Device{{Index: 0, UUID: "GPU-a", Name: "A", MIG: Known(false)},
		{Index: 1, UUID: "GPU-b", Name: `B "2"`, MIG: Known(true)}}
}

func (s *scripted) Read(device int) (Reading, error) {
	passed := s.now().Sub(s.zero).Seconds()
	r := Reading{PowerWatts: Known(100.0), EnergyJoules: Known(100 * passed)}
	if device == 1 && s.read != nil {
		r = Reading{}
		return r, s.read(&r)
	}
	return r, nil
}

func (s *scripted) Close() error { return nil }

// ticking is a clock that advances only while a sampler pauses.
type ticking struct{ time.Time }

func newTicking() *ticking { return &ticking{time.Unix(1000, 0)} }

func (c *ticking) clock() Clock {
	return Clock{Now: func() time.Time { return c.Time },
		Pause: func(_ context.Context, d time.Duration) { c.Time = c.Add(d) }}
}

// kept is a sink in memory that fails from reading number fails on; zero never fails.
type kept struct {
	readings []Reading
	fails    int
}

func (k *kept) Add(_ Device, r Reading) error {
	if len(k.readings)+1 == k.fails {
		return errors.New("the disk is full")
	}
	k.readings = append(k.readings, r)
	return nil
}

func samplerOf(t *testing.T, c *ticking, sink Sink, read func(r *Reading) error) *Sampler {
	t.Helper()
	s, err := NewSampler(&scripted{c.clock().Now, c.Time, read}, sink, c.clock(),
		SamplerOptions{Interval: 250 * time.Millisecond})
	require.NoError(t, err)
	return s
}

// run samples for a duration of the clock.
func run(s *Sampler, c *ticking, d time.Duration) error {
	end := c.Add(d)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	paused := s.clock.Pause
	s.clock.Pause = func(ctx context.Context, d time.Duration) {
		if paused(ctx, d); !c.Before(end) {
			cancel()
		}
	}
	return s.Run(ctx)
}

func TestSamplerReadsAtItsInterval(t *testing.T) {
	c, sink := newTicking(), &kept{}
	s := samplerOf(t, c, sink, nil)
	require.NoError(t, run(s, c, time.Second))
	var times []float64
	for _, r := range sink.readings {
		if r.Device == 0 {
			times = append(times, r.At)
		}
	}
	require.Equal(t, []float64{1000, 1000.25, 1000.5, 1000.75}, times)
	require.Len(t, s.Latest(), 2)
	require.Len(t, sink.readings, 8)
}

// A failing device has rows of unknown values, and the other device is still measured.
func TestSamplerGoesOnAfterAFailure(t *testing.T) {
	c, sink := newTicking(), &kept{}
	s := samplerOf(t, c, sink, func(*Reading) error { return errors.New("the GPU is lost") })
	m, err := s.Begin(0, Use{IdleWatts: Known(20.0)})
	require.NoError(t, err)
	lost, err := s.Begin(1, Use{})
	require.NoError(t, err)
	require.NoError(t, run(s, c, time.Second))
	require.Equal(t, Energy{Joules: Known(100.0), NetJoules: Known(80.0), Method: MethodCounter}, s.End(m).Energy)
	require.Equal(t, MethodUnknown, s.End(lost).Method)
	failures, why := s.Failures()
	require.EqualValues(t, 6, failures)
	require.ErrorContains(t, why, "lost")
	for _, r := range sink.readings {
		require.Equal(t, r.Device == 1, r.Empty())
	}
}

// Consecutive laps leave no gap.
func TestSamplerLaps(t *testing.T) {
	c := newTicking()
	s := samplerOf(t, c, nil, nil)
	m, err := s.Begin(0, Use{})
	require.NoError(t, err)
	for k := range 3 {
		c.Time = c.Add(time.Duration(k) * time.Second)
		ended := s.Lap(m)
		require.Equal(t, Energy{Joules: Known(100 * float64(k)), Method: MethodCounter, Short: k == 0}, ended.Energy)
		require.Equal(t, float64(k), ended.Seconds)
	}
	require.Equal(t, Known(0.0), s.End(m).Joules)
}

func TestSamplerSaysWhatCannotBeAttributed(t *testing.T) {
	c := newTicking()
	s := samplerOf(t, c, nil, nil)
	shared, err := s.Begin(0, Use{})
	require.NoError(t, err)
	divided, err := s.Begin(1, Use{})
	require.NoError(t, err)
	s.Share(shared, "task 2")
	s.Share(shared, "task 2")
	c.Time = c.Add(time.Second)
	require.Equal(t, "not attributable: shared with task 2", s.End(shared).MethodText())
	require.Equal(t, "not attributable: MIG", s.End(divided).MethodText())
	_, err = s.Begin(2, Use{})
	require.EqualError(t, err, "measure device 2: found only 2 devices")
}

// Energies are still measured after the sink fails.
func TestSamplerOutlivesItsSink(t *testing.T) {
	c, sink := newTicking(), &kept{fails: 3}
	s := samplerOf(t, c, sink, nil)
	m, err := s.Begin(0, Use{})
	require.NoError(t, err)
	require.ErrorContains(t, run(s, c, time.Second), "the disk is full")
	require.Len(t, sink.readings, 2)
	require.Equal(t, Known(100.0), s.End(m).Joules)
}

func TestIntervalsOfSamplers(t *testing.T) {
	for interval, valid := range map[time.Duration]bool{0: true, 10 * time.Millisecond: true, time.Second: true,
		9 * time.Millisecond: false, 1001 * time.Millisecond: false, -1: false} {
		_, err := NewSampler(&scripted{}, nil, Clock{Now: newTicking().clock().Now}, SamplerOptions{Interval: interval})
		require.Equal(t, valid, err == nil, interval)
	}
}

// An unknown value is an empty cell of the table, null in JSON and no sample for Prometheus. Zero is written
// everywhere.
func TestUnknownIsNotZero(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	stored, err := results.Create(files.OS{}, folder, results.CreateOptions{},
		results.Manifest{Created: time.Unix(1000, 0)})
	require.NoError(t, err)
	table, err := OpenTable(stored, TableName)
	require.NoError(t, err)
	devices := (&scripted{}).Devices()
	list := []Reading{{At: 1, UtilizationPercent: Known(0.0), EnergyJoules: Known(123456.789),
		MemoryUsedMiB: Known(0.5), Throttle: Known(Throttle(0)),
		Processes: Known([]Process{{PID: 5}, {PID: 6, MemoryMiB: Known(1.5), UtilizationPercent: Known(0.0)}})},
		{At: 1, Device: 1, PowerWatts: Known(26.87), Throttle: Known(ThrottleThermal | ThrottlePowerCap | 1<<40)}}
	for _, r := range list {
		require.NoError(t, table.Add(devices[r.Device], r))
	}
	require.NoError(t, stored.Close())
	text, err := os.ReadFile(filepath.Join(folder, "telemetry.csv"))
	require.NoError(t, err)
	require.Equal(t,
		`time [s],device,uuid,utilization [%],memory_utilization [%],memory_used [MiB],memory_free [MiB],power [W],energy [J],temperature [C],sm_clock [MHz],memory_clock [MHz],throttle,processes
1.0,0,"GPU-a",0.0,,0.5,,,123456.789,,,,"none","5:: 6:1.5:0"
1.0,1,"GPU-b",,,,,26.87,,,,,"power cap+software thermal+0x10000000000",
`, string(text))
	read, err := results.ReadStream(files.OS{}, filepath.Join(folder, "telemetry.csv"))
	require.NoError(t, err)
	require.Equal(t, 2, read.Rows)

	object, err := json.Marshal(list[1])
	require.NoError(t, err)
	require.Contains(t, string(object), `"utilization_percent":null,`)
	var again Reading
	require.NoError(t, json.Unmarshal(object, &again))
	require.Equal(t, list[1], again)

	exposed := &prometheus.Text{}
	WriteDCGM(exposed, "node1", devices, list)
	require.Equal(t, `# HELP DCGM_FI_DEV_GPU_UTIL Time in which a kernel ran, in percent.
# TYPE DCGM_FI_DEV_GPU_UTIL gauge
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",device="nvidia0",modelName="A",Hostname="node1"} 0
# HELP DCGM_FI_DEV_FB_USED Device memory in use, in MiB.
# TYPE DCGM_FI_DEV_FB_USED gauge
DCGM_FI_DEV_FB_USED{gpu="0",UUID="GPU-a",device="nvidia0",modelName="A",Hostname="node1"} 0.5
# HELP DCGM_FI_DEV_POWER_USAGE Power, in W.
# TYPE DCGM_FI_DEV_POWER_USAGE gauge
DCGM_FI_DEV_POWER_USAGE{gpu="1",UUID="GPU-b",device="nvidia1",modelName="B \"2\"",Hostname="node1"} 26.87
# HELP DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION Energy since the driver was loaded, in mJ.
# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter
DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{gpu="0",UUID="GPU-a",device="nvidia0",modelName="A",Hostname="node1"} 1.23456789e+08
# HELP DCGM_FI_DEV_CLOCK_THROTTLE_REASONS Reasons for a reduced clock, as bits.
# TYPE DCGM_FI_DEV_CLOCK_THROTTLE_REASONS gauge
DCGM_FI_DEV_CLOCK_THROTTLE_REASONS{gpu="0",UUID="GPU-a",device="nvidia0",modelName="A",Hostname="node1"} 0
DCGM_FI_DEV_CLOCK_THROTTLE_REASONS{gpu="1",UUID="GPU-b",device="nvidia1",modelName="B \"2\"",Hostname="node1"} 1.099511627812e+12
`, exposed.String())
	require.False(t, strings.Contains(exposed.String(), "NaN"))
}
