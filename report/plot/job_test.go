package plot

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/report/document"
	"graft/report/figure"
	"graft/results"
	"graft/trainer"
)

func TestHappenings(t *testing.T) {
	at := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	notes := []trainer.Note{
		{Event: "start"}, {Event: "up", Time: at(1)},
		{Event: "decision", Action: "deepen:conv2", Time: at(1), Parameters: 20},
		{Event: "decision", Action: "widen:conv3:64", Time: at(2), Parameters: 30},
		{Event: "decision", Action: "none", Time: at(3), Parameters: 30},
		{Event: "down", Time: at(4), Parameters: 30}, {Event: "shrink", Time: at(4), Parameters: 10},
		{Event: "devices", Devices: 3, Time: at(5), Parameters: 10},
	}
	require.Equal(t, []figure.Event{{X: 1, Label: "up: deepen conv2", Kind: figure.Up},
		{X: 2, Label: "widen conv3 to 64", Kind: figure.Up}, {X: 3, Label: "none"},
		{X: 4, Label: "down", Kind: figure.Down}, {X: 5, Label: "3 devices"}}, timelineEvents(notes))
	require.Equal(t, []string{"deepen:conv2", "widen:conv3:64"}, actionsOfLargest(notes))
	require.Empty(t, actionsOfLargest(notes[:2]))
}

// Decisions without an up event keep their own marks, and a down reverts only the actions since the last up.
func TestDecisionsBetweenEvents(t *testing.T) {
	at := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	notes := []trainer.Note{
		{Event: "start"}, {Event: "decision", Action: "deepen:conv1", Time: at(1), Step: 9, Parameters: 15},
		{Event: "up", Time: at(2), Epoch: 1, Step: 3, Parameters: 15},
		{Event: "decision", Action: "deepen:conv2", Time: at(3), Epoch: 1, Step: 7, Parameters: 20},
		{Event: "down", Time: at(4), Epoch: 2, Parameters: 20},
		{Event: "shrink", Time: at(4), Epoch: 2, Parameters: 15},
		{Event: "decision", Action: "widen:conv3:64", Time: at(5), Epoch: 3, Parameters: 30},
	}
	require.Equal(t, []figure.Event{{X: 1, Label: "deepen conv1", Kind: figure.Up},
		{X: 2, Label: "up", Kind: figure.Up}, {X: 3, Label: "deepen conv2", Kind: figure.Up},
		{X: 4, Label: "down", Kind: figure.Down},
		{X: 5, Label: "widen conv3 to 64", Kind: figure.Up}}, timelineEvents(notes))
	require.Equal(t, []string{"deepen:conv1", "deepen:conv2"}, actionsOfLargest(notes[:6]))
	require.Equal(t, []string{"deepen:conv1", "widen:conv3:64"}, actionsOfLargest(notes))
}

// An action that was skipped or came too late did not change the network: it has a neutral mark, and the figure of
// surgery does not list it.
func TestActionsThatWereNotApplied(t *testing.T) {
	notes := []trainer.Note{{Event: "start"},
		{Event: "decision", Action: "widen:conv3:64", Time: time.Second, Parameters: 30},
		{Event: results.EventSkipped, Action: "deepen:conv9", Time: 2 * time.Second, Step: 1, Parameters: 30},
		{Event: "up", Time: 3 * time.Second, Epoch: 1, Parameters: 30},
		{Event: results.EventLate, Action: "deepen:conv1", Time: 3 * time.Second, Epoch: 1, Parameters: 30}}
	require.Equal(t, []figure.Event{{X: 1, Label: "widen conv3 to 64", Kind: figure.Up},
		{X: 2, Label: "skipped: deepen conv9"}, {X: 3, Label: "up: too late: deepen conv1", Kind: figure.Up}},
		timelineEvents(notes))
	require.Equal(t, []string{"widen:conv3:64"}, actionsOfLargest(notes))
}

func TestRegisteredAndUnknownEventsAreMarked(t *testing.T) {
	lent := results.NewJobEvent("lent out", results.EventTraits{Look: results.Down, Of: results.OfDevices})
	guess := results.NewJobEvent("guess", results.EventTraits{Look: results.Choice})
	notes := []trainer.Note{{Event: lent}, {Event: "up"}, {Event: "unheard of\x1b"}, {Event: guess}, {Event: "end"}}
	require.Equal(t, []figure.Event{{Label: "lent out", Kind: figure.Down}, {Label: "up", Kind: figure.Up},
		{Label: document.Printable("unheard of\x1b")}, {Label: "guess"}}, timelineEvents(notes))
}

// The speed of an epoch is drawn from its start to its end. An unfinished last epoch is not drawn.
func TestSpeedEndsWithTheLastWholeEpoch(t *testing.T) {
	curve := func(x, y []float64) figure.Curve { return figure.Curve{X: x, Y: y, Steps: true} }
	require.Equal(t, curve([]float64{0, 2, 3}, []float64{50, 100, 100}),
		speedCurve(0, []float64{2, 3, 3.5}, []float64{100, 200, 210}))
	require.Equal(t, curve([]float64{1, 2, 3}, []float64{100, 100, 100}),
		speedCurve(1, []float64{2, 3}, []float64{100, 200}))
	require.Equal(t, curve([]float64{0, 2}, []float64{5, 5}), speedCurve(0, []float64{2}, []float64{10}),
		"less than an epoch is all there is")
}
