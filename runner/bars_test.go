package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"
	"unsafe"

	"github.com/stretchr/testify/require"

	"graft/internal/failure"
)

// terminal opens both ends of a pseudo-terminal of the given size.
func terminal(t *testing.T, columns, rows uint16) (inside, outside *os.File) {
	t.Helper()
	outside, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("left out: drawing on a terminal; /dev/ptmx cannot be opened: mount devpts")
	}
	t.Cleanup(func() { _ = outside.Close() })
	control := func(request uintptr, argument unsafe.Pointer) {
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, outside.Fd(), request, uintptr(argument))
		require.Zero(t, errno)
	}
	var unlock, number int32
	control(syscall.TIOCSPTLCK, unsafe.Pointer(&unlock))
	control(syscall.TIOCGPTN, unsafe.Pointer(&number))
	inside, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	size := [4]uint16{rows, columns}
	control(syscall.TIOCSWINSZ, unsafe.Pointer(&size))
	return inside, outside
}

// drawn runs a command line with a terminal as stderr and returns the output to the terminal.
func drawn(t *testing.T, columns uint16, args ...string) string {
	t.Helper()
	inside, outside := terminal(t, columns, 20)
	read := make(chan string, 1)
	go func() {
		var all bytes.Buffer
		_, _ = io.Copy(&all, outside) // ends with an error when the other end closes
		read <- all.String()
	}()
	code := execute(t.Context(), newRootCommand(), args, io.Discard, inside)
	require.Equal(t, failure.Done, code)
	require.NoError(t, inside.Close())
	return receive(t, read)
}

// escape is a sequence that moves the cursor, erases or colours.
var escape = regexp.MustCompile("^\x1b\\[([0-9]*)([A-Za-z])")

// emulate returns the final screen of a terminal, line by line. It supports only the escape sequences that graft uses.
func emulate(t *testing.T, text string) []string {
	lines, row := []string{""}, 0
	for text != "" {
		switch m := escape.FindStringSubmatch(text); {
		case m != nil:
			n := 1
			_, _ = fmt.Sscan(m[1], &n)
			switch m[2] {
			case "A":
				row -= n
				require.GreaterOrEqual(t, row, 0, "the cursor leaves the screen")
			case "J":
				lines = lines[:row+1]
				lines[row] = ""
			case "m":
			default:
				require.Fail(t, "an unknown sequence", "%q", m[0])
			}
			text = text[len(m[0]):]
		case strings.HasPrefix(text, "\r\n"):
			row++
			if row == len(lines) {
				lines = append(lines, "")
			}
			text = text[2:]
		default:
			_, size := utf8.DecodeRuneInString(text)
			lines[row] += text[:size]
			text = text[size:]
		}
	}
	return lines
}

var logLine = regexp.MustCompile(`^\d\d:\d\d:\d\d\t(INFO|DEBUG)\t[a-z ]+(\t\{.*\})?$`)

// On a terminal, the bar and the facts are drawn below the log, whose lines stay whole. At the end, the bar is erased.
func TestBarsOnATerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	for columns, noColor := range map[uint16]string{100: "", 24: "1"} {
		t.Setenv("NO_COLOR", noColor)
		args := brief(filepath.Join(t.TempDir(), "run"), "--verbose", "--set", "time.budget=1500ms")
		text := drawn(t, columns, append(args[:1], args[2:]...)...) // without --quiet
		shown := emulate(t, text)
		require.Empty(t, shown[len(shown)-1])
		for _, line := range shown[:len(shown)-1] {
			require.Regexp(t, logLine, line)
		}
		for _, words := range []string{"start", "up", "decision", "down", "shrink", "end"} {
			require.Contains(t, strings.Join(shown, "\n"), "\tINFO\t"+words+"\t")
		}
		frames := 0
		for line := range strings.SplitSeq(regexp.MustCompile("\x1b\\[[0-9]*[A-Za-z]").ReplaceAllString(text, ""),
			"\r\n") {
			if logLine.MatchString(line) {
				continue
			}
			require.LessOrEqual(t, utf8.RuneCountInString(line), int(columns), line)
			if strings.HasSuffix(line, "s of 1.5 s left") {
				frames++
			}
		}
		require.Positive(t, frames)
		require.Equal(t, noColor == "", strings.Contains(text, "\x1b[36m"))
	}
}

// Bars are drawn only on a capable terminal of known size, and not with --quiet.
func TestBarsWhereTheyAreWanted(t *testing.T) {
	inside, _ := terminal(t, 80, 24)
	defer inside.Close()
	tiny, _ := terminal(t, 0, 0)
	defer tiny.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer null.Close()
	t.Setenv("TERM", "xterm")
	require.True(t, drawable(&screen{w: inside}))
	require.False(t, drawable(&screen{w: inside, logOptions: logOptions{quiet: true}}))
	require.False(t, drawable(&screen{w: tiny}), "it does not say how large it is")
	require.False(t, drawable(&screen{w: null}))
	require.False(t, drawable(&screen{w: new(bytes.Buffer)}))
	require.False(t, isTerminal(null))
	t.Setenv("TERM", "dumb")
	require.False(t, drawable(&screen{w: inside}))
}
