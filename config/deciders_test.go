package config

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/internal/files"
	"graft/net2net"
)

// needsFiles holds the deciders whose keys name files; job_policy_test.go and original_test.go test them.
var needsFiles = map[string]bool{decidePolicy: true}

// jobWith returns a job with a decider of the list and the decider's example keys.
func jobWith(t *testing.T, d JobDecider, more ...string) *Job {
	t.Helper()
	set := append([]string{"network.name=ConvSmall", "adapt.decider=" + d.Name}, more...)
	if d.Keys != "" {
		set = append(set, "adapt."+d.Keys)
	}
	j, err := ReadJob(files.OS{}, "", set)
	require.NoError(t, err, d.Name)
	return j
}

// Every decider makes valid jobs from its example keys, decides the same from the same state, and chooses actions that
// fit.
func TestDecidersConform(t *testing.T) {
	for _, kind := range JobDeciders() {
		if needsFiles[kind.Name] || kind.Name == decideTrials || kind.Name == decideGradient { // both train
			continue
		}
		t.Run(kind.Name, func(t *testing.T) {
			j := jobWith(t, kind)
			require.Equal(t, j.Digest(), jobWith(t, kind).Digest())
			d, again := must(j.Decider()), must(jobWith(t, kind).Decider())
			for k := range 3 {
				state := decider.State{Network: zoo(t, "ConvSmall"), Left: time.Minute, Budget: time.Hour, Decisions: k}
				first, second := must(d.Decide(t.Context(), state)), must(again.Decide(t.Context(), state))
				require.Equal(t, first.Action, second.Action)
				_, err := net2net.Apply(zoo(t, "ConvSmall"), first.Action, net2net.Options{})
				require.NoError(t, err, "%v", first.Action)
			}
		})
	}
}

// A decider that uses no actions refuses them, and one that needs actions reports their absence.
func TestDecidersTakeTheActionsOfTheirUse(t *testing.T) {
	for _, kind := range JobDeciders() {
		if needsFiles[kind.Name] {
			continue
		}
		for count := range 3 {
			actions := []net2net.Action{{Kind: "deepen", Target: "conv1"}, {Kind: "deepen", Target: "conv2"}}[:count]
			err := AdaptOptions{Decider: kind.Name, Actions: actions}.Validate()
			fits := map[ActionUse]bool{NoActions: count == 0, OneAction: count == 1, ActionsInOrder: count > 0,
				ActionChoices: true}[kind.Actions]
			require.Equal(t, fits, err == nil, fmt.Sprint(kind.Name, count, err))
		}
	}
}
