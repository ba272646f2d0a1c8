package weights

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math/big"

	"graft/torch/pickle"
)

// legacyMagic and legacyProtocol start each file of PyTorch before 1.6; see MAGIC_NUMBER and PROTOCOL_VERSION in
// torch/serialization.py.
const (
	legacyMagic    = "1950a86a20f9469cfc6c"
	legacyProtocol = 1001
)

// legacy is such a file, read from front to back: pickles of the magic number,
// the protocol, facts about the machine, the object and the keys of its
// storages, and then the storages themselves.
type legacy struct {
	in    *bufio.Reader
	under *io.SectionReader
	graph *graph
}

// ReadPTHLegacy reads the format of PyTorch before 1.6, which torch.save still writes with
// _use_new_zipfile_serialization=False.
func ReadPTHLegacy(r io.ReaderAt, size int64, opt Options) (*Set, error) {
	under := io.NewSectionReader(r, 0, size)
	l := &legacy{in: bufio.NewReader(under), under: under, graph: newGraph(opt.withDefaults(size))}
	set, err := l.read()
	return set, doing("read the legacy format of PyTorch", err)
}

func (l *legacy) read() (*Set, error) {
	if err := l.readHeader(); err != nil {
		return nil, err
	}
	value, err := l.graph.readPickle(l.in)
	if err != nil {
		return nil, fmt.Errorf("read the saved object: %w", err)
	}
	f, err := l.graph.flatten(value)
	if err != nil {
		return nil, err
	}
	if err := l.readStorages(); err != nil {
		return nil, err
	}
	return f.set(PTHLegacy, func(s *storage) error {
		return fmt.Errorf("storage %.100q is not in the file", s.key)
	})
}

// readHeader also skips the facts about the machine. Their byte order does not matter: PyTorch converts storages to
// little-endian when it writes them (THPStorage_writeFileRaw in torch/csrc/serialization.cpp).
func (l *legacy) readHeader() error {
	magic, err := pickle.Read(l.in, pickle.Options{})
	if err != nil {
		return fmt.Errorf("read the magic number: %w", err)
	}
	if n, ok := magic.(*big.Int); !ok || n.Text(16) != legacyMagic {
		return fmt.Errorf("the file is a pickle without the magic number of torch.save")
	}
	protocol, err := pickle.Read(l.in, pickle.Options{})
	if err != nil {
		return fmt.Errorf("read the protocol version: %w", err)
	}
	if protocol != int64(legacyProtocol) {
		return fmt.Errorf("the protocol version is %.40v, expected %d", protocol, legacyProtocol)
	}
	if _, err := pickle.Read(l.in, pickle.Options{}); err != nil {
		return fmt.Errorf("read the machine description: %w", err)
	}
	return nil
}

func (l *legacy) readStorages() error {
	value, err := pickle.Read(l.in, pickle.Options{})
	if err != nil {
		return fmt.Errorf("read the storage keys: %w", err)
	}
	keys, err := pickle.As[*pickle.List](value)
	if err != nil {
		return fmt.Errorf("read the storage keys: %w", err)
	}
	for _, key := range keys.Items {
		if err := l.readStorage(key); err != nil {
			return fmt.Errorf("storage %.100v: %w", key, err)
		}
	}
	if rest := l.rest(); rest != 0 {
		return fmt.Errorf("%d bytes follow the last storage", rest)
	}
	return nil
}

// rest is the number of bytes not read yet.
func (l *legacy) rest() int64 {
	at, _ := l.under.Seek(0, io.SeekCurrent) // cannot fail
	return l.under.Size() - at + int64(l.in.Buffered())
}

// readStorage reads a storage: its number of items in 8 bytes, then the items.
func (l *legacy) readStorage(key any) error {
	name, ok := key.(string)
	s := l.graph.storages[name]
	if !ok || s == nil || s.loaded {
		return fmt.Errorf("the saved object does not use this storage, or the storage is a duplicate")
	}
	var head [8]byte
	if _, err := io.ReadFull(l.in, head[:]); err != nil {
		return fmt.Errorf("read the length: %w", err)
	}
	if n := binary.LittleEndian.Uint64(head[:]); n != uint64(s.count) {
		return fmt.Errorf("got %d items, expected %d, the number in the saved object", n, s.count)
	}
	bytes := s.count * s.dtype.Size()
	if rest := l.rest(); bytes > rest {
		return fmt.Errorf("the storage has %d bytes, but only %d bytes are left: %w", bytes, rest, io.ErrUnexpectedEOF)
	}
	if bytes > l.graph.opt.MaxBytes {
		return fmt.Errorf("the storage has %d bytes, more than Options.MaxBytes = %d", bytes, l.graph.opt.MaxBytes)
	}
	s.data, s.loaded = make([]byte, bytes), true
	_, err := io.ReadFull(l.in, s.data)
	return err
}
