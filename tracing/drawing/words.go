package drawing

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"graft/model"
	"graft/tracing"
)

// words is a text and its maximum width. The zero class is plain.
type words struct {
	x, y  int // start, or end, of the baseline
	class string
	size  int
	end   bool   // x is the right end
	front bool   // a long text is cut at the front, not at the end
	room  int    // maximum width in pixels
	head  string // bold text before the text; cut only if there is no text
	text  string
}

// fitted shortens words that are too long.
func (w words) fitted() words {
	cut := &w.text
	if w.text == "" {
		cut = &w.head
	}
	runes := []rune(*cut)
	// A letter is wider than a pixel.
	for gone := max(1, len(runes)-w.room); w.width() > w.room && gone <= len(runes); gone++ {
		if *cut = string(runes[:len(runes)-gone]) + "…"; w.front {
			*cut = "…" + string(runes[gone:])
		}
	}
	if w.width() > w.room || *cut == "…" {
		*cut = ""
	}
	return w
}

// width is an upper bound on the width in pixels.
func (w words) width() int {
	head, text := measure(w.head, w.size)*9/8, measure(w.text, w.size)
	if head > 0 && text > 0 {
		head += headGap
	}
	return head + text
}

// headGap is the gap between the bold part and the rest.
const headGap = 7

// measure is an upper bound on a text's width in pixels: letters have the widths of DejaVu Sans, the widest of the
// common fonts.
func measure(text string, size int) int {
	thousandths := 0
	for _, r := range text {
		thousandths += advance(r)
	}
	return (thousandths*size + 999) / 1000
}

func advance(r rune) int {
	switch {
	case strings.ContainsRune("ijlI|.,:;' ", r):
		return 350
	case strings.ContainsRune("frt()[]-", r):
		return 420
	case strings.ContainsRune("mwMWOQ@%", r):
		return 990
	case strings.ContainsRune("→×+=<>_…", r) || r >= 'A' && r <= 'Z':
		return 840
	case r > 0x2fff:
		return 1050 // as wide as high
	default:
		return 640
	}
}

// Caption returns PyTorch's name of a layer, and the sizes to show next to it. The sizes may be empty.
func Caption(l model.Layer) (kind, sizes string) {
	kind, arguments, _ := strings.Cut(strings.TrimSuffix(l.String(), ")"), "(")
	switch layer := l.(type) {
	case model.Conv2d:
		return kind, convText(layer)
	case model.Linear:
		return kind, fmt.Sprintf("%d → %d", layer.In, layer.Out)
	case model.AvgPool2d:
		return kind, windowText(layer.Kernel, layer.Stride)
	case model.MaxPool2d:
		return kind, windowText(layer.Kernel, layer.Stride)
	case model.AdaptiveAvgPool2d:
		return kind, "to " + pairText(layer.Size)
	case model.BatchNorm:
		return kind, strconv.Itoa(layer.Features)
	case model.LayerNorm:
		return kind, shapeText(layer.Sizes)
	case model.GroupNorm:
		return kind, fmt.Sprintf("%d in %d groups", layer.Features, layer.Groups)
	case model.Flatten:
		return kind, ""
	}
	return kind, otherArguments(arguments)
}

// otherArguments returns the arguments that PyTorch prints and that change the function.
func otherArguments(arguments string) string {
	var kept []string
	for _, argument := range strings.Split(arguments, ", ") {
		if !strings.HasPrefix(argument, "inplace=") {
			kept = append(kept, argument)
		}
	}
	return strings.Join(kept, ", ")
}

func convText(c model.Conv2d) string {
	text := fmt.Sprintf("%s, %d → %d", pairText(c.Kernel), c.In, c.Out)
	if c.Stride.H != 1 || c.Stride.W != 1 {
		text += ", stride " + sideText(c.Stride)
	}
	if c.Dilation.H != 1 || c.Dilation.W != 1 {
		text += ", dilation " + sideText(c.Dilation)
	}
	switch {
	case c.Groups == 1:
		return text
	case c.Groups == c.In && c.In == c.Out:
		return text + ", depthwise"
	}
	return fmt.Sprintf("%s, %d groups", text, c.Groups)
}

func windowText(kernel, stride model.Pair) string {
	if kernel.H == stride.H && kernel.W == stride.W {
		return pairText(kernel)
	}
	return pairText(kernel) + ", stride " + sideText(stride)
}

func pairText(p model.Pair) string { return fmt.Sprintf("%d×%d", p.H, p.W) }

// sideText formats a pair, as one number if both are equal.
func sideText(p model.Pair) string {
	if p.H == p.W {
		return strconv.Itoa(p.H)
	}
	return pairText(p)
}

func shapeText(s model.Shape) string { return strings.ReplaceAll(s.String(), "x", "×") }

// costText is the output shape and the number of parameters.
func costText(l *tracing.Layer) string {
	text := shapeText(l.Out.Shape)
	if parameters, _ := model.Counts(l.Leaf.Layer); parameters > 0 {
		text += " · " + parametersText(parameters)
	}
	return text
}

// Short formats a number with three digits and the suffix k, M, G or T for 10^3, 10^6, 10^9 or 10^12. Numbers below a
// thousand are rounded to whole numbers and have no suffix.
func Short(n int64) (digits, prefix string) {
	value, places := float64(n), 0
	for _, next := range []string{"k", "M", "G", "T"} {
		if math.Round(value) < 1000 {
			break
		}
		value, prefix = value/1000, next
	}
	if prefix != "" {
		places = max(0, 3-len(strconv.FormatFloat(value, 'f', 0, 64)))
	}
	return strconv.FormatFloat(value, 'f', places, 64), prefix
}

func parametersText(n int) string {
	digits, prefix := Short(int64(n))
	return digits + prefix + " parameters"
}

// labelled is the number of spaces that a label names.
const labelled = 3

// labelText formats spaces, such as s1, or s1+s2 for a concatenation.
func labelText(parts []tracing.Part) string {
	var names []string
	for _, s := range ribbons(parts) {
		names = append(names, "s"+strconv.Itoa(s.Index))
	}
	if more := len(names) - labelled; more > 0 {
		names = append(names[:labelled], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, "+")
}

// spacesText is labelText with all spaces.
func spacesText(parts []tracing.Part) string {
	var names []string
	for _, part := range parts {
		names = append(names, fmt.Sprintf("%d channels of space s%d", part.Channels, part.Space.Index))
	}
	return strings.Join(names, " and ")
}
