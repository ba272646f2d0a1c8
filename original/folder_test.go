package original_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/original"
)

// originals is the folder of the original's results in a developer's checkout.
var originals = filepath.Join("..", "..", "shared", "reference", "adaptation")

func write(t testing.TB, text string, path ...string) {
	name := filepath.Join(path...)
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
}

// readPublished reads a folder of the original, or skips the test.
func readPublished(t testing.TB, name string) *original.Folder {
	path := filepath.Join(originals, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("left out: the original's results, there is no %s", path)
	}
	l, err := original.ReadFolder(files.OS{}, path)
	require.NoError(t, err)
	return l
}

// metric returns the metric of a file, or nil.
func metric(l *original.Folder, file string) *original.Metric {
	for k := range l.Metrics {
		if l.Metrics[k].File == file {
			return &l.Metrics[k]
		}
	}
	return nil
}

func TestLegacySamples(t *testing.T) {
	l := readPublished(t, "samples")
	const prefix = "simulation_early2.training00"
	acc := metric(l, prefix+".epoch.test_acc")
	require.NotNil(t, acc)
	require.Len(t, acc.Rows, 27)
	assert.Equal(t, original.Row{Index: 26, Seconds: 329.99497151374817,
		Value: original.Value{Single: true, Numbers: []float64{0.7194}}}, acc.Rows[26])
	assert.False(t, acc.Torn)
	probabilities := metric(l, prefix+".epoch.probabilities")
	require.Len(t, probabilities.Rows, 28)
	assert.Equal(t, original.Value{Numbers: []float64{0, 0, 0, 1}}, probabilities.Rows[3].Value)
	objective := metric(l, "simulation_early2.agent.episode.objective")
	require.Len(t, objective.Rows, 64)
	assert.Equal(t, original.Value{None: true}, objective.Rows[63].Value)
	require.Len(t, l.Logs, 2)
	log := l.Logs[1]
	assert.Equal(t, "simulation_early2.training00", log.Name)
	assert.Equal(t, original.LogLine{Time: time.Date(2023, 12, 15, 0, 56, 2, 386e6, time.UTC),
		Level: "INFO", Text: "GPU allocation changing : going up"}, log.Rows[4])
	assert.Equal(t, []string{"failed_run.stderr", "simulation_early_learn2.stderr.head"}, l.Others)
}

func TestLegacyStartingWeights(t *testing.T) {
	l := readPublished(t, "starting_weights/small_early2")
	assert.Contains(t, l.Config, `folder = "small_early2"`)
	assert.Equal(t, []string{"weights.pth"}, l.Others)
	require.Len(t, metric(l, "runtimes").Rows, 6)
	assert.Equal(t, []float64{9.551308870315552}, metric(l, "runtimes").Rows[5].Value.Numbers)
	require.Len(t, metric(l, "training0.epoch.test_acc").Rows, 6)
}

// legacyFolder writes a small folder like the ones that the original leaves.
func legacyFolder(t testing.TB) string {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"config.toml":               "[runner]\nseed = 42\n",
		"description.txt":           "a try",
		"runtimes":                  "0,1.5,1.25\n1,3.0,1.5\n",
		"training00.epoch.test_acc": "0,1.5,0.5\n1,3.0,nan\n2,4.5,0.",
		"training00.epoch.action":   "",
		"agent.episode.objective":   "0,1e-05,None\n1,2,-inf\n2,3,[]\n3,4,[1.0, 2, -3e-07]\r\n",
		"training00.finalmodel.pth": "weights",
		"agent.log": "Traceback:\n2023-12-15 00:56:00,150 | [INFO] : a : b\n  more\n\n" +
			"2023-12-15 00:56:01,000 | [DEBUG] : end",
		"below/training00.epoch.test_acc": "not looked at",
	} {
		write(t, text, dir, name)
	}
	return dir
}

func TestLegacyFolder(t *testing.T) {
	l, err := original.ReadFolder(files.OS{}, legacyFolder(t))
	require.NoError(t, err)
	assert.Equal(t, "[runner]\nseed = 42\n", l.Config)
	assert.Equal(t, "a try", l.Description)
	assert.Equal(t, []string{"training00.finalmodel.pth"}, l.Others)
	assert.Len(t, metric(l, "runtimes").Rows, 2)
	acc := metric(l, "training00.epoch.test_acc")
	assert.Len(t, acc.Rows, 2)
	assert.True(t, acc.Torn)
	action := metric(l, "training00.epoch.action")
	assert.Empty(t, action.Rows, "of a run that crashed")
	assert.Equal(t, []original.Value{
		{None: true}, {Single: true, Numbers: metric(l, "agent.episode.objective").Rows[1].Value.Numbers},
		{}, {Numbers: []float64{1, 2, -3e-7}},
	}, valuesOf(metric(l, "agent.episode.objective")))
	require.Len(t, l.Logs, 1)
	at := time.Date(2023, 12, 15, 0, 56, 0, 150e6, time.UTC)
	assert.Equal(t, []original.LogLine{{Text: "Traceback:"}, {Time: at, Level: "INFO", Text: "a : b\n  more\n"},
		{Time: at.Add(850 * time.Millisecond), Level: "DEBUG", Text: "end"}}, l.Logs[0].Rows)
	runtimes, err := original.ReadRuntimes(files.OS{}, filepath.Join(l.Path, "runtimes"))
	require.NoError(t, err)
	assert.Equal(t, metric(l, "runtimes").Rows, runtimes)
	_, err = original.ReadRuntimes(files.OS{}, filepath.Join(l.Path, "config.toml"))
	assert.ErrorContains(t, err, "config.toml:1: ")
	_, err = original.ReadFolder(files.OS{}, filepath.Join(l.Path, "none"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func valuesOf(m *original.Metric) []original.Value {
	var values []original.Value
	for _, row := range m.Rows {
		values = append(values, row.Value)
	}
	return values
}

func TestLegacyFaultsHaveTheirPlace(t *testing.T) {
	for text, says := range map[string]string{
		"0,1\n":              "training0.epoch.loss:1: expected an index, a time in seconds and a value, got \"0,1\"",
		"0,1,2\n\n":          "training0.epoch.loss:2: ",
		"x,1,2\n":            `the index "x" is not an integer`,
		"0,x,2\n":            `seconds: "x" is not a number`,
		"0,1,True\n":         `"True" is not a number`,
		"0,1,0x1p4\n":        "is not a number",
		"0,1,[1.0, 2.0\n":    "the list \"[1.0, 2.0\" has no closing bracket",
		"0,1,[1.0, None]\n":  `"None" is not a number`,
		"0,1,[[1.0], 2.0]\n": "is not a number",
	} {
		dir := legacyFolder(t)
		write(t, text, dir, "training0.epoch.loss")
		l, err := original.ReadFolder(files.OS{}, dir)
		require.ErrorContains(t, err, says)
		assert.Len(t, l.Metrics, 4, "the others are there")
		assert.Len(t, strings.Split(err.Error(), "\n"), 1)
	}
}
