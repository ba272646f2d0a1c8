package lint

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// plant writes files into a new folder.
func plant(t *testing.T, contents map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range contents {
		full := filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(full), 0o777))
		require.NoError(t, os.WriteFile(full, []byte(text), 0o666))
	}
	return root
}

// paths returns the paths of a tree's files.
func paths(tree *Tree) []string {
	var all []string
	for _, file := range tree.Files {
		all = append(all, file.Path)
	}
	return all
}

func TestATreeWithoutGitIsWalked(t *testing.T) {
	root := plant(t, map[string]string{
		".gitignore":       "# built\n/build/\n*.test\n",
		".git/config":      "not ours",
		"go.mod":           "module graft\n",
		"build/a.go":       "package build\n",
		"model/build/a.go": "package build\n",
		"model/model.test": "left behind",
		"model/a.go":       "package model\n",
		"model/weights.db": "\x00\x01",
	})
	// The folder is not a checkout, whatever its parent is.
	t.Setenv("GIT_DIR", filepath.Join(root, "nowhere"))
	tree, err := Load(root)
	require.NoError(t, err)
	assert.Equal(t, "graft", tree.Module)
	assert.Equal(t, []string{".gitignore", "go.mod", "model/a.go", "model/build/a.go"}, paths(tree))
}

func TestAFolderThatIsNotThereIsAnError(t *testing.T) {
	_, err := Load(filepath.Join(t.TempDir(), "nowhere"))
	assert.ErrorContains(t, err, "nowhere")
}

func TestTextIsToldFromData(t *testing.T) {
	long := make([]byte, 0, 9<<10)
	for len(long) < 8<<10-1 {
		long = append(long, 'a')
	}
	cases := map[string]struct {
		text []byte
		want bool
	}{
		"empty":                               {nil, true},
		"words":                               {[]byte("größer"), true},
		"a zero byte":                         {[]byte("a\x00b"), false},
		"no UTF-8":                            {[]byte("\xff\xfe\xfd"), false},
		"a character across the judged start": {append(long, "größer"[2:]...), true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) { assert.Equal(t, c.want, isText(c.text)) })
	}
}
