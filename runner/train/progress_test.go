package train

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"

	"graft/internal/telemetry"
	"graft/results"
	"graft/runner/control"
	"graft/trainer"
)

// Progress is logged every ten seconds, however fast the epochs are. A slow epoch gets its own log line instead.
func TestProgressIsLoggedSeldom(t *testing.T) {
	now := time.Unix(0, 0)
	tell := func(drawn bool, epochTime time.Duration) (infos []string, details int) {
		core, logs := observer.New(zapcore.DebugLevel)
		log := newProgressLog(zap.New(core), func() time.Time { return now }, drawn)
		end := now.Add(100 * time.Second)
		next := now.Add(epochTime)
		for ; now.Before(end); now = now.Add(200 * time.Millisecond) {
			if !now.Before(next) {
				log.epoch(trainer.Row{})
				next = next.Add(epochTime)
			}
			log.watch(trainer.Progress{})
		}
		for _, e := range logs.All() {
			if e.Level == zapcore.DebugLevel {
				details++
			} else {
				infos = append(infos, e.Message)
			}
		}
		return infos, details
	}
	fast, details := tell(false, time.Second)
	require.Len(t, fast, 9)
	require.InDelta(t, 99, details, 10)
	slow, details := tell(false, 30*time.Second)
	require.Len(t, slow, 9)
	require.Contains(t, slow, "training")
	require.LessOrEqual(t, details, 3)
	drawn, details := tell(true, time.Second)
	require.NotContains(t, drawn, "training", "it is on the terminal")
	require.LessOrEqual(t, len(drawn), 10)
	require.Positive(t, details)
	rare, details := tell(true, 30*time.Second)
	require.Equal(t, []string{"completed epoch", "completed epoch", "completed epoch"}, rare)
	require.Zero(t, details)
}

func TestProgressFields(t *testing.T) {
	core, logs := observer.New(zapcore.InfoLevel)
	now := time.Unix(0, 0)
	log := newProgressLog(zap.New(core), func() time.Time { return now }, false)
	now = now.Add(time.Minute)
	log.watch(trainer.Progress{Epoch: 3, Loss: 0.51234, Evaluated: true, Validation: trainer.Score{Accuracy: 0.75},
		Time: 20 * time.Second, Left: 40 * time.Second, Devices: 2, Layers: 7, Parameters: 14826,
		Next: trainer.Event{At: 50 * time.Second, Change: trainer.Down, Devices: 1}})
	require.Equal(t, map[string]any{"epoch": int64(3), "loss": 0.5123, "validation": 0.75, "time": 20 * time.Second,
		"left": 40 * time.Second, "devices": int64(2),
		"layers": int64(7), "parameters": int64(14826), "next": "down to 1 at 50.0 s"}, logs.All()[0].ContextMap())
}

// On a narrow terminal, the least important facts are left out first, and the text always fits.
func TestFactsFitTheWidth(t *testing.T) {
	m := &control.Snapshot{Network: "ConvSmall", Progress: trainer.Progress{Epoch: 12, Loss: 0.51234,
		Evaluated: true, Validation: trainer.Score{Accuracy: 0.752}, Devices: 2, Layers: 7, Parameters: 14826,
		Next: trainer.Event{At: 3 * time.Hour, Change: trainer.Down}}}
	whole := "epoch 12  loss 0.512  validation 75.2%  2 devices  ConvSmall with 14826 parameters in 7 layers  " +
		"down at 3h0m0s"
	require.Equal(t, whole, factsText(m, nil, 200))
	for width := range len(whole) + 1 {
		text := factsText(m, nil, width)
		require.LessOrEqual(t, len(text), width)
		require.True(t, strings.HasPrefix(whole, text))
	}
	require.Equal(t, "epoch 12  loss 0.512", factsText(m, nil, 30))
	fresh := &control.Snapshot{Network: "Net", Progress: trainer.Progress{Devices: 1, Parameters: 5, Layers: 1}}
	require.Equal(t, "epoch 0  1 device  Net with 5 parameters in 1 layer", factsText(fresh, nil, 100))
	busy := []telemetry.State{{Device: telemetry.Device{Index: 1},
		Reading: telemetry.Reading{UtilizationPercent: telemetry.Known(87.0), MemoryUsedMiB: telemetry.Known(3277.0),
			PowerWatts: telemetry.Known(412.3)}}, {Device: telemetry.Device{Index: 2}}}
	require.Equal(t, "epoch 0  GPU 1 87% busy 3.2 GiB 412 W  GPU 2  1 device  Net with 5 parameters in 1 layer",
		factsText(fresh, busy, 100))
}

func TestEventsAreLoggedByTheirTraits(t *testing.T) {
	storm := results.NewJobEvent("storm", results.EventTraits{Warning: "the job slows down"})
	core, logs := observer.New(zapcore.InfoLevel)
	log := newProgressLog(zap.New(core), func() time.Time { return time.Unix(0, 0) }, false)
	for _, n := range []trainer.Note{{Event: storm, Why: "wind"}, {Event: results.EventPeerLost, Why: "killed"},
		{Event: "unheard of"}} {
		log.note(n)
	}
	rest := map[string]any{"time": time.Duration(0), "devices": int64(0), "parameters": int64(0)}
	for k, want := range []struct {
		level   zapcore.Level
		message string
		more    map[string]any
	}{{zapcore.WarnLevel, "storm; the job slows down", map[string]any{"why": "wind"}},
		{zapcore.WarnLevel, "peer lost; the job continues without it",
			map[string]any{"why": "killed", "printed": "logs"}},
		{zapcore.InfoLevel, "unheard of", nil}} {
		fields := maps.Clone(rest)
		maps.Copy(fields, want.more)
		require.Equal(t, []any{want.level, want.message, fields},
			[]any{logs.All()[k].Level, logs.All()[k].Message, logs.All()[k].ContextMap()})
	}
}
