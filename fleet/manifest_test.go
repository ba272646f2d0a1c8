package fleet

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	yaml3 "github.com/stretchr/testify/assert/yaml"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// matchGolden compares a text with a file of testdata.
func matchGolden(t *testing.T, path, text string) {
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text)
}

func fullManifest() (Batch, ManifestOptions) {
	return Batch{
			Key: "grid-1a2b", Folder: "/shared/runs/grid", Workers: 16, Dir: "/shared",
			Argv:      []string{"/bin/graft", "simulate", "it's: \"$(HOME)\" $5\n- no", "--", "ä\u0085\U0001F600"},
			Env:       []string{"A=yes", "B=$(rm)", "C=x"},
			Resources: Resources{CPUs: 4, MemoryMB: 2000, GPUs: 1, Time: time.Hour},
		}, ManifestOptions{
			Image: "graft:1", Claim: "shared", Mount: "/shared", Namespace: "lab", Failures: 2,
		}
}

func TestAManifestIsAnIndexedJob(t *testing.T) {
	text, err := Manifest(fullManifest())
	require.NoError(t, err)
	matchGolden(t, "testdata/full.yaml", text)
	small, err := Manifest(Batch{Key: "k", Folder: "/f", Workers: 1, Argv: []string{"graft"}},
		ManifestOptions{Image: "i", Claim: "c"})
	require.NoError(t, err)
	matchGolden(t, "testdata/small.yaml", small)
	want, err := os.ReadFile("testdata/small.json")
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(must(t, asJSON(t, small))))
}

func must(t *testing.T, value any) []byte {
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return text
}

// asJSON converts YAML to JSON values.
func asJSON(t require.TestingT, text string) (value any) {
	var read any
	require.NoError(t, yaml3.Unmarshal([]byte(text), &read), text)
	encoded, err := json.Marshal(read)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(encoded, &value))
	return value
}

// Any text reads back from the YAML, and Kubernetes does not expand it.
func TestWordsOfAManifestAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOf(rapid.OneOf(
			rapid.SampledFrom([]rune("'\"\\$`!*?~#&|;<>(){}[] \t\n\r-=%a:,@\u0085\u2028\ufeff")),
			rapid.Rune().Filter(func(r rune) bool { return r != 0 }))).Draw(t, "word")
		require.Equal(t, map[string]any{"word": word}, asJSON(t, "word: "+yamlQuote(word)+"\n"))
	})
	require.Equal(t, "$$(A) $$$$ $$5", unexpanded("$(A) $$ $5"))
}

// Other readers, if installed, read all fields of a manifest. kubectl drops fields that a job does not have.
func TestOthersReadTheManifest(t *testing.T) {
	b, o := fullManifest()
	text, err := Manifest(b, o)
	require.NoError(t, err)
	path := t.TempDir() + "/job.yaml"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	other := path + ".other" // kubectl prints a manifest only if it changes it
	require.NoError(t, os.WriteFile(other, []byte(strings.Replace(text, o.Image, "other", 1)), 0o666))
	for name, call := range map[string][]string{
		"python3-yaml": {"python3", "-c",
			"import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))", path},
		"kubectl": {"kubectl", "set", "image", "--local", "-f", other, "worker=" + o.Image, "-o", "json"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := exec.Command(call[0], call[1:]...).Output()
			if err != nil {
				t.Skip("left out: what " + name + " makes of a manifest, since it is not installed")
			}
			var theirs any
			require.NoError(t, json.Unmarshal(out, &theirs))
			mustHold(t, theirs, asJSON(t, text), "")
		})
	}
}

// mustHold requires that theirs has all fields of ours; it may have more.
func mustHold(t *testing.T, theirs, ours any, at string) {
	switch ours := ours.(type) {
	case map[string]any:
		require.IsType(t, ours, theirs, at)
		for key, value := range ours {
			mustHold(t, theirs.(map[string]any)[key], value, at+"."+key)
		}
	case []any:
		require.IsType(t, ours, theirs, at)
		require.Len(t, theirs, len(ours), at)
		for i, value := range ours {
			mustHold(t, theirs.([]any)[i], value, at+"."+strconv.Itoa(i))
		}
	default:
		require.Equal(t, ours, theirs, at)
	}
}

func TestManifestsThatKubernetesWouldRefuse(t *testing.T) {
	b := Batch{Key: "Grid_1", Folder: "/f", Workers: 2, Argv: []string{"x"}, Only: []int{1},
		Resources: Resources{Partition: "p", Devices: []string{"cuda:0"}}}
	_, err := Manifest(b, ManifestOptions{Mount: "/ff", Namespace: "A", Failures: -1})
	for _, part := range []string{"key is \"Grid_1\"", "namespace", "image is missing", "claim is missing",
		"is outside of it", "failures is -1", "partition is set, but only Slurm",
		"devices is for local workers only", "all workers"} {
		require.ErrorContains(t, err, part)
	}
}
