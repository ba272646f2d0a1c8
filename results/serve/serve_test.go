package serve

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/files"
	"graft/results/listen"
)

// Addresses of runs lead back to their names.
func TestAddressOfRuns(t *testing.T) {
	h := New(Options{Files: files.OS{}, Dir: ".", Every: time.Second, Now: time.Now, Hosts: listen.IsLoopback})
	for _, name := range []string{".", "a", "a/b c", "ä/%2f", `<a href="x">`, "a?b#c&d=e", "..a"} {
		at, err := url.Parse("http://127.0.0.1" + AddressOf(name))
		require.NoError(t, err, name)
		want, refused := h.want(at)
		require.Nil(t, refused)
		require.Equal(t, []string{name}, want.names)
	}
}
