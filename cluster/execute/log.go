package execute

import (
	"errors"
	"fmt"

	"graft/internal/files"
)

// maxTail is the maximum size of the end of a log that is kept in memory while the middle is dropped.
const maxTail = 64 << 10

// boundedLog is the log of an attempt. Above its limit it keeps the beginning and the end. A write never fails: the
// task continues if its log cannot be written. The zero value drops everything.
type boundedLog struct {
	file    files.File
	head    int64 // bytes left for the beginning
	most    int   // maximum bytes of the end
	tail    []byte
	dropped int64 // bytes that are not kept
	err     error // first failure
}

// openLog opens a log to append to it. Its existing content counts towards the limit.
func openLog(fsys files.FS, path string, limit int64) *boundedLog {
	file, err := fsys.Append(path)
	if err != nil {
		return &boundedLog{err: err}
	}
	l := &boundedLog{file: file}
	info, err := file.Stat()
	if err != nil {
		l.err = err
		return l
	}
	room := max(0, limit-info.Size())
	l.most = int(min(room/2, maxTail))
	l.head = room - int64(l.most)
	return l
}

// Write implements [io.Writer].
func (l *boundedLog) Write(text []byte) (int, error) {
	now := text[:min(int64(len(text)), l.head)]
	l.head -= int64(len(now))
	l.write(now)
	l.keep(text[len(now):])
	return len(text), nil
}

// keep appends to the end, and drops its beginning at twice its maximum size.
func (l *boundedLog) keep(text []byte) {
	if over := len(text) - l.most; over > 0 {
		l.dropped += int64(over)
		text = text[over:]
	}
	l.tail = append(l.tail, text...)
	if len(l.tail) > 2*l.most {
		l.shorten()
	}
}

// shorten drops the excess of the end.
func (l *boundedLog) shorten() {
	if over := len(l.tail) - l.most; over > 0 {
		l.dropped += int64(over)
		l.tail = append(l.tail[:0], l.tail[over:]...)
	}
}

func (l *boundedLog) write(text []byte) {
	if l.err != nil || len(text) == 0 {
		l.dropped += int64(len(text))
		return
	}
	n, err := l.file.Write(text)
	if l.err = err; err != nil {
		l.dropped += int64(len(text) - n)
	}
}

// Close writes the end of the log and returns the number of bytes that the log omits.
func (l *boundedLog) Close() (dropped int64, err error) {
	l.shorten()
	if l.dropped > 0 && l.most > 0 {
		l.write(fmt.Appendf(nil, "\n[graft dropped %d bytes here: the log has reached its limit]\n", l.dropped))
	}
	l.write(l.tail)
	if l.file != nil {
		l.err = errors.Join(l.err, l.file.Close())
	}
	return l.dropped, l.err
}
