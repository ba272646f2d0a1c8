package study

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// Schedulers of a file have different names, since their results have folders of these names.
func TestSchedulersHaveDifferentNames(t *testing.T) {
	find := func(names ...string) error {
		named := func(name string) (string, error) {
			if IsPath(name) {
				return "", errors.New("unknown scheduler")
			}
			return name, nil
		}
		learned := func(path string) (Learned[string], error) {
			return Learned[string]{Kind: learnedName(path), Digest: path}, nil
		}
		_, err := FindSchedulers(names, named, learned, func(kind string) string { return kind })
		return err
	}
	require.NoError(t, find("fifo", "a/mine", "b/yours"))
	require.ErrorContains(t, find("a/mine", "b/mine"), "two schedulers have the name mine; rename a folder or file")
	require.ErrorContains(t, find("a/mine", "mine.safetensors"), "two schedulers have the name mine")
	require.ErrorContains(t, find("a/mine", "./a/mine"), "./a/mine is named twice; name each scheduler once")
	require.ErrorContains(t, find("fifo", "a/fifo"), "two schedulers have the name fifo")
}
