package config

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

// publishedWeights returns a folder with files like the original's starting weights.
func publishedWeights(t testing.TB, more map[string]string) string {
	dir := t.TempDir()
	texts := map[string]string{"weights.pth": "weights", "runtimes": "0,11.5,10.25\n1,22.5,9.5\n2,33.25,9.0\n",
		"training0.epoch.test_acc": "0,13.0,0.25\n1,24.0,0.5\n2,35.125,0.75\n", "config.toml": "[runner]\n"}
	for name, text := range more {
		texts[name] = text
	}
	for name, text := range texts {
		if text != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
	}
	return dir
}

func TestAJobGoesOnFromPublishedWeights(t *testing.T) {
	dir := publishedWeights(t, nil)
	file, runtimes := filepath.Join(dir, "weights.pth"), filepath.Join(dir, "runtimes")
	accuracy := 0.75
	cases := map[string]struct {
		set   []string
		want  InitialWeights
		start time.Duration
		from  string
	}{
		"nothing":      {nil, InitialWeights{}, 0, "default"},
		"a file alone": {[]string{"network.weights=" + file}, InitialWeights{file, 0, nil}, 0, "default"},
		"a folder": {[]string{"network.weights=" + dir}, InitialWeights{file, 3, &accuracy}, 35125 * time.Millisecond,
			filepath.Join(dir, "training0.epoch.test_acc") + ":3"},
		"a file and its times": {[]string{"network.weights=" + file, "network.runtimes=" + runtimes},
			InitialWeights{file, 3, nil}, 33250 * time.Millisecond, runtimes + ":3"},
		"another start": {[]string{"network.weights=" + dir, "time.start=40s"}, InitialWeights{file, 3, &accuracy},
			40 * time.Second, "--set"},
		"a start of zero": {[]string{"network.weights=" + dir, "time.start=0s"}, InitialWeights{file, 3, &accuracy}, 0,
			"--set"},
		"as the original did": {[]string{"network.weights=" + dir, "network.reset_epochs=true"}, InitialWeights{file, 0,
			&accuracy}, 35125 * time.Millisecond, filepath.Join(dir, "training0.epoch.test_acc") + ":3"},
		"times nobody asks for": {[]string{"network.weights=" + file, "network.runtimes=none",
			"network.reset_epochs=true", "time.start=40s"}, InitialWeights{file, 0, nil}, 40 * time.Second, "--set"},
		"times for the start": {[]string{"network.weights=" + file, "network.runtimes=" + runtimes,
			"network.reset_epochs=true"}, InitialWeights{file, 0, nil}, 33250 * time.Millisecond, runtimes + ":3"},
		"a folder, other times": {[]string{"network.weights=" + publishedWeights(t, map[string]string{"runtimes": ""}),
			"network.runtimes=" + runtimes}, InitialWeights{"", 3, &accuracy}, 35125 * time.Millisecond, ""},
		"more tests than epochs": {[]string{"network.weights=" + publishedWeights(t, map[string]string{
			"training0.epoch.test_acc": "0,1,0.5\n1,2,0.5\n2,3,0.5\n3,4,0.5\n",
		})}, InitialWeights{"", 3, nil}, 33250 * time.Millisecond, ""},
		"two tables of tests": {[]string{"network.weights=" + publishedWeights(t, map[string]string{
			"b.epoch.test_acc": "0,1,0.5\n1,2,0.5\n2,99,0.5\n",
		})}, InitialWeights{"", 3, nil}, 33250 * time.Millisecond, ""},
		"other weights as well": {[]string{"network.weights=" + publishedWeights(t,
			map[string]string{"a.pt": "other"})}, InitialWeights{"", 3, &accuracy}, 35125 * time.Millisecond, ""},
	}
	for name, c := range cases {
		j, err := ReadJob(files.OS{}, "", c.set)
		require.NoError(t, err, name)
		got := j.InitialWeights()
		if c.want.Weights == "" && got.Weights != "" {
			c.want.Weights, c.from = filepath.Join(j.Network.Weights, "weights.pth"), j.Source("time.start").String()
		}
		assert.Equal(t, c.want, got, name)
		assert.Equal(t, c.start, j.Options().Timeline.Start, name)
		assert.Equal(t, c.from, j.Source("time.start").String(), name)
		again, err := parseJob("b.toml", j.Resolved())
		require.NoError(t, err, name)
		assert.Equal(t, j.Resolved(), again.Resolved(), name)
		assert.Equal(t, j.Digest(), again.Digest(), name)
		assert.Equal(t, got, again.InitialWeights(), name)
	}
}

func TestTheDigestCountsEpochsBefore(t *testing.T) {
	dir := publishedWeights(t, nil)
	digest := func() string {
		return must(ReadJob(files.OS{}, "", []string{"network.weights=" + dir, "time.start=5s"})).Digest()
	}
	before := digest()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "runtimes"), []byte("0,1,1\n"), 0o600))
	assert.NotEqual(t, before, digest())
}

// The digest of files follows their content. Jobs with other seeds have the same files.
func TestTheDigestOfFiles(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	digest := func(set ...string) string {
		set = append(set, "network.weights="+filepath.Join(folder, "first.safetensors"))
		j := must(ReadJob(files.OS{}, "", set))
		return j.FilesDigest(must(j.SharedWeightsDigest(files.NewDigests(files.OS{}, time.Now))))
	}
	write("events.csv", "seconds,change,devices\n1,up,2\n")
	write("first.safetensors", "weights")
	timeline := "time.timeline=" + filepath.Join(folder, "events.csv")
	before := digest(timeline)
	require.Equal(t, before, digest(timeline, "run.seed=7"))
	write("events.csv", "seconds,change,devices\n2,up,2\n")
	after := digest(timeline)
	require.NotEqual(t, before, after)
	write("first.safetensors", "other weights")
	require.NotEqual(t, after, digest(timeline))
}

func TestWhatKeepsAJobFromGoingOn(t *testing.T) {
	for name, c := range map[string]struct {
		more map[string]string
		set  string
		says string
	}{
		"no weights": {map[string]string{"weights.pth": ""}, "", "has 0 weights files"},
		"two, neither by name": {map[string]string{"weights.pth": "", "a.pt": "a", "b.pth": "b"}, "",
			"has 2 weights files"},
		"no times":           {map[string]string{"runtimes": ""}, "", "runtimes: no such file"},
		"no epoch":           {map[string]string{"runtimes": "\n"}, "", "runtimes:1: "},
		"only half an epoch": {map[string]string{"runtimes": "0,11"}, "", "runtimes: the file has no epochs"},
		"times out of order": {map[string]string{"runtimes": "0,11,1\n1,10,1\n"}, "",
			"the epoch in line 2 ends after 10 seconds"},
		"no number": {map[string]string{"runtimes": "0,nan,1\n"}, "", "the epoch in line 1 ends after NaN seconds"},
		"tests out of order": {map[string]string{"training0.epoch.test_acc": "0,11,1\n1,10,1\n2,9,1\n"}, "",
			"test_acc: the epoch in line 2"},
		"an end past the budget": {nil, "time.budget=30s", "start is 35.125s; must be within the budget of 30s"},
		"times alone":            {nil, "network.weights=", "runtimes: requires network.weights"},
	} {
		set := []string{"network.weights=" + publishedWeights(t, c.more)}
		if c.set != "" {
			set = append(set, c.set)
		}
		if c.set == "network.weights=" {
			set = append(set, "network.runtimes=x")
		}
		_, err := ReadJob(files.OS{}, "", set)
		var list Faults
		require.ErrorAs(t, err, &list, name)
		assert.ErrorContains(t, err, c.says, name)
	}
	_, err := ReadJob(files.OS{}, "", []string{"network.weights=none"})
	assert.ErrorContains(t, err, "has no known extension; use .pth, .pt or .safetensors; an existing folder is "+
		"also valid")
}

// The published starting weights give the epochs, start times and accuracies in the original's files.
func TestPublishedStartingWeights(t *testing.T) {
	folder := filepath.Join(filepath.Dir(originals), "starting_weights")
	if _, err := os.Stat(folder); err != nil {
		t.Skip("left out: the original's starting weights are not beside the tree")
	}
	for name, want := range map[string]struct {
		epochs   int
		start    time.Duration
		accuracy float64
	}{
		"small_early2":  {6, 68786281347, 0.5524},
		"small_middle3": {17, 197132921696, 0.317},
		"small_late2":   {29, 333031574249, 0.6222},
	} {
		j := must(ReadJob(files.OS{}, "",
			[]string{"time.budget=400s", "network.weights=" + filepath.Join(folder, name)}))
		b := j.InitialWeights()
		assert.Equal(t, filepath.Join(folder, name, "weights.pth"), b.Weights)
		assert.Equal(t, want.epochs, b.Epochs)
		assert.InDelta(t, want.accuracy, *b.Accuracy, 1e-9)
		assert.Equal(t, want.start, j.Options().Timeline.Start)
	}
}
