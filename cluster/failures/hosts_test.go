package failures

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The expected names are the output of 'scontrol show hostnames' of Slurm 22.05.
func TestHostsAreExpanded(t *testing.T) {
	for text, want := range map[string]string{"ga[01-03,7]": "ga01 ga02 ga03 ga7", "login1": "login1",
		"a[1-2],b,c[8-11]": "a1 a2 b c8 c9 c10 c11", "a[8-011]": "a8 a9 a10 a11", "q[1-2]-[1-2]": "q1-1 q1-2 q2-1 q2-2",
		"a[9-11],a[009-010]": "a9 a10 a11 a009 a010"} {
		got, err := hosts([]string{text, "z"})
		require.NoError(t, err, text)
		require.Equal(t, strings.Fields(want+" z"), got, text)
	}
}

func TestInvalidHosts(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "a name is empty",
		"a,,b":                             "a name is empty",
		"a[1":                              "the bracket [ is not closed",
		"a1]":                              "expected names and ranges such as ga[01-12]",
		"a b":                              "expected names and ranges such as ga[01-12]",
		"a[]":                              `expected a range such as 01-12, got "-"`,
		"a[1-]":                            `expected a range such as 01-12, got "1-"`,
		"a[1-b]":                           `expected a range such as 01-12, got "1-b"`,
		"a[+1-2]":                          `expected a range such as 01-12, got "+1-2"`,
		"a[03-1]":                          "the range 03-1 is empty",
		"a[1-1000001]":                     "the list has more than the limit of 1000000 nodes",
		"a[1-2000][1-501]":                 "the list has more than the limit of 1000000 nodes",
		"a[1-1000000],b":                   "the list has more than the limit of 1000000 nodes",
		strings.Repeat("a", 256):           "a name is longer than the limit of 255 bytes",
		strings.Repeat("a", 255) + "[1-2]": "a name is longer than the limit of 255 bytes",
	} {
		_, err := hosts([]string{text})
		require.ErrorContains(t, err, want, text)
	}
}

// FuzzHosts checks that any text is refused or expands to valid names.
func FuzzHosts(f *testing.F) {
	for _, text := range []string{"ga[01-12],b", "a[1-2][3,4-5]x", "[", "a[1-999999999]",
		"[1-9][1-9][1-9][1-9][1-9][1-9][1-9]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		names, err := hosts([]string{text})
		if err != nil {
			return
		}
		require.NotEmpty(t, names)
		for _, name := range names {
			require.NotEmpty(t, name)
			require.LessOrEqual(t, len(name), maxName)
			require.False(t, strings.ContainsFunc(name, invalidInName), "%q", name)
		}
	})
}
