package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/report/page"
)

// A page is rendered once for concurrent requests. A slow page stays cached for a while. A failed rendering blocks no
// later one. The cache is bounded.
func TestPageCache(t *testing.T) {
	clock := &cacheClock{at: time.Unix(0, 0)}
	p := newPageCache(40_000, 1, clock.now)
	count, slow := 0, make(chan struct{})
	render := func() (content, error) {
		count++
		<-slow
		clock.pass(time.Second)
		return &page.Page{Title: fmt.Sprint("rendering ", count)}, nil
	}
	var wait sync.WaitGroup
	for range 20 {
		wait.Go(func() {
			s, err := p.get(context.Background(), "a", "1", render)
			if assert.NoError(t, err) {
				assert.Contains(t, string(s.text), "rendering 1<")
			}
		})
	}
	close(slow)
	wait.Wait()
	title := func(key, tag string) string {
		s, err := p.get(context.Background(), key, tag, render)
		require.NoError(t, err)
		return regexp.MustCompile(`<title>(.*)</title>`).FindStringSubmatch(string(s.text))[1]
	}
	require.Equal(t, "rendering 1", title("a", "1"))
	require.Equal(t, "rendering 1", title("a", "2"), "it took long, and is not rendered again at once")
	clock.pass(renderBackoff * time.Second)
	require.Equal(t, "rendering 2", title("a", "2"))
	for k := range 10 {
		title(fmt.Sprint(k), "1")
	}
	p.mu.Lock()
	require.Less(t, len(p.pages), 5, "a page has about 10 kB")
	p.mu.Unlock()
	require.Equal(t, "rendering 12", title("9", "1"), "the last are kept")
	require.Equal(t, "rendering 13", title("a", "2"))

	_, err := p.get(context.Background(), "x", "1", func() (content, error) { panic("oh") })
	require.ErrorContains(t, err, "a bug in graft: oh")
	_, err = p.get(context.Background(), "x", "1", func() (content, error) { return nil, errors.New("no") })
	require.ErrorContains(t, err, "no", "it is tried again")

	left, cancel := context.WithCancel(context.Background())
	cancel()
	stuck := make(chan struct{})
	hold := func() (content, error) { <-stuck; return &page.Page{}, nil }
	for k := range maxWaiting + 1 {
		for waiting := -1; waiting != k-min(k, 1); runtime.Gosched() { // the first request renders, the others wait
			p.mu.Lock()
			waiting = p.waiting
			p.mu.Unlock()
		}
		_, err = p.get(left, fmt.Sprint("hold", k), "1", hold)
		require.ErrorIs(t, err, context.Canceled)
	}
	_, err = p.get(left, "one more", "1", hold)
	require.ErrorIs(t, err, errBusy)
	require.Equal(t, http.StatusServiceUnavailable, refusalOfPage(err).Status)
	close(stuck)
}

// cacheClock is a clock that tests move.
type cacheClock struct {
	mu sync.Mutex
	at time.Time
}

func (c *cacheClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *cacheClock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}
