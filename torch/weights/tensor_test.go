package weights_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"graft/torch/weights"
)

func TestValidate(t *testing.T) {
	good := weights.Tensor{Name: "w", DType: weights.Int16, Shape: []int64{2, 1}, Data: make([]byte, 4)}
	require.NoError(t, good.Validate())
	for name, spoil := range map[string]func(*weights.Tensor){
		"no type":         func(t *weights.Tensor) { t.DType = weights.Invalid },
		"an unknown type": func(t *weights.Tensor) { t.DType = 99 },
		"a short one":     func(t *weights.Tensor) { t.Data = t.Data[:3] },
		"a negative size": func(t *weights.Tensor) { t.Shape = []int64{-2, -1} },
		"an overflow":     func(t *weights.Tensor) { t.Shape = []int64{1 << 32, 1 << 32} },
		"many dimensions": func(t *weights.Tensor) { t.Shape = make([]int64, 65) },
	} {
		bad := good
		spoil(&bad)
		assert.ErrorContains(t, bad.Validate(), `tensor "w"`, name)
		_, err := bad.Float32s()
		assert.Error(t, err, name)
		_, err = weights.Describe(bad)
		assert.Error(t, err, name)
	}
	twice := weights.Set{Tensors: []weights.Tensor{good, good}}
	assert.ErrorContains(t, twice.Validate(), "duplicate tensor name")
	_, found := twice.Find("w")
	assert.True(t, found)
	_, found = twice.Find("v")
	assert.False(t, found)
}

func TestFromFloat32s(t *testing.T) {
	values := []float32{1, -2.5, float32(math.Inf(1))}
	tensor, err := weights.FromFloat32s("v", []int64{3}, values)
	require.NoError(t, err)
	got, err := tensor.Float32s()
	require.NoError(t, err)
	assert.Equal(t, values, got)
	_, err = weights.FromFloat32s("v", []int64{4}, values)
	assert.Error(t, err)
}

// All 65,536 halves equal their definition in IEEE 754.
func TestHalves(t *testing.T) {
	data := make([]byte, 0, 2<<16)
	for bits := range 1 << 16 {
		data = binary.LittleEndian.AppendUint16(data, uint16(bits))
	}
	tensor := weights.Tensor{DType: weights.Float16, Shape: []int64{1 << 16}, Data: data}
	got, err := tensor.Float64s()
	require.NoError(t, err)
	for bits, value := range got {
		sign := 1 - 2*float64(bits>>15)
		exponent, fraction := bits>>10&0x1f, float64(bits&0x3ff)
		switch {
		case exponent == 0x1f && fraction != 0:
			require.True(t, math.IsNaN(value), "%#x", bits)
		case exponent == 0x1f:
			require.Equal(t, math.Inf(int(sign)), value)
		case exponent == 0:
			require.Equal(t, sign*math.Ldexp(fraction, -24), value, "%#x", bits)
		default:
			require.Equal(t, sign*math.Ldexp(1024+fraction, exponent-25), value, "%#x", bits)
		}
	}
}

func TestConversions(t *testing.T) {
	cases := map[weights.DType]struct {
		data []byte
		want float64
	}{
		weights.BFloat16: {[]byte{0xc0, 0xbf}, -1.5},
		weights.Float64:  {binary.LittleEndian.AppendUint64(nil, math.Float64bits(0.1)), 0.1},
		weights.Int8:     {[]byte{0x80}, -128},
		weights.Int16:    {[]byte{0, 0x80}, -32768},
		weights.Int32:    {[]byte{1, 0, 0, 1}, 1<<24 + 1},
		weights.Int64:    {[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, -1},
		weights.Uint8:    {[]byte{200}, 200},
		weights.Bool:     {[]byte{1}, 1},
	}
	for dtype, c := range cases {
		tensor := weights.Tensor{DType: dtype, Data: c.data}
		wide, err := tensor.Float64s()
		require.NoError(t, err, dtype)
		assert.Equal(t, []float64{c.want}, wide, dtype)
		narrow, err := tensor.Float32s()
		require.NoError(t, err, dtype)
		assert.Equal(t, []float32{float32(c.want)}, narrow, dtype)
	}
}

// Every bit pattern of a type is NaN, infinite or finite, as its value says.
func TestNotFinite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dtype := rapid.SampledFrom([]weights.DType{weights.Float32, weights.Float64, weights.Float16, weights.BFloat16,
			weights.Int64, weights.Uint8}).Draw(t, "type")
		data := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 0x3c, 0x78, 0x7c, 0x7f, 0x80, 0xf0, 0xfc, 0xff}), 64,
			64).Draw(t, "bytes")
		tensor := weights.Tensor{Name: "x", DType: dtype, Shape: []int64{64 / dtype.Size()}, Data: data}
		s, err := weights.Describe(tensor)
		require.NoError(t, err)
		nan, infinite := tensor.NotFinite()
		require.Equal(t, []int64{s.NaN, s.Inf}, []int64{nan, infinite})
	})
}

func TestDescribe(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	tensor, err := weights.FromFloat32s("v", []int64{7}, []float32{1, 2, nan, 3, 4, inf, inf})
	require.NoError(t, err)
	s, err := weights.Describe(tensor)
	require.NoError(t, err)
	assert.Equal(t, 2.5, *s.Mean)
	assert.Equal(t, math.Sqrt(1.25), *s.Spread, "divided by 4, not by 3")
	assert.Equal(t, []int64{7, 1, 2}, []int64{s.Count, s.NaN, s.Inf})
	nans, infinite := tensor.NotFinite()
	assert.Equal(t, []int64{1, 2}, []int64{nans, infinite})

	one, err := weights.Describe(weights.Tensor{Name: "one", DType: weights.Float16, Data: []byte{0, 0x3c}})
	require.NoError(t, err)
	text, err := json.Marshal(one)
	require.NoError(t, err)
	assert.Equal(t, `{"name":"one","dtype":"float16","shape":[],"count":1,"mean":1,"spread":0,"nan":0,"inf":0,`+
		`"sha256":"`+one.SHA256+`"}`, string(text))
	var back weights.Summary
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, one, back)

	same, err := weights.FromFloat32s("x", nil, []float32{1})
	require.NoError(t, err)
	other, err := weights.Describe(same)
	require.NoError(t, err)
	assert.Equal(t, one.SHA256, other.SHA256, "the hash is of the values, not of the type")
}

func TestDescribeWithoutFiniteItems(t *testing.T) {
	empty, err := weights.FromFloat32s("e", []int64{0}, nil)
	require.NoError(t, err)
	huge := weights.Tensor{DType: weights.Float64, Shape: []int64{2}}
	for _, v := range []float64{math.MaxFloat64, -math.MaxFloat64} {
		huge.Data = binary.LittleEndian.AppendUint64(huge.Data, math.Float64bits(v))
	}
	for _, tensor := range []weights.Tensor{empty, huge} {
		s, err := weights.Describe(tensor)
		require.NoError(t, err)
		assert.Nil(t, s.Mean)
		assert.Nil(t, s.Spread)
		_, err = json.Marshal(s)
		assert.NoError(t, err)
	}
}

func TestDTypeNames(t *testing.T) {
	for d := weights.Float32; d <= weights.Bool; d++ {
		text, err := d.MarshalText()
		require.NoError(t, err)
		var back weights.DType
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, d, back)
	}
	var d weights.DType
	assert.Error(t, d.UnmarshalText([]byte("complex64")))
	assert.Equal(t, "DType(0)", d.String())
}
