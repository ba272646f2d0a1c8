package pickle_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/torch/pickle"
)

func TestHostilePickles(t *testing.T) {
	small := pickle.Options{MaxBytes: 1 << 16, MaxString: 1 << 12, MaxStack: 100, MaxMemo: 10, MaxObjects: 1000}
	cases := map[string]struct {
		data string
		want error
	}{
		"a function of the system is called": {"cos\nsystem\n(S'true'\ntR.", pickle.ErrForbidden},
		"the same by its two names on the stack": {"\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.",
			pickle.ErrForbidden},
		"the same as an instance":        {"(S'true'\nios\nsystem\n.", pickle.ErrForbidden},
		"the same as an object":          {"(cos\nsystem\nS'true'\no.", pickle.ErrForbidden},
		"a state is attached to a list":  {"]}b.", pickle.ErrForbidden},
		"a state is attached to a class": {"cos\nsystem\n}b.", pickle.ErrForbidden},
		"the extension registry":         {"\x82\x01.", pickle.ErrForbidden},
		"an out-of-band buffer":          {"\x97.", pickle.ErrForbidden},
		"a persistent id without a hook": {"Pseven\n.", pickle.ErrForbidden},
		"named arguments": {"ccollections\nOrderedDict\n)}K\x01K\x02s\x92.",
			pickle.ErrForbidden},
		"a number is called":                        {"K\x01)R.", pickle.ErrFormat},
		"no opcode":                                 {"\xff.", pickle.ErrFormat},
		"a protocol from the future":                {"\x80\x06.", pickle.ErrFormat},
		"nothing on the stack":                      {".", pickle.ErrFormat},
		"a mark as the result":                      {"(.", pickle.ErrFormat},
		"a pop below the bottom":                    {"0.", pickle.ErrFormat},
		"no mark":                                   {"K\x01t.", pickle.ErrFormat},
		"a reference to nothing":                    {"h\x07.", pickle.ErrFormat},
		"a list as a key":                           {"}]K\x01s.", pickle.ErrFormat},
		"a key without a value":                     {"}(K\x01u.", pickle.ErrFormat},
		"items for a number":                        {"K\x01K\x02a.", pickle.ErrFormat},
		"items for a frozen set":                    {"(\x91(K\x01\x90.", pickle.ErrFormat},
		"text that is not UTF-8":                    {"\x8c\x01\xff.", pickle.ErrFormat},
		"an int that is none":                       {"Ione\n.", pickle.ErrFormat},
		"bytes beyond Latin-1":                      {"c_codecs\nencode\n(V\\u2603\nS'latin1'\ntR.", pickle.ErrFormat},
		"a length of four gigabytes":                {"X\xff\xff\xff\xffabc", pickle.ErrLimit},
		"a length of 2^64":                          {"\x8e\xff\xff\xff\xff\xff\xff\xff\xff", pickle.ErrLimit},
		"an int of four gigabytes":                  {"\x8b\xff\xff\xff\xff", pickle.ErrFormat},
		"a line without end":                        {"I" + strings.Repeat("1", 1<<13), pickle.ErrLimit},
		"a deep stack":                              {strings.Repeat("(", 200), pickle.ErrLimit},
		"many objects":                              {strings.Repeat("N0", 2000), pickle.ErrLimit},
		"many memo entries":                         {"N" + strings.Repeat("\x94", 20), pickle.ErrLimit},
		"many bytes":                                {strings.Repeat("\x80\x02", 1<<16), pickle.ErrLimit},
		"a key nested deeper than any sensible one": {"})" + strings.Repeat("\x85", 200) + "Ns.", pickle.ErrLimit},
		"a key that doubles at every step":          {"})" + strings.Repeat("2\x86", 60) + "Ns.", pickle.ErrLimit},
		"one text decoded again and again": {"c_codecs\nencode\nq\x00X\x00\x08\x00\x00" + strings.Repeat("a", 1<<11) +
			"X\x06\x00\x00\x00latin1\x86q\x01" + strings.Repeat("h\x00h\x01R0", 100), pickle.ErrLimit},
		"a set made of one list again and again": {"c__builtin__\nset\nq\x00](" + strings.Repeat("K\x01", 50) +
			"e\x85q\x01" + strings.Repeat("h\x00h\x01R0", 10000), pickle.ErrLimit},
		"a number's memo name that is none": {"Np-1\n.", pickle.ErrFormat},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := pickle.Read(strings.NewReader(c.data), small)
			require.ErrorIs(t, err, c.want)
			var where *pickle.Error
			assert.ErrorAs(t, err, &where)
		})
	}
}

func TestForbiddenErrorNamesTheGlobal(t *testing.T) {
	_, err := pickle.Read(strings.NewReader("cos\nsystem\n(S'true'\ntR."), pickle.Options{})
	assert.ErrorContains(t, err, `"os.system" is not allowed`)
	assert.ErrorContains(t, err, "byte 21")
}

func TestHostileArrays(t *testing.T) {
	array := func(dtype, shape string) string {
		return "cnumpy.core.numeric\n_frombuffer\n(B\x02\x00\x00\x00abcnumpy\ndtype\nS'" + dtype + "'\n\x85R" + shape +
			"S'C'\ntR."
	}
	opt := pickle.Options{Constructors: pickle.NumPy()}
	_, err := pickle.Read(strings.NewReader(array("u1", "K\x02\x85")), opt)
	require.NoError(t, err)
	for name, data := range map[string]string{
		"objects":              array("O8", "K\x02\x85"),
		"too few bytes":        array("f4", "K\x02\x85"),
		"a shape that wraps":   array("u1", "I4611686018427387904\nI4\nK\x02\x87"),
		"a negative dimension": array("u1", "I-2\nI-1\n\x86"),
		"no shape":             array("u1", "K\x02"),
	} {
		_, err := pickle.Read(strings.NewReader(data), opt)
		assert.ErrorIs(t, err, pickle.ErrFormat, name)
	}
}

// Lengths far beyond the bytes that follow allocate little, under limits that allow them.
func TestFalseLengthsCostNothing(t *testing.T) {
	opt := pickle.Options{MaxBytes: math.MaxInt64, MaxString: math.MaxInt64}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, data := range []string{"X\xff\xff\xff\xffabc", "\x8e\xff\xff\xff\xff\xff\xff\x00\x00abc",
		"B\xff\xff\xff\x7f"} {
		_, err := pickle.Read(strings.NewReader(data), opt)
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
}

func TestTruncatedAtEveryByte(t *testing.T) {
	names, err := filepath.Glob("testdata/*.pkl")
	require.NoError(t, err)
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		for n := range data {
			_, err := pickle.Read(bytes.NewReader(data[:n]), pickle.Options{Constructors: pickle.NumPy()})
			assert.ErrorIs(t, err, io.ErrUnexpectedEOF, "%s at %d", name, n)
		}
	}
}

func TestReaderErrorsArePassedOn(t *testing.T) {
	broken := errors.New("the disk is broken")
	_, err := pickle.Read(io.MultiReader(strings.NewReader("X\x09\x00\x00\x00a"), failing{broken}), pickle.Options{})
	assert.ErrorIs(t, err, broken)
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func FuzzRead(f *testing.F) {
	names, err := filepath.Glob("testdata/*.pkl")
	require.NoError(f, err)
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(data)
	}
	f.Add([]byte("cm\nThing\n(K\x01tRK\x02b."))
	opt := pickle.Options{MaxBytes: 1 << 20, MaxObjects: 1 << 12, Constructors: pickle.NumPy(),
		Persistent: func(id any) (any, error) { return fmt.Sprintf("%T", id), nil }}
	f.Fuzz(func(t *testing.T, data []byte) {
		value, err := pickle.Read(bytes.NewReader(data), opt)
		if err != nil {
			return
		}
		rewrite(t, value)
	})
}

// rewrite checks that a value that can be written has the same bytes after reading and writing it again.
func rewrite(t *testing.T, value any) {
	first := &limited{left: 1 << 16}
	if pickle.Write(first, value) != nil {
		return
	}
	again, err := pickle.Read(bytes.NewReader(first.Bytes()), pickle.Options{})
	require.NoError(t, err)
	var second bytes.Buffer
	require.NoError(t, pickle.Write(&second, again))
	require.Equal(t, first.Bytes(), second.Bytes())
}

// limited is a buffer that ends the writing of values that grow without end.
type limited struct {
	bytes.Buffer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, io.ErrShortWrite
	}
	return l.Buffer.Write(p)
}
