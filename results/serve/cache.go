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

	"graft/results/page"
)

// pageCache renders pages, each once for all who ask for it, and keeps those that were asked
// for last.
type pageCache struct {
	now    func() time.Time
	most   int           // bytes that are kept
	places chan struct{} // one for each rendering at once

	mu      sync.Mutex
	pages   map[string]*rendered // by what they show
	waiting int                  // renderings that have not begun
}

// rendered is a rendered page. All but used is written before it is done.
type rendered struct {
	tag    string
	done   chan struct{} // closed when it is rendered
	text   []byte
	packed []byte // the text with gzip: a page is asked for again and again, and may come a long way
	policy string
	err    error // why there is none
	began  time.Time
	ended  time.Time
	used   time.Time // when it was asked for last
}

// patient is how many times as long as its rendering took a page stands before it is
// rendered again: what is slow to show is not to take the machine from those who write.
const patient = 5

// errBusy says that too many pages are asked for at once.
var errBusy = errors.New("too many pages are asked for at once; ask again")

func newPageCache(most, places int, now func() time.Time) *pageCache {
	return &pageCache{now: now, most: most, places: make(chan struct{}, places), pages: map[string]*rendered{}}
}

// get is a page by what it shows and the tag of that. While it is rendered, and a while
// after that, all get what is being rendered, whose tag may be an older one.
func (p *pageCache) get(ctx context.Context, key, tag string, render func() (*page.Page, error)) (*rendered, error) {
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

func (p *pageCache) find(key, tag string, render func() (*page.Page, error)) (*rendered, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if s := p.pages[key]; s != nil && (s.tag == tag || !s.isDone() || now.Sub(s.ended) < patient*s.ended.Sub(s.began)) {
		s.used = now
		return s, nil
	}
	if p.waiting >= mostWaiting {
		return nil, errBusy
	}
	s := &rendered{tag: tag, done: make(chan struct{}), used: now}
	p.pages[key] = s
	p.waiting++
	go p.make(key, s, render)
	return s, nil
}

func (s *rendered) isDone() bool {
	select {
	case <-s.done:
		return true
	default:
		return false
	}
}

// make renders a page when there is a place. It does so to the end, also when whoever
// asked has left: others may wait for it.
func (p *pageCache) make(key string, s *rendered, render func() (*page.Page, error)) {
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
		delete(p.pages, key) // it may be well the next time
	}
	p.sweep()
}

// render ends with an error where the program is at fault: one page is not to take the
// others along.
func (s *rendered) render(render func() (*page.Page, error)) {
	defer func() {
		if fault := recover(); fault != nil {
			s.err = fmt.Errorf("this is a fault of graft's: %v", fault)
		}
	}()
	var shown *page.Page
	if shown, s.err = render(); s.err != nil {
		return
	}
	var plain, packed bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed) // there is such a level
	s.err = errors.Join(shown.Render(io.MultiWriter(&plain, zip)), zip.Close())
	s.text, s.packed, s.policy = plain.Bytes(), packed.Bytes(), shown.Policy()
}

// sweep forgets the pages that were not asked for the longest, down to what is kept.
func (p *pageCache) sweep() {
	for {
		size, oldest := 0, ""
		for key, s := range p.pages {
			if !s.isDone() {
				continue
			}
			size += len(s.text) + len(s.packed) + len(key)
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

func (p *pageCache) waitingNow() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.waiting
}
