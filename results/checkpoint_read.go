package results

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"graft/internal/files"
)

// ErrDamaged reports that a checkpoint was changed after it was written.
var ErrDamaged error = damage{}

type damage struct{}

// Error returns a fixed message; wrapping errors add the path.
func (damage) Error() string { return "the checkpoint is damaged" }

// Damaged marks errors that wrap ErrDamaged, so that the program exits with the code for damaged files.
func (damage) Damaged() bool { return true }

// Checkpoint is an open checkpoint with a valid checksum. It keeps its file open until Close. The zero value is not
// usable.
type Checkpoint struct {
	CheckpointInfo
	// Streams maps the file name of each table and log to its length at the checkpoint.
	Streams map[string]Mark
	// Damaged holds the errors of newer checkpoints that were skipped. Nil means that none were skipped.
	Damaged []error

	file     io.Closer
	names    []string
	sections map[string]*io.SectionReader
}

// ReadCheckpoint opens and verifies a checkpoint file. If the file is damaged, the error wraps ErrDamaged.
func ReadCheckpoint(fsys files.FS, path string) (*Checkpoint, error) {
	file, err := fsys.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read checkpoint: %w", err)
	}
	c := &Checkpoint{file: file}
	info, err := file.Stat()
	if err == nil {
		c.CheckpointInfo = checkpointInfo(path)
		c.Bytes = info.Size()
		err = c.read(file, info.Size())
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("read checkpoint %s: %w", path, err), file.Close())
	}
	return c, nil
}

// read verifies a whole checkpoint and finds its sections.
func (c *Checkpoint) read(r io.ReaderAt, size int64) error {
	if size < int64(checkpointHead+checkpointTail) {
		return fmt.Errorf("%w: the file has only %d bytes", ErrDamaged, size)
	}
	if err := checkHead(r); err != nil {
		return err
	}
	if err := checkSum(r, size); err != nil {
		return err
	}
	index, end, err := readIndex(r, size)
	if err != nil {
		return err
	}
	if err := c.place(r, index, end); err != nil {
		return err
	}
	return c.readMarks()
}

func checkHead(r io.ReaderAt) error {
	head := make([]byte, checkpointHead)
	if _, err := r.ReadAt(head, 0); err != nil {
		return err
	}
	if !bytes.HasPrefix(head, []byte(checkpointMagic)) {
		return fmt.Errorf("%w: the checkpoint header is missing", ErrDamaged)
	}
	version := binary.LittleEndian.Uint32(head[len(checkpointMagic):])
	if version != checkpointVersion {
		return fmt.Errorf("unsupported format %d; expected %d; use the version of graft that wrote the checkpoint",
			version,
			checkpointVersion)
	}
	return nil
}

// checkSum reads the whole file once, in pieces.
func checkSum(r io.ReaderAt, size int64) error {
	sum := sha256.New()
	body := io.NewSectionReader(r, 0, size-sha256.Size)
	if _, err := io.CopyBuffer(sum, onlyReader{body}, make([]byte, readBuffer)); err != nil {
		return err
	}
	var want [sha256.Size]byte
	if _, err := r.ReadAt(want[:], size-sha256.Size); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if !bytes.Equal(sum.Sum(nil), want[:]) {
		return fmt.Errorf("%w: checksum mismatch", ErrDamaged)
	}
	return nil
}

// onlyReader hides WriteTo, which would use a small buffer.
type onlyReader struct{ io.Reader }

// readIndex returns the index and the end of the sections.
func readIndex(r io.ReaderAt, size int64) (checkpointIndex, int64, error) {
	var index checkpointIndex
	var tail [8]byte
	if _, err := r.ReadAt(tail[:], size-int64(checkpointTail)); err != nil {
		return index, 0, err
	}
	length := binary.LittleEndian.Uint64(tail[:])
	room := size - int64(checkpointHead+checkpointTail)
	if length > uint64(min(room, maxIndex)) {
		return index, 0, fmt.Errorf("%w: the index of %d bytes is too large", ErrDamaged, length)
	}
	end := size - int64(checkpointTail) - int64(length)
	text := make([]byte, length)
	if _, err := r.ReadAt(text, end); err != nil {
		return index, 0, err
	}
	if err := json.Unmarshal(text, &index); err != nil {
		return index, 0, fmt.Errorf("%w: index: %w", ErrDamaged, err)
	}
	return index, end, nil
}

// place locates the sections, which must fill the space between head and index.
func (c *Checkpoint) place(r io.ReaderAt, index checkpointIndex, end int64) error {
	c.sections = make(map[string]*io.SectionReader, len(index.Sections))
	at := int64(checkpointHead)
	for _, s := range index.Sections {
		if c.sections[s.Name] != nil || s.Length < 0 || s.Length > end-at {
			return fmt.Errorf("%w: section %q with %d bytes is a duplicate or has an invalid size", ErrDamaged, s.Name,
				s.Length)
		}
		c.sections[s.Name] = io.NewSectionReader(r, at, s.Length)
		at += s.Length
		if s.Name != marksSection {
			c.names = append(c.names, s.Name)
		}
	}
	if at != end {
		return fmt.Errorf("%w: %d bytes do not belong to any section", ErrDamaged, end-at)
	}
	return nil
}

func (c *Checkpoint) readMarks() error {
	if err := c.JSON(marksSection, &c.Streams); err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	for name, mark := range c.Streams {
		base, _ := splitStream(name)
		if err := checkName(base); err != nil || mark.Rows < 0 {
			return fmt.Errorf("%w: table %q with %d rows is invalid; expected a valid name and at least 0 rows",
				ErrDamaged,
				name, mark.Rows)
		}
	}
	return nil
}

// Sections returns the names of the sections in the order in which they were written.
func (c *Checkpoint) Sections() []string { return slices.Clone(c.names) }

// Section returns a new reader of a section, for sequential or random access. The reader is valid until Close.
func (c *Checkpoint) Section(name string) (*io.SectionReader, error) {
	s := c.sections[name]
	if s == nil {
		return nil, fmt.Errorf("checkpoint %s has no section %q; expected one of: %q", c.Name, name, c.names)
	}
	return io.NewSectionReader(s, 0, s.Size()), nil
}

// ReadSection returns the content of a section.
func (c *Checkpoint) ReadSection(name string) ([]byte, error) {
	s, err := c.Section(name)
	if err != nil {
		return nil, err
	}
	data := make([]byte, s.Size()) // at most the size of the file
	if _, err := io.ReadFull(s, data); err != nil {
		return nil, fmt.Errorf("checkpoint %s: section %q: %w", c.Name, name, err)
	}
	return data, nil
}

// JSON decodes a section that contains JSON.
func (c *Checkpoint) JSON(name string, into any) error {
	data, err := c.ReadSection(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("checkpoint %s: section %q: %w", c.Name, name, err)
	}
	return nil
}

// Close closes the file.
func (c *Checkpoint) Close() error { return c.file.Close() }
