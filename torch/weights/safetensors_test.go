package weights_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/torch/weights"
)

// safe returns a safetensors file of a header and data.
func safe(header, data string) []byte {
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(out, header+data...)
}

func TestReadSafetensors(t *testing.T) {
	data := safe(`{"b":{"dtype":"F32","shape":[1,2],"data_offsets":[3,11]},`+
		`"__metadata__":{"format":"pt"},"a":{"shape":[3],"data_offsets":[0,3],"dtype":"U8"},`+
		`"empty":{"dtype":"I64","shape":[0],"data_offsets":[3,3]},`+
		`"one":{"dtype":"BOOL","shape":[],"data_offsets":[11,12]}}   `, "abc12345678\x01")
	set, err := readBytes(data, weights.Options{})
	require.NoError(t, err)
	assert.Equal(t, &weights.Set{
		Format:   weights.Safetensors,
		Metadata: map[string]string{"format": "pt"},
		Tensors: []weights.Tensor{
			{Name: "b", DType: weights.Float32, Shape: []int64{1, 2}, Data: []byte("12345678")},
			{Name: "a", DType: weights.Uint8, Shape: []int64{3}, Data: []byte("abc")},
			{Name: "empty", DType: weights.Int64, Shape: []int64{0}, Data: []byte{}},
			{Name: "one", DType: weights.Bool, Shape: []int64{}, Data: []byte{1}},
		},
	}, set)
}

func TestReadHostileSafetensors(t *testing.T) {
	one := func(dtype, shape, offsets string) string {
		return `{"a":{"dtype":"` + dtype + `","shape":` + shape + `,"data_offsets":` + offsets + `}}`
	}
	u8 := func(name, offsets string) string {
		return `"` + name + `":{"dtype":"U8","shape":[2],"data_offsets":` + offsets + `}`
	}
	cases := map[string]struct{ header, data, want string }{
		"an overlap": {"{" + u8("a", "[0,2]") + "," + u8("b", "[1,3]") + "}", "123", "overlap"},
		"a hole": {"{" + u8("a", "[0,2]") + "," + u8("b", "[3,5]") + "}", "12345",
			"belong to no tensor"},
		"a hole at the start":     {"{" + u8("a", "[1,3]") + "}", "123", "belong to no tensor"},
		"bytes after the last":    {"{" + u8("a", "[0,2]") + "}", "123", "1 bytes of data belong to no tensor"},
		"an end outside":          {one("U8", "[4]", "[0,4]"), "123", "invalid end of the data"},
		"an end before the begin": {one("U8", "[0]", "[0,-1]"), "", "is not a whole number of at least 0"},
		"ends turned around": {"{" + u8("a", "[0,2]") + `,"b":{"dtype":"U8","shape":[0],"data_offsets":[2,1]}}`, "12",
			"invalid end of the data"},
		"a length that does not fit": {one("F32", "[1]", "[0,3]"), "123", "takes 4 bytes, got 3"},
		"a shape that overflows": {one("U8", "[4294967296,4294967296,2]", "[0,0]"), "",
			"too many items"},
		"the same behind a zero": {one("U8", "[0,4294967296,4294967296]", "[0,0]"), "",
			"too many items"},
		"bytes that overflow":     {one("F64", "[4611686018427387904]", "[0,0]"), "", "too many items"},
		"a size beyond int64":     {one("U8", "[99999999999999999999]", "[0,0]"), "", "too large"},
		"a size with a point":     {one("U8", "[1.0]", "[0,1]"), "1", "is not a whole number of at least 0"},
		"a size that is a text":   {one("U8", `["1"]`, "[0,1]"), "1", "expected a list of at most"},
		"three offsets":           {one("U8", "[1]", "[0,1,2]"), "1", "at most 2"},
		"one offset":              {one("U8", "[1]", "[0]"), "1", "must be two numbers"},
		"an unknown type":         {one("F8_E4M3", "[1]", "[0,1]"), "1", "convert the tensor"},
		"a type in small letters": {one("u8", "[1]", "[0,1]"), "1", "convert the tensor"},
		"two tensors of one name": {"{" + u8("a", "[0,2]") + "," + u8("a", "[2,4]") + "}", "1234",
			`duplicate key "a"`},
		"one name in two spellings": {"{" + u8("a", "[0,2]") + "," + u8(`\u0061`, "[2,4]") + "}", "1234",
			`duplicate key "a"`},
		"a field twice": {`{"a":{"dtype":"U8","dtype":"U8","shape":[],"data_offsets":[0,1]}}`, "1",
			`duplicate key "dtype"`},
		"a field in another spelling": {`{"a":{"DType":"U8","shape":[],"data_offsets":[0,1]}}`, "1", "unknown field"},
		"a field that is missing":     {`{"a":{"dtype":"U8","shape":[]}}`, "", "missing"},
		"metadata that are no texts":  {`{"__metadata__":{"a":1}}`, "", "expected a string"},
		"something after the object":  {`{}{}`, "", "extra data after"},
		"an array":                    {`[]`, "", "opening brace"},
		"nothing":                     {``, "", "opening brace"},
		"an object that does not end": {`{"a":`, "", "header"},
		"a header that is not UTF-8":  {"{\"\xff\":1}", "", "UTF-8"},
		"an entry that is no object":  {`{"a":7}`, "", "expected {"},
		"nesting where none should be": {`{"a":{"dtype":` + strings.Repeat("[", 1000) + `}}`, "",
			"expected a string"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			data := safe(c.header, c.data)
			_, err := weights.ReadSafetensors(bytes.NewReader(data), int64(len(data)), weights.Options{})
			assert.ErrorContains(t, err, c.want)
		})
	}
}

func TestFalseHeaderLengths(t *testing.T) {
	for _, length := range []uint64{1 << 63, 100_000_001, 99_999_999, 3} {
		data := append(binary.LittleEndian.AppendUint64(nil, length), "{}"...)
		_, err := weights.ReadSafetensors(bytes.NewReader(data), int64(len(data)), weights.Options{})
		assert.ErrorContains(t, err, "the header length is", "%d", length)
	}
}

func TestSafetensorsLimits(t *testing.T) {
	data := safe(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[0],`+
		`"data_offsets":[2,2]}}`, "12")
	_, err := readBytes(data, weights.Options{MaxBytes: 1})
	assert.ErrorContains(t, err, "Options.MaxBytes")
	_, err = readBytes(data, weights.Options{MaxTensors: 1})
	assert.ErrorContains(t, err, "Options.MaxTensors")
}

func TestWriteSafetensorsIsAlignedAndKeepsTheOrder(t *testing.T) {
	set := &weights.Set{
		Metadata: map[string]string{"z": "1", "a": "<&>"},
		Tensors: []weights.Tensor{
			{Name: "flag", DType: weights.Bool, Shape: []int64{1}, Data: []byte{1}},
			{Name: "wide", DType: weights.Int64, Data: make([]byte, 8)},
			{Name: "half", DType: weights.Float16, Shape: []int64{1}, Data: make([]byte, 2)},
		},
	}
	var out bytes.Buffer
	require.NoError(t, weights.WriteSafetensors(&out, set))
	length := binary.LittleEndian.Uint64(out.Bytes())
	assert.Zero(t, length%8)
	assert.Equal(t, `{"__metadata__":{"a":"<&>","z":"1"},`+
		`"flag":{"dtype":"BOOL","shape":[1],"data_offsets":[10,11]},`+
		`"wide":{"dtype":"I64","shape":[],"data_offsets":[0,8]},`+
		`"half":{"dtype":"F16","shape":[1],"data_offsets":[8,10]}}`,
		strings.TrimRight(string(out.Bytes()[8:8+length]), " "))
	again, err := readBytes(out.Bytes(), weights.Options{})
	require.NoError(t, err)
	assert.Equal(t, set.Metadata, again.Metadata)
	assert.Equal(t, []byte{1}, again.Tensors[0].Data)
}

func TestWriteSafetensorsRefuses(t *testing.T) {
	one := func(name string) *weights.Set {
		return &weights.Set{Tensors: []weights.Tensor{{Name: name, DType: weights.Uint8, Data: []byte{1}}}}
	}
	assert.ErrorContains(t, weights.WriteSafetensors(&bytes.Buffer{}, one("__metadata__")), "rename")
	assert.ErrorContains(t, weights.WriteSafetensors(&bytes.Buffer{}, one("\xff")), "UTF-8")
	set := one("a")
	set.Metadata = map[string]string{"k": "\xff"}
	assert.ErrorContains(t, weights.WriteSafetensors(&bytes.Buffer{}, set), "UTF-8")
}

func FuzzReadSafetensors(f *testing.F) {
	set, err := readBytes(fixture(f, "current.pth"), weights.Options{})
	require.NoError(f, err)
	var out bytes.Buffer
	require.NoError(f, weights.WriteSafetensors(&out, set))
	f.Add(out.Bytes())
	f.Add(safe(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, "12"))
	f.Add(safe(`{"__metadata__":{"a":"b"}}`, ""))
	f.Fuzz(func(t *testing.T, data []byte) {
		set, err := weights.ReadSafetensors(bytes.NewReader(data), int64(len(data)), weights.Options{MaxBytes: 1 << 20})
		if err == nil {
			checkRewrites(t, set)
		}
	})
}
