package decider_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/decider"
	"graft/internal/files"
	"graft/net2net"
	"graft/torch/weights"
	"graft/vocab"
)

func learnedPolicy(t testing.TB) *decider.Structural {
	observation, err := decider.ProposedObservation(zoo(t, "ConvSmall"), nil, net2net.Options{})
	require.NoError(t, err)
	later := halfTime
	later.Left /= 3
	p, err := decider.JoinStructural(fresh(t, 1), fresh(t, 2))
	require.NoError(t, err)
	p.Tokens, p.Rows, err = decider.MeasureScales([]decider.Situation{{Observation: observation, State: halfTime},
		{Observation: observation, State: later}})
	require.NoError(t, err)
	p.Learned, p.Notes = []net2net.Kind{"deepen", "widen"}, map[string]string{"tables": "none"}
	p.Tables = []decider.LearnedTable{{Name: "none", Runs: "12", Sample: []string{"34"}}}
	return p
}

func TestPolicyFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.safetensors")
	want := learnedPolicy(t)
	require.NoError(t, want.Write(files.OS{}, path))
	got, err := decider.ReadStructural(files.OS{}, path)
	require.NoError(t, err)
	require.Equal(t, want, got)
	require.Equal(t, decide(t, want, halfTime), decide(t, got, halfTime))

	set, err := want.Set()
	require.NoError(t, err)
	require.True(t, decider.IsStructural(set))
	set.Metadata = map[string]string{"format": "pt"}
	require.False(t, decider.IsStructural(set))

	path = filepath.Join(t.TempDir(), "fresh.safetensors")
	require.NoError(t, fresh(t, 9).Write(files.OS{}, path))
	got, err = decider.ReadStructural(files.OS{}, path)
	require.NoError(t, err)
	require.Equal(t, fresh(t, 9), got)
}

// An input that was constant in training does not affect decisions.
func TestWhatDidNotVaryDoesNotCount(t *testing.T) {
	p := learnedPolicy(t)
	want := decide(t, p, halfTime)
	other := halfTime
	other.Accuracy, other.Decisions = 0.9, 40
	require.Equal(t, want, decide(t, p, other))
	other.Left /= 2
	require.NotEqual(t, want.Probabilities, decide(t, p, other).Probabilities, "the time did")
}

// change sets a key in the header of a policy's file.
func change(t *testing.T, set *weights.Set, key string, value any) {
	fields := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(set.Metadata["graft.policy"]), &fields))
	at := fields
	parts := strings.Split(key, ".")
	for _, part := range parts[:len(parts)-1] {
		at = at[part].(map[string]any)
	}
	at[parts[len(parts)-1]] = value
	text, err := json.Marshal(fields)
	require.NoError(t, err)
	set.Metadata["graft.policy"] = string(text)
}

// An older policy file without the input "fall" decides like a policy that gives it zero weight.
func TestOlderPoliciesDecideAsTheyDid(t *testing.T) {
	p := learnedPolicy(t)
	for k := range p.Rows.Deviation {
		p.Rows.Deviation[k] = 1
	}
	set, err := p.Set()
	require.NoError(t, err)
	var header struct {
		Rows struct {
			Names           []string
			Mean, Deviation []float64
		}
	}
	require.NoError(t, json.Unmarshal([]byte(set.Metadata["graft.policy"]), &header))
	columns := len(header.Rows.Names)
	k := slices.Index(header.Rows.Names, "fall")
	without := func(list []float64) (out []float64) {
		for row := range slices.Chunk(list, columns) {
			out = append(append(out, row[:k]...), row[k+1:]...)
		}
		return out
	}
	change(t, set, "rows.names", slices.Delete(header.Rows.Names, k, k+1))
	change(t, set, "rows.mean", without(header.Rows.Mean))
	change(t, set, "rows.deviation", without(header.Rows.Deviation))
	change(t, set, "rows.low", nil)
	change(t, set, "rows.high", nil)
	for n := range set.Tensors {
		tensor := &set.Tensors[n]
		if !strings.HasSuffix(tensor.Name, "row.weight") {
			continue
		}
		values, err := tensor.Float64s()
		require.NoError(t, err)
		tensor.Shape[1]--
		tensor.Data, err = binary.Append(nil, binary.LittleEndian, without(values))
		require.NoError(t, err)
	}
	old, err := decider.StructuralOf(set)
	require.NoError(t, err)
	require.Len(t, old.Rows.Mean, columns)
	now := decider.State{Network: zoo(t, "ConvSmall"), Left: time.Second, Budget: 3 * time.Second,
		Curve: decider.Curve{Loss: 1, Fall: 0.2, Gap: 0.1}}
	want := decide(t, old, now)
	now.Curve.Fall = 2
	require.Equal(t, want, decide(t, old, now), "it does not see how the loss fell")
	require.NotEqual(t, decide(t, p, now), want, "a policy that learned it does")
	set, err = old.Set()
	require.NoError(t, err)
	again, err := decider.StructuralOf(set)
	require.NoError(t, err)
	require.Equal(t, want, decide(t, again, now))
}

func TestFilesThatAreNoPolicy(t *testing.T) {
	for says, spoil := range map[string]func(t *testing.T, set *weights.Set){
		"not a structural policy":     func(_ *testing.T, set *weights.Set) { set.Metadata = nil },
		"the header is damaged":       func(_ *testing.T, set *weights.Set) { set.Metadata["graft.policy"] = "{" },
		"version 3, is not supported": func(t *testing.T, set *weights.Set) { change(t, set, "version", 3) },
		`policy format "other"`:       func(t *testing.T, set *weights.Set) { change(t, set, "format", "other") },
		`unknown field "more"`:        func(t *testing.T, set *weights.Set) { change(t, set, "more", 1) },
		"hidden is 100000000":         func(t *testing.T, set *weights.Set) { change(t, set, "hidden", 100000000) },
		"the policy has 0 ensemble":   func(t *testing.T, set *weights.Set) { change(t, set, "members", 0) },
		"the policy's rows have inputs melt": func(t *testing.T, set *weights.Set) {
			change(t, set, "rows.names", []string{"melt"})
		},
		"but 1 means": func(t *testing.T, set *weights.Set) { change(t, set, "tokens.mean", []float64{1}) },
		"was trained on the unknown operation": func(t *testing.T, set *weights.Set) {
			change(t, set, "learned", []string{"melt"})
		},
		"tensor member2":                        func(t *testing.T, set *weights.Set) { change(t, set, "members", 3) },
		"for a policy of this shape":            func(t *testing.T, set *weights.Set) { change(t, set, "members", 1) },
		"member0.token.weight has type float64": func(t *testing.T, set *weights.Set) { change(t, set, "hidden", 31) },
		"row.bias contains NaN": func(_ *testing.T, set *weights.Set) {
			for _, tensor := range set.Tensors {
				if tensor.Name == "member1.row.bias" {
					for k := range 8 {
						tensor.Data[k] = 0xff
					}
				}
			}
		},
		"invalid scale for input": func(t *testing.T, set *weights.Set) {
			change(t, set, "rows.deviation", append(make([]float64, 23), -1))
		},
	} {
		t.Run(says, func(t *testing.T) {
			set, err := learnedPolicy(t).Set()
			require.NoError(t, err)
			spoil(t, set)
			_, err = decider.StructuralOf(set)
			require.ErrorContains(t, err, says)
		})
	}
	_, err := decider.ReadStructural(files.OS{}, filepath.Join(t.TempDir(), "absent"))
	require.ErrorContains(t, err, "read policy")
}

// Any header gives a valid policy or an error.
func FuzzPolicyHeader(f *testing.F) {
	set, err := learnedPolicy(f).Set()
	require.NoError(f, err)
	f.Add(set.Metadata["graft.policy"])
	f.Add(strings.Replace(set.Metadata["graft.policy"], `"members":2`, `"members":1`, 1))
	f.Add(`{"format":"structural","version":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := decider.StructuralOf(&weights.Set{Tensors: set.Tensors,
			Metadata: map[string]string{"graft.policy": text}})
		if err != nil {
			return
		}
		require.Len(t, p.Members, 2)
		for _, d := range p.Rows.Deviation {
			require.False(t, math.IsNaN(d) || d < 0)
		}
	})
}

// A policy trained on networks with attention has inputs for their operators; other policies keep their inputs. Both
// decide the same after a round trip through a file.
func TestPoliciesOfGraphsTellTheirKinds(t *testing.T) {
	situations := func(name string) []decider.Situation {
		o, err := decider.ProposedObservation(zoo(t, name), nil, net2net.Options{})
		require.NoError(t, err)
		return []decider.Situation{{Observation: o, State: halfTime}}
	}
	for name, wide := range map[string]bool{"CharGPT": true, "ConvSmall": false} {
		tokens, rows, err := decider.MeasureScales(situations(name))
		require.NoError(t, err)
		require.Len(t, tokens.Mean, len(vocab.Names(wide)), name)
		p, err := decider.NewStructural(decider.StructuralShape{Hidden: 4}, tokens, rows, 1)
		require.NoError(t, err)
		set, err := p.Set()
		require.NoError(t, err)
		again, err := decider.StructuralOf(set)
		require.NoError(t, err)
		for _, on := range []string{"CharGPT", "ConvSmall"} {
			want, err := p.Probabilities(situations(on)...)
			require.NoError(t, err)
			got, err := again.Probabilities(situations(on)...)
			require.NoError(t, err)
			require.Equal(t, want, got, "%s on %s", name, on)
		}
	}
}
