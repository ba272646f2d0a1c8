package telemetry

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// counting is a source whose second device fails. It counts readings.
type counting struct{ reads int }

func (c *counting) Devices() []Device { return []Device{{Index: 0, Name: "a"}, {Index: 1, Name: "b"}} }

func (c *counting) Read(device int) (Reading, error) {
	c.reads++
	if device == 1 {
		return Reading{Device: 1}, errors.New("it is lost")
	}
	return Reading{PowerWatts: Known(float64(c.reads))}, nil
}

func (c *counting) Close() error { return nil }

// OnDemand reads devices on request, at most once per interval, and keeps a fault with its device.
func TestReadingOnDemand(t *testing.T) {
	now, source := time.Unix(100, 0), &counting{}
	o := NewOnDemand(source, time.Second, func() time.Time { return now })
	require.Zero(t, source.reads)
	first := o.States()
	require.Equal(t, []State{{Device: Device{Name: "a"}, Reading: Reading{At: 100, PowerWatts: Known(1.0)}},
		{Device: Device{Index: 1, Name: "b"}, Reading: Reading{At: 100, Device: 1}, Fault: "it is lost"}}, first)
	now = now.Add(999 * time.Millisecond)
	require.Equal(t, first, o.States())
	require.Equal(t, 2, source.reads)
	now = now.Add(time.Millisecond)
	require.Equal(t, Known(3.0), o.States()[0].Reading.PowerWatts)
}

// A device without a reading is listed with unknown values.
func TestStatesOfSomeReadings(t *testing.T) {
	list := States([]Device{{Index: 0}, {Index: 3}}, []Reading{{Device: 3, At: 5, UtilizationPercent: Known(50.0)}})
	require.True(t, list[0].Reading.Empty())
	require.Equal(t, Known(50.0), list[1].Reading.UtilizationPercent)
}
