package weights

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// archive is the zip file of PyTorch's format: <name>/data.pkl, one record
// <name>/data/<key> for each storage, and a few small ones. See
// caffe2/serialize/inline_container.h in PyTorch.
type archive struct {
	records map[string]*zip.File // by the name without the archive's prefix
	size    int64                // size of the whole file
	left    int64                // bytes left for storages
	swap    bool                 // the storages are big-endian
}

// maxSmallRecord limits the records that hold a word or a number.
const maxSmallRecord = 64

// maxPickleRecord limits data.pkl; see the limits of package pickle.
const maxPickleRecord = 256 << 20

// ReadPTH reads PyTorch's zip format, which torch.save has written since version 1.6. Every tensor is read to the CPU,
// regardless of its original device.
func ReadPTH(r io.ReaderAt, size int64, opt Options) (*Set, error) {
	set, err := readPTH(r, size, opt.withDefaults(size))
	return set, doing("read the zip format of PyTorch", err)
}

func readPTH(r io.ReaderAt, size int64, opt Options) (*Set, error) {
	a, err := openArchive(r, size, opt)
	if err != nil {
		return nil, err
	}
	data, err := a.read("data.pkl", min(maxPickleRecord, opt.MaxBytes))
	if err != nil {
		return nil, err
	}
	g := newGraph(opt)
	value, err := g.readPickle(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("data.pkl: %w", err)
	}
	f, err := g.flatten(value)
	if err != nil {
		return nil, err
	}
	return f.set(PTH, a.load)
}

func openArchive(r io.ReaderAt, size int64, opt Options) (*archive, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("%w: the file may be truncated", err)
	}
	prefix, err := archivePrefix(z.File)
	if err != nil {
		return nil, err
	}
	a := &archive{records: make(map[string]*zip.File, len(z.File)), size: size, left: opt.MaxBytes}
	for _, file := range z.File {
		name, inside := strings.CutPrefix(file.Name, prefix)
		if !inside {
			continue
		}
		if a.records[name] != nil {
			return nil, fmt.Errorf("duplicate record %.200q", name)
		}
		a.records[name] = file
	}
	a.swap, err = a.isBigEndian()
	return a, err
}

// archivePrefix finds the folder of all records.
func archivePrefix(found []*zip.File) (string, error) {
	for _, file := range found {
		prefix, ok := strings.CutSuffix(file.Name, "data.pkl")
		if ok && strings.Count(prefix, "/") == 1 && strings.HasSuffix(prefix, "/") {
			return prefix, nil
		}
	}
	return "", errors.New("the zip file has no data.pkl: it was not written by torch.save")
}

// isBigEndian reads the byteorder record, which PyTorch writes since 2.0; before that, only little-endian machines were
// in use.
func (a *archive) isBigEndian() (bool, error) {
	if a.records["byteorder"] == nil {
		return false, nil
	}
	order, err := a.read("byteorder", maxSmallRecord)
	if err != nil {
		return false, err
	}
	switch string(order) {
	case "little":
		return false, nil
	case "big":
		return true, nil
	}
	return false, fmt.Errorf("the record byteorder is %q, expected little or big", order)
}

// load fills in a storage.
func (a *archive) load(s *storage) error {
	name := "data/" + s.key
	want := s.count * s.dtype.Size()
	if file := a.records[name]; file != nil && file.UncompressedSize64 != uint64(want) {
		return fmt.Errorf("record %.200q: got %d bytes, but %d items of %s take %d bytes",
			name, file.UncompressedSize64, s.count, s.dtype, want)
	}
	data, err := a.read(name, a.left)
	if err != nil {
		return err
	}
	a.left -= want
	if a.swap {
		swapBytes(data, s.dtype.Size())
	}
	s.data = data
	return nil
}

// read returns a record of at most limit bytes; its checksum is verified.
func (a *archive) read(name string, limit int64) ([]byte, error) {
	file := a.records[name]
	if file == nil {
		return nil, fmt.Errorf("the record %.200q is missing", name)
	}
	if file.UncompressedSize64 > uint64(limit) {
		return nil, fmt.Errorf("record %.200q: %d bytes exceed the limit of %d bytes; "+
			"raise Options.MaxBytes if the file can be trusted", name, file.UncompressedSize64, limit)
	}
	data, err := a.unpack(file)
	if errors.Is(err, zip.ErrChecksum) {
		err = fmt.Errorf("%w: the file is damaged, or was saved without checksums", err)
	}
	if err != nil {
		return nil, fmt.Errorf("record %.200q: %w", name, err)
	}
	return data, nil
}

// unpack allocates at most the file's size in advance, whatever size the directory states: a compressed record must
// deliver data before it gets more memory.
func (a *archive) unpack(file *zip.File) ([]byte, error) {
	in, err := file.Open()
	if err != nil {
		return nil, err
	}
	size := int64(file.UncompressedSize64)
	out := bytes.NewBuffer(make([]byte, 0, min(size, a.size)+bytes.MinRead))
	n, err := out.ReadFrom(io.LimitReader(in, size+1))
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, err
	}
	if n != size {
		return nil, fmt.Errorf("got %d bytes, expected %d, the size in the zip directory", n, size)
	}
	return out.Bytes(), nil
}
