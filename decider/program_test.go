package decider

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/coprocess"
	"graft/model"
	"graft/net2net"
)

// answering writes a decider program that logs its request and gives an answer.
func answering(t *testing.T, answer string) (path, log string) {
	t.Helper()
	path, log = filepath.Join(t.TempDir(), "decider"), filepath.Join(t.TempDir(), "log")
	text := "#!/bin/sh\nread line\necho '{\"protocol\": 1}'\nread line\necho \"$line\" >" + log + "\necho '" +
		answer + "'\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o777))
	return path, log
}

// stateOf returns the state of a job with a small network and a step time of one millisecond per thousand parameters.
func stateOf(t *testing.T) State {
	t.Helper()
	n, err := model.Zoo("ConvSmall", model.ZooOptions{})
	require.NoError(t, err)
	step := func(n *model.Network) time.Duration { return time.Duration(n.Parameters()) * time.Microsecond }
	return State{Network: n, Left: 30 * time.Second, Budget: time.Minute, Decisions: 2, Accuracy: 0.5, Step: step(n),
		StepOf: step, Curve: Curve{Loss: 1.5, Fall: 0.25, Gap: 0.125}}
}

func TestProgramsDecide(t *testing.T) {
	s := stateOf(t)
	path, log := answering(t, `{"action": "deepen:conv1"}`)
	p := Program{Random: Random{Seed: 7}, Options: coprocess.Options{Path: path}}
	d, err := p.Decide(t.Context(), s)
	require.NoError(t, err)
	require.Equal(t, "deepen:conv1", d.Action.String())
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	var q question
	require.NoError(t, json.Unmarshal(text, &q))
	require.Equal(t, []any{uint64(7), 2, 30.0, 60.0, 0.5, s.Curve},
		[]any{q.Seed, q.Decisions, q.Left, q.Budget, q.Accuracy, q.Curve})
	again, err := model.FromForm(q.Network)
	require.NoError(t, err, "the network is in the form of a network file")
	require.Equal(t, s.Network.Form(), again.Form())
	require.Equal(t, s.Network.Parameters(), q.Now.Parameters)
	require.InDelta(t, s.Step.Seconds(), *q.Now.Step, 1e-9)
	actions, err := Proposals(s.Network, nil)
	require.NoError(t, err)
	require.Len(t, q.Choices, len(actions))
	for k, a := range actions {
		grown := s.Network.Sketch()
		if a.Kind != net2net.None {
			_, err = net2net.Apply(grown, a, net2net.Options{})
			require.NoError(t, err)
		}
		require.Equal(t, a.String(), q.Choices[k].Action)
		require.Equal(t, grown.Parameters(), q.Choices[k].Parameters, a)
		require.InDelta(t, float64(grown.Parameters())*1e-6, *q.Choices[k].Step, 1e-9, a)
	}
}

// Unknown times are null in the request, and the listed actions are its choices.
func TestProgramsChooseAmongListedActions(t *testing.T) {
	s := stateOf(t)
	s.Step, s.StepOf = 0, nil
	path, log := answering(t, `{"action": "none"}`)
	widen, err := net2net.ParseAction("widen:conv1:24")
	require.NoError(t, err)
	p := Program{Random: Random{Actions: []net2net.Action{widen, {}}}, Options: coprocess.Options{Path: path}}
	d, err := p.Decide(t.Context(), s)
	require.NoError(t, err)
	require.Equal(t, net2net.None, d.Action.Kind)
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	require.Contains(t, string(text), `"choices":[{"action":"widen:conv1:24","parameters":`)
	require.Contains(t, string(text), `"step_s":null`)
}

// The example in Python deepens while enough of the budget is left. It decides the same in the same state.
func TestTheExampleDecides(t *testing.T) {
	s := stateOf(t)
	p := Program{Options: coprocess.Options{Path: "../scenarios/deciders/early.py"}}
	for range 2 {
		d, err := p.Decide(t.Context(), s)
		require.NoError(t, err)
		require.Equal(t, net2net.Kind("deepen"), d.Action.Kind)
		require.Equal(t, "deepen:fc", d.Action.String())
	}
	s.Left = 10 * time.Second
	d, err := p.Decide(t.Context(), s)
	require.NoError(t, err)
	require.Equal(t, net2net.None, d.Action.Kind)
}

func TestWrongAnswersOfDeciders(t *testing.T) {
	for answer, want := range map[string]string{
		`{"action": "deepen:conv9"}`: `action "deepen:conv9"; expected one of the choices in its request: deep`,
		`{}`:                         `answered with action ""; expected one of the choices in its request: deep`,
		`deepen:conv1`:               `answered "deepen:conv1": expected one line of JSON`,
		`{"act": "none"}`:            `unknown field "act"`,
	} {
		path, _ := answering(t, answer)
		_, err := Program{Options: coprocess.Options{Path: path}}.Decide(t.Context(), stateOf(t))
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, path)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path, _ := answering(t, `{"action": "none"}`)
	_, err := Program{Options: coprocess.Options{Path: path}}.Decide(ctx, stateOf(t))
	require.ErrorIs(t, err, context.Canceled)
}

// The first request contains the protocol and the role.
func TestDecidersAreToldTheirRole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decider")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\nread line\n[ \"$line\" = "+
		"'{\"protocol\":1,\"role\":\"decider\"}' ] || exit 1\necho '{\"protocol\": 1}'\n"), 0o777))
	require.NoError(t, coprocess.Try(t.Context(), coprocess.Options{Path: path}, "decider", nil))
}
