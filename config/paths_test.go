package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/model"
	"graft/results"
)

// A path is relative to the working directory, or else to the folder of the file.
func TestPathsOfFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	network := func(path, name string) {
		n, err := model.Zoo(name, model.ZooOptions{})
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, WriteNetwork(files.OS{}, path, n))
	}
	write := func(path, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	job := filepath.Join("conf", "job.toml")
	write(job, "[network]\nfile = \"nets/n.toml\"\n[time]\nprofile = \"steady\"\n")
	write(filepath.Join("conf", "steady"), "a name, not a path")
	_, err := ReadJob(files.OS{}, job, nil)
	require.ErrorContains(t, err, "job.toml:2:8: ")
	require.ErrorContains(t, err, "conf/nets/n.toml does not exist either")

	network("conf/nets/n.toml", "MLP")
	j, err := ReadJob(files.OS{}, job, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"MLP", "conf/nets/n.toml", "steady"},
		[]string{j.NetworkName(), j.Network.File, j.Time.Profile})
	_, err = ReadJob(files.OS{}, job, []string{"network.file=nets/n.toml"})
	require.ErrorContains(t, err, "--set network.file=nets/n.toml: ")
	require.NotContains(t, err.Error(), "either", "flags count from the working directory")

	write(filepath.Join("run", results.ResolvedFile), j.Resolved())
	again, err := ReadJob(files.OS{}, filepath.Join("run", results.ResolvedFile), nil)
	require.NoError(t, err)
	require.Equal(t, j.Digest(), again.Digest(), "a run finds the same file from its folder")
	network("run/conf/nets/n.toml", "ConvSmall")
	require.NoError(t, os.RemoveAll("conf/nets"))
	_, err = ReadJob(files.OS{}, filepath.Join("run", results.ResolvedFile), nil)
	require.Error(t, err, "and no other beside it")

	network("conf/nets/n.toml", "MLP")
	network("nets/n.toml", "ConvSmall")
	j, err = ReadJob(files.OS{}, job, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"ConvSmall", "nets/n.toml"}, []string{j.NetworkName(), j.Network.File},
		"the working directory comes first")

	write("conf/scenario.toml", "[network]\nfile = \"own.toml\"\n[time]\nevents = [{at = \"30s\", change = \"up\"}]\n"+
		"[simulate]\nactions = [\"deepen:conv1\", \"none\"]\n")
	network("conf/own.toml", "ConvSmall")
	write("conf/all.toml", "[pipeline]\nscenarios = [\"scenario.toml\", \"none.toml\"]\n")
	_, err = ReadPipeline(files.OS{}, "conf/all.toml", nil)
	require.ErrorContains(t, err, "1 fault\n")
	require.ErrorContains(t, err, "scenarios[1]: ")
	require.ErrorContains(t, err, "conf/none.toml does not exist either")
}

// Each key in the lists of path keys belongs to some kind of file.
func TestPathKeys(t *testing.T) {
	known := map[string]bool{}
	for _, k := range Kinds() {
		for _, v := range Values(k.New()) {
			known[v.Key] = true
		}
	}
	for _, key := range append(namesToo, pathKeys...) {
		require.True(t, known[key], key)
	}
}
