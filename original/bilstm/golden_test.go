package bilstm_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/model"
	"graft/net2net"
	"graft/original/bilstm"
	"graft/original/vocab"
)

// reference is the folder of the original's files, next to the repository.
const reference = "../../../shared/reference/adaptation"

// published reads a file of the reference, or skips the test.
func published(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(reference, name))
	if err != nil {
		t.Skip("left out: the original's files are not beside the repository")
	}
	require.NoError(t, json.Unmarshal(text, into))
}

func publishedVocabulary(t *testing.T) *vocab.Vocabulary {
	v, err := vocab.Read(files.OS{}, filepath.Join(reference, "vocabs"))
	require.NoError(t, err)
	return v
}

// within is the tolerance against the original's figures. They are float32, and another order of summation changes the
// last digits.
const within = 1e-5

// thought holds the intermediate values of the original's decision.
type thought struct {
	Left          float64     `json:"timeleft"`
	Budget        float64     `json:"totaltime"`
	Layers        []string    `json:"layers"`
	IDs           []int       `json:"ids"`
	Embeddings    [][]float64 `json:"embeddings"`
	Encoded       [][]float64 `json:"bilstm_out"`
	State         []float64   `json:"decider_lstm_last_h"`
	Cells         []float64   `json:"decider_lstm_last_c"`
	Time          []float64   `json:"time_encoding_f64"`
	TimeRounded   []float64   `json:"time_encoding_f32"`
	Input         []float64   `json:"decider_input"`
	Logits        []float64   `json:"logits"`
	Probabilities []float64   `json:"probabilities"`
}

// compare checks activations and returns the largest difference.
func (want thought) compare(t *testing.T, got *bilstm.Activations) (largest float64) {
	t.Helper()
	require.Equal(t, want.IDs, got.Tokens)
	near := func(what string, want []float64, got []float32) {
		t.Helper()
		require.Len(t, got, len(want), what)
		for k := range want {
			require.InDelta(t, want[k], float64(got[k]), within, "%s[%d]", what, k)
			largest = max(largest, math.Abs(want[k]-float64(got[k])))
		}
	}
	rows := func(what string, want [][]float64, got [][]float32) {
		t.Helper()
		require.Len(t, got, len(want), what)
		for k := range want {
			near(what, want[k], got[k])
		}
	}
	rows("embeddings", want.Embeddings, got.Vectors)
	rows("biLSTM", want.Encoded, got.Encoded)
	near("state", want.State, got.State)
	near("cells", want.Cells, got.Cells)
	require.InDeltaSlice(t, want.Time, got.Time, 1e-13)
	near("time", want.TimeRounded, got.Input[:len(want.Time)])
	near("input", want.Input, got.Input)
	near("logits", want.Logits, got.Logits)
	near("probabilities", want.Probabilities, got.Probabilities)
	return largest
}

// deepened returns a network of the original after the given actions.
func deepened(t *testing.T, name, actions string) *model.Network {
	n, err := model.Zoo(name, model.ZooOptions{})
	require.NoError(t, err)
	if actions == "base" {
		return n
	}
	for at := range strings.SplitSeq(actions, ",") {
		_, err := net2net.Apply(n, net2net.Action{Kind: "deepen", Target: at},
			net2net.Options{Compat: net2net.Original})
		require.NoError(t, err)
	}
	return n
}

// Policies compute the original's intermediate values and probabilities, with and without token 0 before the layers.
func TestLegacyForward(t *testing.T) {
	var all map[string]map[string]thought
	published(t, "golden/policy_forward.json", &all)
	v := publishedVocabulary(t)
	compared, largest := 0, 0.0
	for name, cases := range all {
		folder := filepath.Join(reference, "policies", name)
		if _, err := os.Stat(folder); err != nil {
			t.Logf("left out: the policy %s is not beside the repository", name)
			continue
		}
		for key, want := range cases {
			prefix, network, _ := strings.Cut(key, "/")
			network, actions, _ := strings.Cut(network, "/")
			o := bilstm.Options{Prefix: map[string]bilstm.Prefix{"no_prefix": bilstm.Never,
				"none_prefix": bilstm.Always}[prefix]}
			require.NotEmpty(t, o.Prefix, key)
			p, err := bilstm.Read(files.OS{}, folder, v, o)
			require.NoError(t, err)
			n := deepened(t, network, actions)
			require.Equal(t, want.Layers, vocab.LayerKeys(n), key)
			got, err := p.Forward(n, want.Left, want.Budget)
			require.NoError(t, err)
			t.Run(name+"/"+key, func(t *testing.T) { largest = max(largest, want.compare(t, got)) })
			compared++
		}
	}
	require.NotZero(t, compared)
	t.Logf("measured: %d forward passes of the original are met within %.1g", compared, largest)
}

// Every network of the original has the original's tokens, before and after deepening.
func TestLegacyTokens(t *testing.T) {
	type shape struct {
		Layers   []string
		IDs      []int
		Deepened map[string]shape
	}
	var all map[string]shape
	published(t, "golden/models.json", &all)
	v := publishedVocabulary(t)
	compare := func(n *model.Network, want shape) {
		require.Equal(t, want.Layers, vocab.LayerKeys(n))
		tokens, err := v.Tokens(n)
		require.NoError(t, err)
		require.Equal(t, want.IDs, tokens)
	}
	for name, want := range all {
		compare(deepened(t, name, "base"), want)
		for actions, deep := range want.Deepened {
			if deep.Layers != nil {
				compare(deepened(t, name, actions), deep)
			}
		}
	}
}

// The weights of each published policy show whether it learned with a prefix.
func TestLegacyPrefix(t *testing.T) {
	var manifest []struct {
		Run      string
		Prefixed bool `json:"trained_with_none_layer_prefix"`
	}
	published(t, "policies/manifest.json", &manifest)
	v := publishedVocabulary(t)
	read := 0
	for _, run := range manifest {
		p, err := bilstm.Read(files.OS{}, filepath.Join(reference, "policies", run.Run), v, bilstm.Options{})
		if errors.Is(err, fs.ErrNotExist) {
			continue // only some published policies are next to the repository
		}
		require.NoError(t, err)
		require.Equal(t, run.Prefixed, p.Prefixed(), run.Run)
		require.Equal(t, bilstm.Shape{Actions: 4, Embedding: 16, Hidden: 50, Memory: 16, Linear: 128, Time: 8},
			p.Shape())
		require.Equal(t, "encoder.embedder.weight", p.Weights.Tensors[0].Name)
		require.Len(t, p.Weights.Tensors, 19)
		read++
	}
	require.NotZero(t, read)
	t.Logf("measured: %d of %d published policies were read", read, len(manifest))
}
