package net2net_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/internal/files"
	"graft/model"
	"graft/net2net"
)

// grownRecord returns the records of four operations on a small network without weights.
func grownRecord(t testing.TB) (*model.Network, []*net2net.Change) {
	n := newNetwork()
	var changes []*net2net.Change
	for _, text := range []string{"deepen:conv1", "widen:conv1:9", "kernel:conv2:5", "branch:conv2"} {
		a, err := net2net.ParseAction(text)
		require.NoError(t, err)
		c, err := net2net.Apply(n, a, net2net.Options{Seed: 1})
		require.NoError(t, err)
		changes = append(changes, c)
	}
	return n, changes
}

// A record is unchanged by writing and reading, replays, and reverts.
func TestRecordRoundTrip(t *testing.T) {
	n, changes := grownRecord(t)
	path := filepath.Join(t.TempDir(), "record.json")
	require.NoError(t, net2net.WriteRecord(files.OS{}, path, changes))
	read, err := net2net.ReadRecord(files.OS{}, path)
	require.NoError(t, err)
	require.Equal(t, changes, read)
	twin := newNetwork()
	for _, c := range read {
		_, err := net2net.Replay(twin, c, net2net.Options{})
		require.NoError(t, err)
	}
	require.Equal(t, n.String(), twin.String())
	back, err := net2net.Shrink(twin, read, 0)
	require.NoError(t, err)
	require.Len(t, back, len(read))
	require.Equal(t, newNetwork().String(), twin.String())
}

// Any file gives an error or changes that replay and revert. A refused change leaves the network unchanged.
func FuzzRecord(f *testing.F) {
	_, changes := grownRecord(f)
	text, err := json.Marshal(map[string]any{"changes": changes})
	require.NoError(f, err)
	f.Add(text)
	for _, c := range changes {
		one, err := json.Marshal(map[string]any{"changes": []*net2net.Change{c}})
		require.NoError(f, err)
		f.Add(one)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "record.json")
		require.NoError(t, os.WriteFile(path, text, 0o600))
		changes, err := net2net.ReadRecord(files.OS{}, path)
		if err != nil {
			return
		}
		n := newNetwork()
		for _, c := range changes {
			c.Before = net2net.Fingerprint(n) // otherwise every change is refused
			was := n.String()
			if _, err := net2net.Replay(n, c, net2net.Options{}); err != nil {
				require.Equal(t, was, n.String())
			}
			c.After = net2net.Fingerprint(n)
			was = n.String()
			if _, err := net2net.Revert(n, c); err != nil {
				require.Equal(t, was, n.String())
			}
			require.NoError(t, n.Check())
		}
	})
}
