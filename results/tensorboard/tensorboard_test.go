package tensorboard_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"graft/results/tensorboard"
	"graft/results/tensorboard/tensorboardtest"
)

var at = time.Date(2024, 5, 6, 7, 8, 9, 123456000, time.UTC)

var some = []tensorboard.Event{
	{Time: at, Version: tensorboard.Version},
	{Time: at, Step: 7, Start: true},
	{Time: at, Step: 7, Scalars: []tensorboard.Scalar{{Tag: "loss/train", Value: 0.25}, {Tag: "devices", Value: 2}}},
	{Step: 1 << 40, Texts: []tensorboard.Text{{Tag: "decision", Text: "`deepen:conv2` — größer"}}},
}

func file(events ...tensorboard.Event) (data []byte) {
	for _, e := range events {
		data = tensorboard.Append(data, e)
	}
	return data
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	got, err := tensorboardtest.Read(iotest.OneByteReader(bytes.NewReader(file(some...))))
	require.NoError(t, err)
	require.Equal(t, some, got)
}

// The bytes equal TensorFlow's. The expected bytes and the checksum were computed by hand from the formats.
func TestBytesAreTensorFlows(t *testing.T) {
	want := "1800000000000000" + "a37f4b22" + // 24 bytes
		"09" + "000000000000f83f" + // wall_time = 1.5
		"1a0d" + hex.EncodeToString([]byte("brain.Event:2"))
	got := file(tensorboard.Event{Time: time.UnixMicro(1_500_000), Version: tensorboard.Version})
	require.Equal(t, want, hex.EncodeToString(got[:len(got)-4]))
	want = "09" + "000000000000f83f" + "1003" + "2a0b" + "0a09" + "0a026162" + "15" + "0000003f" // step 3, ab = 0.5
	got = file(tensorboard.Event{Time: time.UnixMicro(1_500_000), Step: 3,
		Scalars: []tensorboard.Scalar{{Tag: "ab", Value: 0.5}}})
	require.Equal(t, want, hex.EncodeToString(tensorboard.Data(got)))
	want = "09" + "000000000000f83f" + "3a020801" // SessionLog.START
	got = file(tensorboard.Event{Time: time.UnixMicro(1_500_000), Start: true})
	require.Equal(t, want, hex.EncodeToString(tensorboard.Data(got)))
}

// All whole records of a truncated file are read.
func TestATornRecordIsPassedOver(t *testing.T) {
	data := file(some...)
	for end := range data {
		got, err := tensorboardtest.Read(bytes.NewReader(data[:end]))
		require.NoError(t, err)
		require.Equal(t, some[:len(got)], append([]tensorboard.Event{}, got...))
		whole := 0
		torn, err := tensorboard.EachRecord(bytes.NewReader(data[:end]), func(_ int, record []byte) error {
			whole += len(record)
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, whole < end, torn)
	}
}

// Reading detects any changed bit.
func TestAChangedRecordIsDamaged(t *testing.T) {
	first := len(file(some[:2]...))
	data := file(some...)
	second := len(file(some[:3]...))
	for bit := first * 8; bit < second*8; bit++ {
		bad := bytes.Clone(data)
		bad[bit/8] ^= 1 << (bit % 8)
		got, err := tensorboardtest.Read(bytes.NewReader(bad))
		require.ErrorIs(t, err, tensorboard.ErrDamaged)
		require.ErrorContains(t, err, "record 3")
		require.Equal(t, some[:2], got)
	}
	_, err := tensorboardtest.Read(bytes.NewReader(tensorboard.AppendRecord(nil, []byte{0xff})))
	require.ErrorContains(t, err, "the record does not contain an event")
	_, err = tensorboardtest.Read(bytes.NewReader(make([]byte, 64)))
	require.ErrorContains(t, err, "the record is damaged", "zeros, as a power failure leaves them")
}

func TestReadingStopsWhenAskedAndWhenItFails(t *testing.T) {
	enough := errors.New("enough")
	torn, err := tensorboard.EachRecord(bytes.NewReader(file(some...)), func(int, []byte) error { return enough })
	require.ErrorIs(t, err, enough)
	require.False(t, torn)
	_, err = tensorboardtest.Read(iotest.ErrReader(enough))
	require.ErrorIs(t, err, enough)
}

// Unknown fields are skipped.
func TestOtherFieldsArePassedOver(t *testing.T) {
	m := tensorboard.Data(file(some[2]))
	other := "5201" + "00" + // source_metadata
		"55" + "01020304" + // fixed32, field 10
		"2a04" + "1a020102" // a summary with a field 3
	more, err := hex.DecodeString(other)
	require.NoError(t, err)
	got, err := tensorboardtest.Read(bytes.NewReader(tensorboard.AppendRecord(nil, append(bytes.Clone(m), more...))))
	require.NoError(t, err)
	require.Equal(t, some[2:3], got)
}

// Reading any bytes gives an error or events that can be written again.
func FuzzRead(f *testing.F) {
	f.Add(file(some...), false)
	f.Add(tensorboard.Data(file(some[3])), true)
	f.Fuzz(func(t *testing.T, data []byte, framed bool) {
		if framed { // the checksums would stop nearly everything
			data = tensorboard.AppendRecord(nil, data)
		}
		events, err := tensorboardtest.Read(bytes.NewReader(data))
		if err != nil {
			require.ErrorIs(t, err, tensorboard.ErrDamaged)
		}
		for _, e := range events {
			if e.Version != "" || e.Start {
				continue // written as events of their own
			}
			again, err := tensorboardtest.Read(bytes.NewReader(tensorboard.Append(nil, e)))
			require.NoError(t, err)
			require.Equal(t, e.Texts, again[0].Texts)
			require.Len(t, again[0].Scalars, len(e.Scalars))
			require.Equal(t, e.Step, again[0].Step)
		}
	})
}
