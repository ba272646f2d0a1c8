package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/runner/train"
	"graft/simulation/grid"
	"graft/torch"
)

// segmentsGolden holds the digests of the final networks of jobs, with the versions that computed them.
const segmentsGolden = "testdata/segments.golden"

// Outcomes in caches have grid.SegmentVersion in their keys. If this test fails because digests differ, jobs give other
// results than before: increment grid.SegmentVersion, and run the test with -update. Otherwise later simulations mix
// outcomes of old and new code without a message.
func TestSegmentVersionFollowsResults(t *testing.T) {
	runtime, err := torch.Describe()
	require.NoError(t, err)
	tree := []string{"--set", "train.ema=0.9", "--set", `adapt.actions=["deepen:conv1", "widen:conv2:48"]`,
		"--set", "augment.pad=2", "--set", "adapt.noise=0.01"}
	graph := []string{"--set", "network.name=", "--set", "network.file=../studies/growth/attention/small.toml",
		"--set", "optimizer.rule=adamw", "--set", "optimizer.lr=3e-3", "--set", "data.synthetic.channels=3",
		"--set", `adapt.actions=["deepen:blocks.0", "widen:blocks.0.up:96"]`,
		"--set", "data.synthetic.classes=10"}
	got := fmt.Sprintf("legs %d\nLibTorch %s\nlayers %s\noperators %s\n", grid.SegmentVersion, runtime.Version,
		limitedDigest(t, tree), limitedDigest(t, graph))
	if *updateGolden {
		write(t, segmentsGolden, got)
	}
	want, err := os.ReadFile(segmentsGolden)
	require.NoError(t, err)
	var legs int
	var version string
	_, err = fmt.Sscanf(string(want), "legs %d\nLibTorch %s\n", &legs, &version)
	require.NoError(t, err)
	if version != runtime.Version {
		t.Skipf("left out: the digests are of LibTorch %s, and this is %s", version, runtime.Version)
	}
	require.Equal(t, string(want), got, "increment grid.SegmentVersion, and run this test with -update")
}

// limitedDigest trains a job in a process that is limited to AVX2, where all processors give the same bits, and returns
// the digest of its final network.
func limitedDigest(t *testing.T, more []string) string {
	folder := filepath.Join(t.TempDir(), "run")
	args := append(brief(folder, "--json", "--set", `run.instructions="avx2"`, "--set", "train.steady=true",
		"--set", "run.threads=1", "--set", "data.synthetic.train=100", "--set", "data.synthetic.test=20",
		"--set", "time.events=[]", "--set", "adapt.when=share", "--set", "adapt.at=[0.3, 0.5]"), more...)
	command := exec.Command(os.Args[0], args...)
	command.Env = append(os.Environ(), programVariable+"=1")
	out, err := command.Output()
	require.NoError(t, err)
	var result train.Result
	require.NoError(t, json.Unmarshal(out, &result))
	require.NotEmpty(t, result.Outcome.Digest)
	require.Equal(t, 2, result.Outcome.Decisions)
	return result.Outcome.Digest
}
