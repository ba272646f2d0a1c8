package main

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// A flag of traces that is repeated names all of them.
func TestRepeatedTraces(t *testing.T) {
	var f clusterFlags
	command := &cobra.Command{}
	f.add(command)
	require.NoError(t, command.Flags().Parse([]string{"--trace", "a.csv", "--trace", "b.csv"}))
	require.Equal(t, "a.csv,b.csv", command.Flag("trace").Value.String())
}
