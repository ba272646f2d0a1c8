package model

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"graft/torch"
)

// printedLayers holds layers as PyTorch prints them.
var printedLayers = []string{
	"Conv2d(3, 32, kernel_size=(3, 3), stride=(1, 1))",
	"Conv2d(4, 8, kernel_size=(3, 5), stride=(2, 1), padding=(1, 2), dilation=(2, 2), groups=4, bias=False)",
	"Linear(in_features=32, out_features=10, bias=True)",
	"BatchNorm2d(32, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)",
	"BatchNorm1d(16, eps=0.001, momentum=0.0, affine=False, track_running_stats=False)",
	"LayerNorm((32, 8, 8), eps=1e-05, elementwise_affine=True)",
	"LayerNorm((32,), eps=1e-12, elementwise_affine=False)",
	"GroupNorm(4, 32, eps=1e-05, affine=True)",
	"ReLU()", "ReLU(inplace=True)", "ReLU6(inplace=True)", "Sigmoid()", "Tanh()", "SiLU()", "Hardswish()",
	"GELU(approximate='none')",
	"LeakyReLU(negative_slope=0.1)", "LeakyReLU(negative_slope=0.2, inplace=True)", "ELU(alpha=1.0)",
	"AvgPool2d(kernel_size=(2, 2), stride=(2, 2), padding=0)",
	"MaxPool2d(kernel_size=3, stride=2, padding=1, dilation=1, ceil_mode=False)",
	"AdaptiveAvgPool2d(output_size=(1, 1))", "AdaptiveAvgPool2d(output_size=1)",
	"Flatten(start_dim=1, end_dim=-1)", "Dropout(p=0.5, inplace=False)", "Identity()",
}

func TestPrintedLayersAreRead(t *testing.T) {
	for _, text := range printedLayers {
		l, err := ParseLayer(text)
		require.NoError(t, err, text)
		assert.Equal(t, text, l.String())
		assertNotation(t, l)
	}
}

func assertNotation(t *testing.T, l Layer) {
	t.Helper()
	again, err := ParseLayer(Notation(l))
	require.NoError(t, err, Notation(l))
	assert.Equal(t, l, again)
}

func TestLayersAreReadAsPythonMakesThem(t *testing.T) {
	same := NewConv2d(3, 32, 3)
	same.Padding, same.Bias = Both(1), false
	pool := NewAvgPool2d(One(2))
	pool.Ceil, pool.ExcludePad = true, true
	for text, want := range map[string]Layer{
		"Conv2d(3, 32, 3)":                                                                NewConv2d(3, 32, 3),
		"Conv2d(3, 32, 3, padding=1, bias=False)":                                         same,
		"Conv2d(3, 32, 3, padding='same', bias=False)":                                    same,
		"Conv2d(3, 32, 3, 1, 1, 1, 1, False, 'zeros')":                                    same,
		"Conv2d(3, 32, 3, padding=\"valid\")":                                             NewConv2d(3, 32, 3),
		" torch.nn.Conv2d ( kernel_size = [3, 3,], \n in_channels=3,out_channels=32 , ) ": NewConv2d(3, 32, 3),
		"nn.Linear(32, 10)":                                                               NewLinear(32, 10),
		"Linear(32, 10, False)":                                                           Linear{In: 32, Out: 10},
		"BatchNorm2d(32)":                                                                 NewBatchNorm2d(32),
		"BatchNorm1d(32)": BatchNorm{Features: 32, Flat: true, Eps: 1e-5, Momentum: 0.1, Affine: true,
			Track: true},
		"LayerNorm(32)": LayerNorm{Sizes: []int{32}, Eps: 1e-5, Affine: true},
		"LayerNorm((32, 8, 8), bias=True)": LayerNorm{Sizes: []int{32, 8, 8}, Eps: 1e-5,
			Affine: true},
		"GroupNorm(4, 32)": GroupNorm{Groups: 4, Features: 32, Eps: 1e-5, Affine: true},
		"ReLU(True)": Activation{Kind: torch.ReLU,
			Inplace: true},
		"Hardswish(inplace=True)": Activation{Kind: torch.Hardswish,
			Inplace: true},
		"LeakyReLU()":          Activate(torch.LeakyReLU),
		"LeakyReLU(1e-1)":      Activation{Kind: torch.LeakyReLU, Parameter: 0.1},
		"ELU(alpha=2)":         Activation{Kind: torch.ELU, Parameter: 2},
		"GELU()":               Activate(torch.GELU),
		"AvgPool2d(2)":         NewAvgPool2d(One(2)),
		"AvgPool2d((2, 2))":    NewAvgPool2d(Both(2)),
		"AvgPool2d((2), None)": NewAvgPool2d(One(2)),
		"AvgPool2d(2, ceil_mode=True, count_include_pad=False)": pool,
		"MaxPool2d(3, 2, 1)":        MaxPool2d{Kernel: One(3), Stride: One(2), Padding: One(1)},
		"AdaptiveAvgPool2d((1, 1))": AdaptiveAvgPool2d{Size: Both(1)},
		"AdaptiveAvgPool2d(1)":      AdaptiveAvgPool2d{Size: One(1)},
		"Flatten()":                 Flatten{},
		"Dropout()":                 Dropout{P: 0.5},
		"Dropout(0.25, True)":       Dropout{P: 0.25, Inplace: true},
		"Identity()":                Identity{},
	} {
		l, err := ParseLayer(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, l, text)
		assertNotation(t, l)
	}
}

func TestWhatIsNoLayerGetsASentence(t *testing.T) {
	for text, want := range map[string]string{
		"":                            `the name is missing; expected a layer such as ReLU()`,
		"ReLU":                        `"ReLU" is not a layer: ReLU must be followed by its arguments in parentheses`,
		"ReLU() + 1":                  `unexpected text "+ 1" after the layer`,
		"Conv2d(3, 32":                `the text ends too early; expected a comma or a closing parenthesis`,
		"Conv2d(3, 32, ":              `the text ends too early; expected a value`,
		"Conv2d(3 32)":                `expected a comma or a closing parenthesis, got "32)"`,
		"Conv2d(3, 32, (3, (3)))":     `, got "(3)))"`,
		"Conv2d(3, bias=x)":           `expected a number, True, False, None or a quoted word, got "x)"`,
		"GELU(approximate='none)":     `unclosed quote`,
		"Conv2D(3, 32, 3)":            `unknown layer "Conv2D"; did you mean Conv2d?`,
		"Transformer()":               `unknown layer "Transformer"; expected one of: Conv2d, Linear`,
		"Conv2d(3, 32)":               `missing arguments; Conv2d requires kernel_size`,
		"Conv2d()":                    `missing arguments; Conv2d requires in_channels, out_channels, kernel_size`,
		"Conv2d(3, 32, kernel=3)":     `Conv2d has no argument kernel; did you mean kernel_size?`,
		"Conv2d(3, 32, 3, biass=1)":   `Conv2d has no argument biass; did you mean bias?`,
		"ReLU(slope=3)":               `ReLU has no argument slope; it takes inplace`,
		"Tanh(3)":                     `Tanh takes no arguments`,
		"Linear(1, 2, True, 4)":       `too many arguments; Linear takes in_features, out_features, bias`,
		"Linear(1, 2, in_features=1)": `Linear: duplicate argument in_features`,
		"Linear(out_features=1, 2)":   `positional argument 2 follows a named argument`,
		"Conv2d(0, 32, 3)":            `Conv2d: in_channels is 0, but must be an integer from 1 to 1048576`,
		"Conv2d(3, 32, 1048577)": `Conv2d: kernel_size is 1048577, but must be an integer from 1 to 1048576, ` +
			`or two`,
		"Conv2d(3, 32, (3, 3, 3))":         `Conv2d: kernel_size is (3, 3, 3), but must be`,
		"Conv2d(3, 32, 3, padding=-1)":     `Conv2d: padding is -1, but must be an integer from 0`,
		"Conv2d(3, 32, 3, bias=1)":         `Conv2d: bias is 1, but must be True or False`,
		"Conv2d(3, 32, 2, padding='same')": `padding='same' requires stride 1 and an odd window size`,
		"Conv2d(3, 32, 3, 2, 'same')":      `padding='same' requires stride 1 and an odd window size`,
		"Conv2d(3, 32, 3, groups=2)": `Conv2d: groups is 2, but must divide both in_channels (3) ` +
			`and out_channels (32)`,
		"Conv2d(3, 32, 3, padding_mode='reflect')": `padding_mode is 'reflect', but must be 'zeros', ` +
			`the only supported value`,
		"MaxPool2d(2, dilation=2)":         `dilation is 2, but must be 1, the only supported value`,
		"AvgPool2d(2, divisor_override=3)": `must be None, the only supported value`,
		"Flatten(0)":                       `start_dim is 0, but must be 1, the only supported value`,
		"GELU(approximate='tanh')":         `approximate is 'tanh', but must be 'none'`,
		"GroupNorm(3, 32)":                 `num_groups is 3, but must divide num_channels (32)`,
		"LayerNorm(())":                    `normalized_shape is (), but must be`,
		"Dropout(1)":                       `p is 1, but must be a number, at least 0 and below 1`,
		"ELU(1e999)":                       `expected a number, True, False, None or a quoted word, got "1e999)"`,
		"BatchNorm2d(8, momentum=None)":    `momentum is None, but must be a number, at least 0`,
		"ReLU(" + strings.Repeat(" ", longestNotation) + ")": `bytes; expected at most`,
	} {
		l, err := ParseLayer(text)
		assert.Nil(t, l, text)
		assert.ErrorContains(t, err, want, text)
	}
}

func TestEveryKindIsReadAsItIsWritten(t *testing.T) {
	for _, k := range kinds {
		random := rand.New(rand.NewPCG(1, 2))
		for range 200 {
			l := randomLayer(t, k, random)
			require.True(t, strings.HasPrefix(l.String(), k.name+"("), l.String())
			assertNotation(t, l)
		}
	}
}

// randomLayer returns a layer of a kind with random valid arguments.
func randomLayer(t *testing.T, k kind, random *rand.Rand) Layer {
	candidates := []any{1, 2, 4, 6, 12, 0.25, 1e-7, -3.5, true, false, nil, "same", "none", "zeros", -1,
		[]literal{{value: 2}, {value: 4}}, []literal{{value: 2}, {value: 3}, {value: 5}}}
	for {
		a := arguments{}
		for _, p := range k.parameters {
			if p.usual != nil && random.IntN(2) == 0 {
				continue
			}
			for a[p.name] == nil {
				if value, ok := p.want.read(literal{value: candidates[random.IntN(len(candidates))]}); ok {
					a[p.name] = value
				}
			}
		}
		require.NoError(t, k.complete(a))
		if l, err := k.build(a); err == nil {
			return l
		}
	}
}

func FuzzParseLayer(f *testing.F) {
	for _, text := range printedLayers {
		f.Add(text)
	}
	f.Add("nn.Conv2d(3, 4, [3, 5], padding='same', dilation=(+2, 2), )")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseLayer(text)
		if err != nil {
			assert.Nil(t, l)
			return
		}
		assert.NotPanics(t, func() { l.Slots() })
		assertNotation(t, l)
	})
}
