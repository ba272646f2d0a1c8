package config

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/trainer/clock"
	"graft/trainer/operators"
)

// uncharged holds the fields of a profile that change no charged time.
var uncharged = map[string]bool{"Profile.Watts": true, "Profile.Made": true, "Profile.Fit": true,
	"Profile.Computed.Checked": true}

// Every field of a profile that changes a charged time changes the text that the digest covers.
func TestEveryFieldOfAProfileIsCharged(t *testing.T) {
	p := &clock.Profile{Version: 1, Name: "mine", Device: "cpu", Costs: clock.Costs{SurgerySeconds: 1},
		Measured:  []clock.Measurement{{Network: "a", Fingerprint: "b", Batch: 32, StepSeconds: 1, BatchSeconds: 1}},
		Operators: tracedProfile().Operators, GraftOperators: deviceProfile().GraftOperators,
		Computed: operators.Roofline{Precision: "tf32"}}
	before, seen := chargedText(p), 0
	var visit func(v reflect.Value, path string)
	visit = func(v reflect.Value, path string) {
		for k := range v.NumField() {
			f, name := v.Field(k), path+"."+v.Type().Field(k).Name
			if uncharged[name] || !v.Type().Field(k).IsExported() {
				continue
			}
			was := reflect.New(f.Type()).Elem()
			was.Set(f)
			switch {
			case f.Kind() == reflect.Struct:
				visit(f, name)
				continue
			case f.Kind() == reflect.Slice && f.Len() > 0 && f.Index(0).Kind() == reflect.Struct:
				visit(f.Index(0), name)
				continue
			case f.Kind() == reflect.Slice:
				f.Set(reflect.Append(f, reflect.New(f.Type().Elem()).Elem()))
			case f.Kind() == reflect.String:
				f.SetString(f.String() + "x")
			case f.Kind() == reflect.Bool:
				f.SetBool(!f.Bool())
			case f.CanInt():
				f.SetInt(f.Int() + 1)
			case f.CanFloat():
				f.SetFloat(f.Float() + 0.125)
			default:
				require.Failf(t, "a kind of field that the test cannot change", "%s is of %s", name, f.Kind())
			}
			require.NotEqual(t, before, chargedText(p), name)
			f.Set(was)
			seen++
		}
	}
	visit(reflect.ValueOf(p).Elem(), "Profile")
	require.Equal(t, before, chargedText(p))
	require.Greater(t, seen, 30)
}
