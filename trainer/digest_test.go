package trainer

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Each option that changes results changes the digest. Options with the result tags none and rounding do not.
func TestEveryOptionIsInTheDigest(t *testing.T) {
	o := Options{}
	o.EnsureDefaults()
	o.Timeline = Timeline{Budget: time.Second, Events: []Event{{At: time.Millisecond, Change: Up}}}
	before := Digest(o)
	seen := 0
	eachField(reflect.ValueOf(&o).Elem(), "Options", "", func(name string, result string, v reflect.Value) {
		was := reflect.New(v.Type()).Elem()
		was.Set(v)
		vary(t, name, v)
		if result == "none" || result == "rounding" {
			require.Equal(t, before, Digest(o), "%s, which is %s", name, result)
		} else {
			require.NotEqual(t, before, Digest(o), name)
			seen++
		}
		v.Set(was)
	})
	require.Equal(t, before, Digest(o))
	require.Greater(t, seen, 50)
}

// ofTheJob lists options that the job sets from its own images.
var ofTheJob = []string{"Options.Adapt.Surgery.Batch", "Options.Adapt.Surgery.Loss"}

// eachField visits the fields of a struct and of nested structs, with the innermost result tag.
func eachField(v reflect.Value, path, result string, visit func(name, result string, v reflect.Value)) {
	for k := range v.NumField() {
		f := v.Type().Field(k)
		name, own := path+"."+f.Name, result
		if tag := f.Tag.Get("result"); tag != "" {
			own = tag
		}
		switch {
		case !f.IsExported(), slices.Contains(ofTheJob, name):
		case v.Field(k).Kind() == reflect.Struct:
			eachField(v.Field(k), name, own, visit)
		case v.Field(k).Kind() == reflect.Slice && v.Field(k).Len() > 0:
			eachField(v.Field(k).Index(0), name, own, visit)
		default:
			visit(name, own, v.Field(k))
		}
	}
}

// vary gives a field another value.
func vary(t *testing.T, name string, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int, reflect.Int64, reflect.Int32:
		v.SetInt(v.Int() + 1)
	case reflect.Uint64:
		v.SetUint(v.Uint() + 1)
	case reflect.Float64:
		v.SetFloat(v.Float() + 0.125)
	case reflect.Slice:
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
	case reflect.Bool:
		v.SetBool(!v.Bool())
	default:
		require.Failf(t, "a kind of option that the test cannot change", "%s is of %s", name,
			strings.ToLower(v.Kind().String()))
	}
}
