// Package serve answers HTTP requests for the list of runs in a folder, for pages of runs and for comparisons.
package serve

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// pageCache renders pages, each once for all concurrent requests, and keeps the most recently used.
type pageCache struct {
	now    func() time.Time
	most   int           // maximum bytes to keep
	places chan struct{} // semaphore of concurrent renderings

	mu      sync.Mutex
	pages   map[string]*renderedPage // by the request's key
	waiting int                      // renderings that have not started
}

// content is the body of a response: a page, or JSON.
type content interface {
	Render(w io.Writer) error
	Policy() string // Content-Security-Policy
}

// typed is content that is not HTML.
type typed interface {
	Type() string // media type
}

// renderedPage is a rendered page. All fields but used are written before done closes.
type renderedPage struct {
	tag     string
	done    chan struct{} // closes when the page is rendered
	text    []byte
	gzipped []byte // the text with gzip
	policy  string
	kind    string // media type
	err     error  // error of the rendering
	began   time.Time
	ended   time.Time
	used    time.Time // time of the last request
}

// renderBackoff is the time to keep a page, in multiples of its rendering time: slow pages must not take the machine
// from the runs.
const renderBackoff = 5

// errBusy reports too many concurrent requests.
var errBusy = errors.New("too many concurrent requests; retry")

func newPageCache(most, places int, now func() time.Time) *pageCache {
	return &pageCache{now: now, most: most, places: make(chan struct{}, places), pages: map[string]*renderedPage{}}
}

// get returns a page by its key and the tag of its content. During a rendering and the back-off after it, all requests
// get that page, whose tag may be older.
func (p *pageCache) get(ctx context.Context, key, tag string,
	render func() (content, error)) (*renderedPage, error) {
	s, err := p.find(key, tag, render)
	if err != nil {
		return nil, err
	}
	select {
	case <-s.done:
		return s, s.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *pageCache) find(key, tag string, render func() (content, error)) (*renderedPage, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if s := p.pages[key]; s != nil &&
		(s.tag == tag || !s.isDone() || now.Sub(s.ended) < renderBackoff*s.ended.Sub(s.began)) {
		s.used = now
		return s, nil
	}
	if p.waiting >= maxWaiting {
		return nil, errBusy
	}
	s := &renderedPage{tag: tag, done: make(chan struct{}), used: now}
	p.pages[key] = s
	p.waiting++
	go p.make(key, s, render)
	return s, nil
}

func (s *renderedPage) isDone() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// make renders a page when a slot is free. It continues after the client has left: others may wait for the page.
func (p *pageCache) make(key string, s *renderedPage, render func() (content, error)) {
	p.places <- struct{}{}
	p.mu.Lock()
	p.waiting--
	p.mu.Unlock()
	s.began = p.now()
	s.render(render)
	s.ended = p.now()
	<-p.places
	p.mu.Lock()
	defer p.mu.Unlock()
	close(s.done)
	if s.err != nil && p.pages[key] == s {
		delete(p.pages, key) // the next request tries again
	}
	p.evict()
}

// render turns a panic into an error, so that one page does not take down the others.
func (s *renderedPage) render(render func() (content, error)) {
	defer func() {
		if fault := recover(); fault != nil {
			s.err = fmt.Errorf("this is a bug in graft: %v", fault)
		}
	}()
	var shown content
	if shown, s.err = render(); s.err != nil {
		return
	}
	var plain, packed bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed) // the level is valid
	s.err = errors.Join(shown.Render(io.MultiWriter(&plain, zip)), zip.Close())
	s.text, s.gzipped, s.policy, s.kind = plain.Bytes(), packed.Bytes(), shown.Policy(), "text/html; charset=utf-8"
	if t, is := shown.(typed); is {
		s.kind = t.Type()
	}
}

// evict drops the least recently used pages until the rest fits.
func (p *pageCache) evict() {
	for {
		size, oldest := 0, ""
		for key, s := range p.pages {
			if !s.isDone() {
				continue
			}
			size += len(s.text) + len(s.gzipped) + len(key)
			if oldest == "" || s.used.Before(p.pages[oldest].used) {
				oldest = key
			}
		}
		if size <= p.most || oldest == "" {
			return
		}
		delete(p.pages, oldest)
	}
}
