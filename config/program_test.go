package config

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
)

// A decider that is a path runs the program at that path, next to the file or in the working directory. The job's
// digest covers the program's text.
func TestDecidersThatArePrograms(t *testing.T) {
	folder := t.TempDir()
	path, program := filepath.Join(folder, "job.toml"), filepath.Join(folder, "mine.py")
	require.NoError(t, os.WriteFile(path, []byte("[adapt]\ndecider = \"./mine.py\"\nkinds = [\"deepen\"]\n"), 0o666))
	_, err := ReadJob(files.OS{}, path, nil)
	require.ErrorContains(t, err, "job.toml:2")
	require.ErrorContains(t, err, program+" does not exist either")
	digests := map[string]bool{}
	for _, text := range []string{"one", "two"} {
		require.NoError(t, os.WriteFile(program, []byte(text), 0o666))
		j, err := ReadJob(files.OS{}, path, nil)
		require.NoError(t, err)
		require.Equal(t, program, j.Adapt.Decider)
		require.True(t, j.MayMakeAnyNetwork())
		digests[j.Digest()] = true
		_, err = j.Decider()
		require.NoError(t, err)
	}
	require.Len(t, digests, 2)
	require.NoError(t, os.WriteFile(path, []byte("[adapt]\ndecider = \"randm\"\n"), 0o666))
	_, err = ReadJob(files.OS{}, path, nil)
	require.ErrorContains(t, err, `must be one of "none"`)
	require.ErrorContains(t, err, "random")
	require.NoError(t, os.WriteFile(path, []byte("[adapt]\ndecider = \"./mine.py\"\npolicy = \"p\"\n"), 0o666))
	_, err = ReadJob(files.OS{}, path, nil)
	require.ErrorContains(t, err, `used only by the decider "policy"`)
}

// Keys for the steps after surgery are refused for a user's program that does not support them. Their defaults do not
// change the digest.
func TestKeysOfWhatFollowsSurgery(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "job.toml")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "train.py"), nil, 0o666))
	read := func(text string) (*Job, error) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
		return ReadJob(files.OS{}, path, nil)
	}
	const program = "[program]\ncommand = [\"sh\", \"train.py\"]\n"
	_, err := read(program + "[adapt]\nmoments = \"reset-new\"\n[schedule]\nrule = \"wsd\"\n")
	require.NoError(t, err)
	_, err = read(program + "[adapt]\nwarm_up_new = 10\n")
	require.ErrorContains(t, err, "job.toml:4:15: adapt.warm_up_new does not apply to a job with program.command: "+
		"graft does not compute the steps; remove it")
	_, err = read(program + "[adapt]\ndecider = \"gradient\"\n")
	require.ErrorContains(t, err, "program.command starts a program that trains; use another decider")
	_, err = read(program + "[adapt]\nnew_units = \"tiny\"\n")
	require.ErrorContains(t, err, `program.command starts a program that trains; use new_units = "copies"`)
	plain, err := read("")
	require.NoError(t, err)
	for text, same := range map[string]bool{
		"[adapt]\nmoments = \"carry\"\n": true, "[adapt]\nmoments = \"reset\"\n": false,
		"[adapt]\nwarm_up_new = 0\n": true, "[adapt]\nwarm_up_new = 1\n": false,
		"[schedule]\ndecay_share = 0\n": true, "[schedule]\nrule = \"wsd\"\n": false} {
		j, err := read(text)
		require.NoError(t, err, text)
		require.Equal(t, same, plain.Digest() == j.Digest(), text)
	}
	for text, says := range map[string]string{
		"[adapt]\nmoments = \"new\"\n":            `moments must be one of "carry", "reset-new" and "reset", got "new"`,
		"[adapt]\nwarm_up_new = -1\n":             "adapt.warm_up_new is -1; must be at least 0",
		"[schedule]\ndecay_share = 0.2\n":         `decay_share is used only by the rule "wsd"`,
		"[schedule]\nrule = \"wsd\"\nmin_lr = -1": "min_lr is -1",
	} {
		_, err := read(text)
		require.ErrorContains(t, err, says)
	}
}
