// Package pagetest drives a headless Chromium in tests: it opens pages, moves the pointer, types, and records requests
// and console messages. It also checks the structure of pages without a browser.
//
// It uses the developer tools protocol through a pipe, so it opens no port.
package pagetest

import (
	"bufio"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// Need returns the path of Chromium. If Chromium is missing, the test is skipped, or fails if the environment
// variable CI is set.
func Need(t testing.TB) string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const missing = "pages in a browser: Chromium is not installed: apt-get install chromium"
	if os.Getenv("CI") != "" {
		t.Fatal("tests must not be skipped in CI: " + missing)
	}
	t.Skip("left out: " + missing)
	return ""
}

// Browser is a running Chromium with one page.
type Browser struct {
	ctx     context.Context
	command *exec.Cmd
	profile string // a folder
	to      io.WriteCloser
	session string

	mutex   sync.Mutex
	last    int
	answers map[int]chan message
	events  chan struct{}
	loads   int
	broken  error

	asked      []string // addresses that pages requested
	complaints []string // console messages and script errors
}

// message is a message in either direction.
type message struct {
	ID      int             `json:"id,omitempty"`
	Session string          `json:"sessionId,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *struct {
		Message string `json:"message"`
	} `json:"error,omitempty"`
}

// Start starts the Chromium at path with a new user profile. It runs until the context ends or Close is called.
func Start(ctx context.Context, path string) (*Browser, error) {
	profile, err := os.MkdirTemp("", "graft-browser-")
	if err != nil {
		return nil, err
	}
	b := &Browser{ctx: ctx, profile: profile, answers: map[int]chan message{}, events: make(chan struct{}, 1)}
	if err := b.start(path); err != nil {
		os.RemoveAll(profile)
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	if err := b.attach(); err != nil {
		return nil, errors.Join(fmt.Errorf("open a page in %s: %w", path, err), b.Close())
	}
	return b, nil
}

func (b *Browser) start(path string) error {
	fromUs, to, err := os.Pipe()
	if err != nil {
		return err
	}
	defer fromUs.Close()
	from, toUs, err := os.Pipe()
	if err != nil {
		return errors.Join(err, to.Close())
	}
	defer toUs.Close()
	b.command = exec.CommandContext(b.ctx, path, "--headless", "--no-sandbox", "--disable-gpu",
		"--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking", "--disable-component-update",
		"--user-data-dir="+b.profile, "--remote-debugging-pipe", "about:blank")
	b.command.ExtraFiles = []*os.File{fromUs, toUs} // file descriptors 3 and 4, as Chromium expects
	if err := b.command.Start(); err != nil {
		return errors.Join(err, to.Close(), from.Close())
	}
	b.to = to
	go b.listen(from)
	return nil
}

// attach opens a page and subscribes to its events.
func (b *Browser) attach() error {
	var target struct {
		ID string `json:"targetId"`
	}
	if err := b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target); err != nil {
		return err
	}
	var session struct {
		ID string `json:"sessionId"`
	}
	if err := b.call("Target.attachToTarget", map[string]any{"targetId": target.ID, "flatten": true},
		&session); err != nil {
		return err
	}
	b.session = session.ID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		if err := b.call(domain+".enable", nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// Close ends Chromium.
func (b *Browser) Close() error {
	b.session = ""
	_ = b.call("Browser.close", nil, nil) // it may exit before it responds
	b.to.Close()
	err := b.command.Wait()
	os.RemoveAll(b.profile) // files that its helpers still write stay in the temporary folder
	if b.ctx.Err() != nil {
		return err
	}
	return nil
}

// listen reads Chromium's messages, each ended by a zero byte.
func (b *Browser) listen(from io.ReadCloser) {
	defer from.Close()
	in := bufio.NewReaderSize(from, 1<<20)
	for {
		text, err := in.ReadBytes(0)
		if err != nil {
			b.mutex.Lock()
			b.broken = fmt.Errorf("chromium closed the connection: %w", err)
			for id, answer := range b.answers {
				delete(b.answers, id)
				close(answer)
			}
			b.mutex.Unlock()
			b.wake()
			return
		}
		var m message
		if json.Unmarshal(text[:len(text)-1], &m) == nil {
			b.take(m)
		}
	}
}

func (b *Browser) wake() {
	select {
	case b.events <- struct{}{}:
	default:
	}
}

func (b *Browser) take(m message) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if answer := b.answers[m.ID]; m.ID > 0 && answer != nil {
		delete(b.answers, m.ID)
		answer <- m
		return
	}
	switch m.Method {
	case "Page.loadEventFired":
		b.loads++
		b.wake()
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		_ = json.Unmarshal(m.Params, &p) // an empty address matches no expectation
		b.asked = append(b.asked, p.Request.URL)
	case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded":
		b.complaints = append(b.complaints, string(m.Params))
	}
}

// call sends a request and waits for its answer.
func (b *Browser) call(method string, params any, into any) error {
	if params == nil {
		params = map[string]any{}
	}
	text, err := json.Marshal(params)
	if err != nil {
		return err
	}
	answer := make(chan message, 1)
	b.mutex.Lock()
	if b.broken != nil {
		b.mutex.Unlock()
		return b.broken
	}
	b.last++
	m := message{ID: b.last, Session: b.session, Method: method, Params: text}
	b.answers[m.ID] = answer
	b.mutex.Unlock()
	if text, err = json.Marshal(m); err != nil {
		return err
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	select {
	case m, open := <-answer:
		switch {
		case !open:
			return fmt.Errorf("%s: %w", method, io.ErrUnexpectedEOF)
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error.Message)
		case into != nil:
			return json.Unmarshal(m.Result, into)
		}
		return nil
	case <-b.ctx.Done():
		return fmt.Errorf("%s: %w", method, b.ctx.Err())
	}
}

// Look configures how the browser displays a page.
type Look struct {
	Width int  // width of the window in pixels
	Dark  bool // the reader prefers dark pages
	Print bool // displays the page as printed
	Plain bool // disables scripts
	Still bool // the reader prefers reduced motion
}

// Open opens an address and waits until it is loaded.
func (b *Browser) Open(url string, look Look) error {
	scheme := "light"
	if look.Dark {
		scheme = "dark"
	}
	if err := b.call("Emulation.setDeviceMetricsOverride",
		map[string]any{"width": look.Width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil); err != nil {
		return err
	}
	motion := "no-preference"
	if look.Still {
		motion = "reduce"
	}
	media := map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme},
		{"name": "prefers-reduced-motion", "value": motion}}}
	if look.Print {
		media["media"] = "print"
	}
	if err := b.call("Emulation.setEmulatedMedia", media, nil); err != nil {
		return err
	}
	if err := b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": look.Plain}, nil); err != nil {
		return err
	}
	b.mutex.Lock()
	before := b.loads
	b.asked, b.complaints = nil, nil
	b.mutex.Unlock()
	if err := b.call("Page.navigate", map[string]any{"url": url}, nil); err != nil {
		return err
	}
	for {
		b.mutex.Lock()
		done, broken := b.loads > before, b.broken
		b.mutex.Unlock()
		if done || broken != nil {
			return broken
		}
		select {
		case <-b.events:
		case <-b.ctx.Done():
			return fmt.Errorf("open %s: %w", url, b.ctx.Err())
		}
	}
}

// Eval runs a script in the page and stores the script's value in the variable that into points to. If into is nil, the
// value is dropped.
func (b *Browser) Eval(script string, into any) error {
	var answer struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Fault *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	if err := b.call("Runtime.evaluate",
		map[string]any{"expression": script, "returnByValue": true, "awaitPromise": true}, &answer); err != nil {
		return err
	}
	if answer.Fault != nil {
		return fmt.Errorf("the script failed: %s",
			strings.TrimSpace(answer.Fault.Text+" "+answer.Fault.Exception.Description))
	}
	if into == nil || answer.Result.Value == nil {
		return nil
	}
	return json.Unmarshal(answer.Result.Value, into)
}

// place returns the middle of the first element that matches a selector, scrolled into view.
func (b *Browser) place(selector string) (x, y float64, err error) {
	var at []float64
	text, err := json.Marshal(selector)
	if err != nil {
		return 0, 0, err
	}
	err = b.Eval(`(() => { const e = document.querySelector(`+string(text)+`); e.scrollIntoView({block: "center"});
		const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`, &at)
	if err != nil || len(at) != 2 {
		return 0, 0, fmt.Errorf("find %s: %w", selector, err)
	}
	return at[0], at[1], nil
}

// mostFaults is the number of consecutive errors that Until accepts. Together they take more than a minute, because a
// busy machine opens pages slowly.
const mostFaults = 3000

// Until waits until the script condition returns true. The script may fail in the meantime, because a page that is
// opening has no content yet.
func (b *Browser) Until(condition string) error {
	for faults := 0; ; {
		var is bool
		err := b.Eval(condition, &is)
		if is {
			return nil
		}
		if faults++; err == nil {
			faults = 0
		}
		pause, cancel := context.WithTimeout(b.ctx, 20*time.Millisecond)
		<-pause.Done()
		cancel()
		if b.ctx.Err() != nil || faults > mostFaults {
			return fmt.Errorf("wait until %s: %w", condition, cmp.Or(err, b.ctx.Err()))
		}
	}
}

// Hover moves the pointer to the first element that matches a CSS selector.
func (b *Browser) Hover(selector string) error {
	x, y, err := b.place(selector)
	if err != nil {
		return err
	}
	return b.call("Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": x, "y": y}, nil)
}

// Click moves the pointer to the first element that matches a CSS selector, and clicks the left mouse button.
func (b *Browser) Click(selector string) error {
	x, y, err := b.place(selector)
	if err != nil {
		return err
	}
	for _, what := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		if err := b.call("Input.dispatchMouseEvent",
			map[string]any{"type": what, "x": x, "y": y, "button": "left", "clickCount": 1}, nil); err != nil {
			return err
		}
	}
	return nil
}

// keys are the supported keys.
var keys = map[string]struct {
	code      int
	key, text string
}{"Tab": {9, "Tab", ""}, "Enter": {13, "Enter", "\r"}, "Escape": {27, "Escape", ""}, "Space": {32, " ", " "},
	"ArrowLeft": {37, "ArrowLeft", ""}, "ArrowRight": {39, "ArrowRight", ""}}

// Press presses a key: Tab, Enter, Space, Escape, ArrowLeft or ArrowRight.
func (b *Browser) Press(key string) error {
	for _, what := range []string{"keyDown", "keyUp"} {
		params := map[string]any{"type": what, "key": keys[key].key, "code": key,
			"windowsVirtualKeyCode": keys[key].code}
		if what == "keyDown" {
			params["text"] = keys[key].text
		}
		if err := b.call("Input.dispatchKeyEvent", params, nil); err != nil {
			return err
		}
	}
	return nil
}

// Asked returns the addresses requested since the page was opened.
func (b *Browser) Asked() []string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return append([]string(nil), b.asked...)
}

// Complaints returns the console messages and script errors of the page.
func (b *Browser) Complaints() []string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return append([]string(nil), b.complaints...)
}

// PNG returns an image of the top of the page. The width and the height are in pixels.
func (b *Browser) PNG(width, height int) ([]byte, error) {
	var answer struct{ Data string }
	if err := b.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true,
		"clip": map[string]any{"x": 0, "y": 0, "width": width, "height": height, "scale": 1}}, &answer); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(answer.Data)
}

// PDF returns the page as a PDF document.
func (b *Browser) PDF() ([]byte, error) {
	var answer struct{ Data string }
	if err := b.call("Page.printToPDF", map[string]any{"printBackground": true, "preferCSSPageSize": true},
		&answer); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(answer.Data)
}
