package results

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
)

// Constants of the format of a checkpoint, which the package comment describes.
const (
	checkpointMagic   = "GRAFTCKP"
	checkpointVersion = 1
	checkpointHead    = len(checkpointMagic) + 4
	checkpointTail    = 8 + sha256.Size
	// maxIndex limits the bytes of a checkpoint's index.
	maxIndex = 1 << 20
	// maxSectionName limits a section's name, in bytes.
	maxSectionName = 200
	// marksSection holds the Mark of each table and log.
	marksSection = registryName
)

// Mark is the length of a table or log at a checkpoint.
type Mark struct {
	Rows   int    `json:"rows"`   // number of rows
	SHA256 string `json:"sha256"` // digest of the rows, in hexadecimal; empty skips the check
}

// checkpointIndex lists the sections in order.
type checkpointIndex struct {
	Sections []sectionEntry `json:"sections"`
}

type sectionEntry struct {
	Name   string `json:"name"`
	Length int64  `json:"length"` // in bytes
}

// CheckpointWriter writes the sections of a checkpoint. SaveCheckpoint and WriteCheckpoint pass it to the function that
// fills a checkpoint. The zero value is not usable.
type CheckpointWriter struct {
	out   io.Writer
	sum   hash.Hash
	index checkpointIndex
}

// writeCheckpoint writes a whole checkpoint.
func writeCheckpoint(out io.Writer, marks map[string]Mark, parts func(*CheckpointWriter) error) error {
	w := &CheckpointWriter{out: out, sum: sha256.New()}
	head := binary.LittleEndian.AppendUint32([]byte(checkpointMagic), checkpointVersion)
	if err := w.write(head); err != nil {
		return err
	}
	text, err := json.Marshal(marks)
	if err == nil {
		err = w.bytes(marksSection, text)
	}
	if err != nil {
		return err
	}
	if err := parts(w); err != nil {
		return err
	}
	return w.finish()
}

// finish writes the index and the checksum.
func (w *CheckpointWriter) finish() error {
	index, err := json.Marshal(w.index)
	if err != nil {
		return err
	}
	if len(index) > maxIndex {
		return fmt.Errorf("the index of %d sections has %d bytes; expected at most %d; write fewer sections",
			len(w.index.Sections), len(index), maxIndex)
	}
	if err := w.write(binary.LittleEndian.AppendUint64(index, uint64(len(index)))); err != nil {
		return err
	}
	_, err = w.out.Write(w.sum.Sum(nil))
	return err
}

func (w *CheckpointWriter) write(data []byte) error {
	n, err := w.out.Write(data)
	w.sum.Write(data[:n])
	return err
}

// Section starts a section. Writes go to this section until the next section starts. Names must be unique and not
// empty.
func (w *CheckpointWriter) Section(name string) (io.Writer, error) {
	if name == marksSection {
		return nil, fmt.Errorf("section name %q is reserved; choose another name", name)
	}
	return w.section(name)
}

func (w *CheckpointWriter) section(name string) (io.Writer, error) {
	if name == "" || len(name) > maxSectionName {
		return nil, fmt.Errorf("section name %q has %d bytes; expected 1 to %d", name, len(name), maxSectionName)
	}
	if slices.ContainsFunc(w.index.Sections, func(s sectionEntry) bool { return s.Name == name }) {
		return nil, fmt.Errorf("duplicate section %q; choose another name", name)
	}
	w.index.Sections = append(w.index.Sections, sectionEntry{Name: name})
	return &sectionWriter{w, len(w.index.Sections) - 1}, nil
}

// Bytes writes a complete section.
func (w *CheckpointWriter) Bytes(name string, data []byte) error {
	if name == marksSection {
		_, err := w.Section(name)
		return err
	}
	return w.bytes(name, data)
}

func (w *CheckpointWriter) bytes(name string, data []byte) error {
	out, err := w.section(name)
	if err == nil {
		_, err = out.Write(data)
	}
	return err
}

// JSON writes a value as a section.
func (w *CheckpointWriter) JSON(name string, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("section %q: %w", name, err)
	}
	return w.Bytes(name, text)
}

// sectionWriter counts the bytes of a section.
type sectionWriter struct {
	w     *CheckpointWriter
	index int
}

// errSectionOver is the error of writes to a section after the next one has started.
var errSectionOver = errors.New("write to a finished section: another section has started")

func (s *sectionWriter) Write(data []byte) (int, error) {
	if s.index != len(s.w.index.Sections)-1 {
		return 0, errSectionOver
	}
	n, err := s.w.out.Write(data)
	s.w.sum.Write(data[:n])
	s.w.index.Sections[s.index].Length += int64(n)
	return n, err
}
