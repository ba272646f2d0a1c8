package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// answers runs commands on graft's side of the benchmark, in this process.
func answers(t *testing.T, o setup, commands ...string) []answer {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, serve(o, strings.NewReader(strings.Join(commands, "\n")), &out))
	var all []answer
	for decoder := json.NewDecoder(&out); decoder.More(); {
		var a answer
		require.NoError(t, decoder.Decode(&a))
		all = append(all, a)
	}
	return all
}

var small = setup{threads: 1, seed: 1, batches: 3}

func TestWorkerAnswers(t *testing.T) {
	all := answers(t, small, `{"cmd":"info"}`, `{"cmd":"train","steps":7}`, `{"cmd":"ops","iterations":3}`,
		`{"cmd":"quit"}`, `{"cmd":"info"}`)
	require.Len(t, all, 3)
	require.NotEmpty(t, all[0].Torch)
	require.Equal(t, 1, all[0].Threads)
	require.Len(t, all[1].Losses, 7, "the batches are taken again from the first")
	require.Positive(t, all[1].Seconds)
	require.Len(t, all[2].Losses, 1)
}

func TestWorkerMeasuresSteps(t *testing.T) {
	require.Positive(t, answers(t, small, `{"cmd":"step","network":"FeedForwardNet3"}`)[0].Seconds)
	require.ErrorContains(t, serve(small, strings.NewReader(`{"cmd":"step","network":"Net"}`), new(bytes.Buffer)),
		`unknown network "Net"`)
}

func TestWorkerOperates(t *testing.T) {
	for _, op := range operations[:6] {
		c, err := json.Marshal(command{Cmd: "surgery", Network: op.network, Action: op.action, How: op.how,
			Iterations: 1})
		require.NoError(t, err)
		require.Positive(t, answers(t, small, string(c))[0].Seconds, op)
	}
}

func TestWorkerRunsEpochs(t *testing.T) {
	o := small
	o.images, o.device = 200, "cpu"
	require.Positive(t, answers(t, o, `{"cmd":"epoch","iterations":1}`)[0].Seconds)
	o.device = "cuda:99"
	require.Error(t, serve(o, strings.NewReader(`{"cmd":"epoch","iterations":1}`), new(bytes.Buffer)))
}

// The PyTorch twin runs epochs with its images on the device.
func TestTwinRunsEpochs(t *testing.T) {
	b := &bench{options: options{python: defaultPython(), twin: "twin.py", setup: small}, folder: t.TempDir()}
	require.NoError(t, writeProblem(b.folder, small))
	twin, err := b.startTwin(variant{name: "PyTorch", args: []string{"--resident", "200", "--device", "cpu"}}, 1)
	require.NoError(t, err)
	defer twin.stop()
	if _, err := twin.ask(command{Cmd: "info"}); err != nil {
		t.Skipf("left out: epochs of PyTorch: %v", err)
	}
	a, err := twin.ask(command{Cmd: "epoch", Iterations: 2})
	require.NoError(t, err)
	require.Positive(t, a.Seconds)
}

// REINFORCE gives the same losses as PyTorch.
func TestEpisodesArePyTorchs(t *testing.T) {
	b := &bench{options: options{python: defaultPython(), twin: "twin.py", setup: small}, folder: t.TempDir()}
	require.NoError(t, writeLesson(b.folder, small.seed))
	twin, err := b.startTwin(variant{name: "PyTorch"}, 1)
	require.NoError(t, err)
	defer twin.stop()
	info, err := twin.ask(command{Cmd: "info"})
	if err != nil || !sameRelease(info.Torch, "1.13.0") {
		t.Skipf("left out: the comparison with PyTorch 1.13, which draws actions as we do: %v", err)
	}
	want, err := twin.ask(command{Cmd: "learn", Iterations: 30})
	require.NoError(t, err)
	got := answers(t, small, `{"cmd":"learn","iterations":30,"how":"reinforce"}`,
		`{"cmd":"learn","iterations":2,"how":"exact"}`)
	require.InEpsilonSlice(t, want.Losses, got[0].Losses, 1e-5)
	require.Len(t, got[1].Losses, 2)
}

func TestWorkerRefuses(t *testing.T) {
	for _, line := range []string{`{"cmd":"dance"}`, `not JSON`} {
		require.Error(t, serve(small, strings.NewReader(line), new(bytes.Buffer)))
	}
}

// A training step gives the same bits as PyTorch on the same LibTorch. The fast path agrees within rounding.
func TestLossesArePyTorchs(t *testing.T) {
	b := &bench{options: options{python: defaultPython(), twin: "twin.py", setup: small}, folder: t.TempDir()}
	require.NoError(t, writeProblem(b.folder, small))
	twin, err := b.startTwin(variant{name: "PyTorch"}, 1)
	require.NoError(t, err)
	defer twin.stop()
	info, err := twin.ask(command{Cmd: "info"})
	if err != nil {
		t.Skipf("left out: the comparison with PyTorch: %v", err)
	}
	want, err := twin.ask(command{Cmd: "train", Steps: 6})
	require.NoError(t, err)
	for _, fast := range []bool{false, true} {
		o := small
		o.fast = fast
		all := answers(t, o, `{"cmd":"info"}`, `{"cmd":"train","steps":6}`)
		tolerance := 0.0
		if fast || !sameRelease(all[0].Torch, info.Torch) {
			tolerance = 1e-5
		}
		for k := range want.Losses {
			require.LessOrEqual(t, math.Abs(all[1].Losses[k]-want.Losses[k]), tolerance*want.Losses[k],
				"fast %v, step %d", fast, k)
		}
	}
}

// sameRelease compares major and minor versions: 1.13.0 and 1.13.0a0 are equal.
func sameRelease(a, b string) bool {
	cut := func(v string) string { return strings.Join(strings.SplitN(v, ".", 3)[:2], ".") }
	return cut(a) == cut(b)
}

func TestMissingPythonIsNamed(t *testing.T) {
	b := &bench{options: options{python: filepath.Join(t.TempDir(), "python"), twin: "twin.py", setup: small}}
	_, err := b.startTwin(variant{name: "PyTorch"}, 1)
	require.ErrorContains(t, err, "start PyTorch")
}

func TestMeasuredFigures(t *testing.T) {
	m := measured{ours: []float64{1, 1, 2, 1}, twin: []float64{2, 4, 4, 3}, first: [2][]float64{{1, 2}, {1, 2}}}
	require.Equal(t, "3.00\t[2.00 3.00]", m.ratio())
	require.Equal(t, "2 equal", m.agreement())
	m.first[0] = []float64{1, 2.02}
	require.Equal(t, fmt.Sprintf("2 within %.0e", 0.01), m.agreement())
}

// The growth benchmark covers trees and imported networks. It compares charged times by kind of work if the profile
// lacks times.
func TestGrowthIsCompared(t *testing.T) {
	if os.Getenv("GRAFT_LONG") == "" {
		t.Skip("left out: the benchmark of growth; set GRAFT_LONG=1")
	}
	for _, name := range []string{"FeedForwardNet2", "cnn.toml"} {
		g, err := measureGrowth(t.Context(), filepath.Join("growth", name), name, 1)
		require.NoError(t, err)
		p := profileOfGrowth([]*grownNetwork{g}, byJob)
		require.False(t, p.Closed())
		for _, work := range growthWorks {
			e := g.errors(p, byJob, work)
			require.NotEmpty(t, e.charged, "%s, %s", name, work.name)
			require.Len(t, e.rates, len(e.charged))
		}
	}
}

// Every measurement can be chosen by its name, and the prefix of an option is the name of a measurement.
func TestMeasurementsAreNamed(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, list(&out))
	known := map[string]bool{}
	for _, m := range measurements() {
		require.False(t, known[m.name], m.name)
		known[m.name] = true
		require.Regexp(t, "(?m)^"+m.name+" +[^ ].*$", out.String())
		chosen, err := choose([]string{m.name})
		require.NoError(t, err)
		require.Len(t, chosen, 1)
	}
	require.Equal(t, len(known), strings.Count(out.String(), "\n"))
	fs, o := flag.NewFlagSet("bench", flag.ContinueOnError), options{}
	o.register(fs)
	fs.VisitAll(func(f *flag.Flag) {
		if owner, _, own := strings.Cut(f.Name, "."); own {
			require.True(t, known[owner], f.Name)
		}
	})
	usual, err := choose([]string{"all"})
	require.NoError(t, err)
	require.Greater(t, len(known), len(usual))
}

func TestCommandLines(t *testing.T) {
	names, flags := splitArguments(strings.Fields("job epoch -rounds 3 -table a -table b"))
	require.Equal(t, []string{"job", "epoch"}, names)
	chosen, err := choose(names)
	require.NoError(t, err)
	o, err := parseOptions(chosen, flags)
	require.NoError(t, err)
	require.Equal(t, 3, o.rounds)
	require.Equal(t, []string{"a", "b"}, o.tables)
	for line, says := range map[string]string{"": "no measurement given", "dance": `unknown measurement "dance"`,
		"job all": `unknown measurement "all"`, "job -batch.seeds 2": "-batch.seeds is an option of batch",
		"job -rounds 1 epoch": `"epoch" follows the flags`, "job -dance": "not defined: -dance",
		"list -rounds 1": `unknown measurement "list"`} {
		err := run(strings.Fields(line))
		require.ErrorContains(t, err, says)
		require.ErrorIs(t, err, errUsage)
	}
}
