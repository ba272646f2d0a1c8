package weights

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/big"
	"strconv"

	"graft/torch/pickle"
)

const (
	// archiveName is the folder of the records, as named by torch.save if the file has no name.
	archiveName = "archive/"
	// storageAlignment lets a storage be mapped into memory directly (kFieldAlignment in PyTorch's
	// caffe2/serialize/inline_container.h).
	storageAlignment = 64
	// formatVersion is the version that PyTorch writes since 1.6
	// (kProducedFileFormatVersion in caffe2/serialize/versions.h).
	formatVersion = "3\n"
	// localHeader is the fixed part of a zip record's header (APPNOTE.TXT of PKWARE, 4.3.7), and fieldHeader the fixed
	// part of an extra field's header (4.5.1).
	localHeader = 30
	fieldHeader = 4
)

// paddingField is the kind of extra field that PyTorch pads records with: "FB".
var paddingField = []byte("FB")

// WritePTH writes PyTorch's zip format: an OrderedDict of contiguous CPU tensors, which torch.load accepts with
// weights_only=True. Equal sets produce equal bytes. The metadata of the set is not written. Tensors that share memory
// are written separately.
func WritePTH(w io.Writer, set *Set) error {
	err := set.Validate()
	if err == nil {
		err = writePTH(w, set)
	}
	return doing("write the zip format of PyTorch", err)
}

func writePTH(w io.Writer, set *Set) error {
	var object bytes.Buffer
	state, err := stateDict(set)
	if err != nil {
		return err
	}
	if err := pickle.Write(&object, state); err != nil {
		return err
	}
	z := &recordWriter{zip: zip.NewWriter(w)}
	z.write("data.pkl", object.Bytes())
	z.write("byteorder", []byte("little"))
	for i, t := range set.Tensors {
		z.write("data/"+strconv.Itoa(i), t.Data)
	}
	z.write("version", []byte(formatVersion))
	z.write(".data/serialization_id", serializationID(object.Bytes(), z.sums))
	if z.err != nil {
		return z.err
	}
	return z.zip.Close()
}

// stateDict is the object of the file. The storage of tensor i has the key i.
func stateDict(set *Set) (*pickle.Dict, error) {
	dict := &pickle.Dict{Ordered: true}
	for i, t := range set.Tensors {
		if err := dict.Set(t.Name, tensorCall(t, strconv.Itoa(i))); err != nil {
			return nil, err
		}
	}
	return dict, nil
}

// tensorCall is _rebuild_tensor_v2(storage, offset, size, stride,
// requires_grad, backward_hooks) of PyTorch's torch/_utils.py.
func tensorCall(t Tensor, key string) pickle.Reduce {
	class := pickle.Global{Module: "torch", Name: formats[t.DType].storage}
	storage := pickle.Persistent{ID: pickle.Tuple{"storage", class, key, "cpu", t.Count()}}
	return pickle.Reduce{
		Callable: pickle.Global{Module: "torch._utils", Name: "_rebuild_tensor_v2"},
		Args: pickle.Tuple{storage, 0, asTuple(t.Shape), asTuple(contiguousStrides(t.Shape)),
			false, &pickle.Dict{Ordered: true}},
	}
}

func asTuple(ints []int64) pickle.Tuple {
	out := make(pickle.Tuple, len(ints))
	for i, n := range ints {
		out[i] = n
	}
	return out
}

// contiguousStrides counts a size of zero as one, as LibTorch does.
func contiguousStrides(shape []int64) []int64 {
	strides := make([]int64, len(shape))
	stride := int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		strides[i] = stride
		stride *= max(shape[i], 1)
	}
	return strides
}

// serializationID is 40 digits that differ between files with different content; PyTorch only uses it to count files.
func serializationID(object []byte, sums []byte) []byte {
	sum := sha256.Sum256(append(sums, object...))
	const digits = 40
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(digits), nil)
	id := new(big.Int).Mod(new(big.Int).SetBytes(sum[:]), limit)
	return fmt.Appendf(nil, "%0*s", digits, id.String())
}

// recordWriter writes uncompressed, aligned records and keeps the first error.
type recordWriter struct {
	zip  *zip.Writer
	at   int64  // bytes of the records so far
	sums []byte // their checksums
	err  error
}

func (z *recordWriter) write(name string, data []byte) {
	if z.err != nil {
		return
	}
	if err := z.writeRecord(archiveName+name, data); err != nil {
		z.err = fmt.Errorf("record %q: %w", name, err)
	}
}

func (z *recordWriter) writeRecord(name string, data []byte) error {
	if int64(len(data)) >= math.MaxUint32 {
		return fmt.Errorf("the record has %d bytes, more than the format allows; write safetensors instead", len(data))
	}
	sum := crc32.ChecksumIEEE(data)
	z.sums = append(z.sums, byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24))
	extra := padding(z.at + localHeader + int64(len(name)) + fieldHeader)
	record, err := z.zip.CreateRaw(&zip.FileHeader{
		Name: name, Method: zip.Store, CRC32: sum, Extra: extra,
		CompressedSize64: uint64(len(data)), UncompressedSize64: uint64(len(data)),
	})
	if err != nil {
		return err
	}
	z.at += localHeader + int64(len(name)+len(extra)+len(data))
	_, err = record.Write(data)
	return err
}

// padding is an extra field that moves data from position, their place with an empty field, to a multiple of the
// alignment.
func padding(position int64) []byte {
	size := (storageAlignment - position%storageAlignment) % storageAlignment
	field := append([]byte{}, paddingField...)
	field = append(field, byte(size), 0)
	return append(field, bytes.Repeat([]byte("Z"), int(size))...)
}
