package dataset

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// digitsText returns two rows per digit; each pixel equals the digit.
func digitsText() string {
	var b strings.Builder
	for k := range 20 {
		fmt.Fprintf(&b, "%s%d\n", strings.Repeat(fmt.Sprintf("%d,", k%10), digitsSide*digitsSide), k%10)
	}
	return b.String()
}

func TestDigitsAreReadPackedAndPlain(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "packed", "digits.csv.gz"), zipped(t, []byte(digitsText())))
	write(t, filepath.Join(dir, "plain", "optdigits.tes"), []byte(strings.ReplaceAll(digitsText(), "3,", "3.0,")))
	want := loadFor(t, Options{Kind: KindDigits, Path: filepath.Join(dir, "packed"), ValidationShare: 0.5})
	require.Equal(t, []int{1, 8, 8}, want.Shape)
	require.Equal(t, []int{5, 5, 10}, []int{want.Train.Count, want.Validation.Count, want.Test.Count})
	require.Equal(t, digits, want.Classes)
	for k, label := range want.labels[2] {
		require.Equal(t, bytes.Repeat([]byte{byte(int(label) * 255 / 16)}, 64), want.images[2][64*k:64*(k+1)],
			"an image stays with its label")
	}
	require.Equal(t, want.Digest, loadFor(t, Options{Kind: KindDigits, Path: filepath.Join(dir, "plain"),
		ValidationShare: 0.5}).Digest)
}

func TestDigitsSayWhatIsWrong(t *testing.T) {
	require.ErrorContains(t, loadError(Options{Kind: KindDigits, Path: t.TempDir()}), "python3-sklearn")
	for name, c := range map[string]struct{ text, want string }{
		"cut short":      {digitsText()[:200], "line 2"},
		"few lines":      {digitsText()[:len(digitsText())/20], "the file has 1 lines"},
		"a dark pixel":   {strings.Replace(digitsText(), "1,", "17,", 1), `line 2: invalid pixel "17"`},
		"a part":         {strings.Replace(digitsText(), "1,", "1.5,", 1), `invalid pixel "1.5"`},
		"not a number":   {strings.Replace(digitsText(), "1,", "NaN,", 1), `invalid pixel "NaN"`},
		"no such digit":  {strings.Replace(digitsText(), "1\n", "12\n", 1), "the label is 12; expected 0 to 9"},
		"a long line":    {strings.Repeat("1,", 1<<17), "corrupt"},
		"packed, broken": {string(zipped(t, []byte(digitsText()))[:40]), "again"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "digits.csv.gz"), []byte(c.text))
			err := loadError(Options{Kind: KindDigits, Path: dir})
			require.ErrorContains(t, err, c.want)
			require.True(t, errors.As(err, new(Damage)))
		})
	}
}

func FuzzDigits(f *testing.F) {
	f.Add([]byte(digitsText()))
	f.Add(zipped(f, []byte(digitsText())))
	f.Fuzz(func(t *testing.T, data []byte) {
		images, labels, err := parseDigits(bytes.NewReader(data))
		if err != nil {
			return
		}
		require.Len(t, images, len(labels)*digitsSide*digitsSide)
		for _, label := range labels {
			require.Less(t, label, int64(len(digits)))
		}
	})
}
