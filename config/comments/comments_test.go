package comments_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/config/comments"
)

const source = `package p

// Options are options.
type Options struct {
	Batch int // images in a step; zero means 64
	// Every asks again, as often as Batch says. Every
	// time is another.
	Every bool // not this
	Mean, Deviation float64 // as in Batch
	// Least is the least.
	Least float64
	Ranks []int // Ranks are in order
	Devices int // Devices per node.
	Silent int
	hidden int // of nobody
	Embedded // with its fields
	other.Named // with others
	// LR_2 ends here.
	LR_2 int
}

type plain int

func f() {
	type Inner struct {
		Field int // within a function
	}
}
`

func written(t *testing.T, files map[string]string) string {
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

func TestCommentsOfFields(t *testing.T) {
	dir := written(t, map[string]string{"a.go": source,
		"a_test.go": "package p\ntype Tests struct {\n\tA int // no\n}\n", "b.txt": "{"})
	got, err := comments.Fields(dir, strings.ToLower)
	require.NoError(t, err)
	require.Equal(t, map[string]string{
		"Options.Batch":     "Images in a step; zero means 64.",
		"Options.Every":     "Asks again, as often as batch says. Every time is another.",
		"Options.Mean":      "As in batch.",
		"Options.Deviation": "As in batch.",
		"Options.Least":     "The least.",
		"Options.Ranks":     "In order.",
		"Options.Devices":   "Devices per node.",
		"Options.Embedded":  "With its fields.",
		"Options.Named":     "With others.",
		"Options.LR_2":      "Ends here.",
		"Inner.Field":       "Within a function.",
	}, got)
}

func TestFoldersWithoutComments(t *testing.T) {
	_, err := comments.Fields(filepath.Join(t.TempDir(), "none"), strings.ToLower)
	require.ErrorContains(t, err, "no Go file in")
	_, err = comments.Fields(written(t, map[string]string{"a.go": "package p\ntype {"}), strings.ToLower)
	require.ErrorContains(t, err, "a.go:2:6")
	_, err = comments.Fields("[", strings.ToLower)
	require.Error(t, err)
}
