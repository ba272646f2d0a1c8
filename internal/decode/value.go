package decode

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"

	"graft/internal/words"
)

func setText(v reflect.Value, o *Outline, in any) error {
	text, ok := in.(string)
	if !ok {
		return fmt.Errorf("must be a string, got %s", Describe(in))
	}
	if err := among(text, o); err != nil {
		return err
	}
	if n, ok := o.dialect.Notations[v.Type()]; ok {
		value, err := n.Read(text)
		if err != nil {
			return fmt.Errorf("cannot be %s: %w", Quote(text), err)
		}
		v.Set(reflect.ValueOf(value))
		return nil
	}
	if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err != nil {
		return fmt.Errorf("cannot be %s: %w", Quote(text), err)
	}
	return nil
}

// among returns an error if a text is not allowed. A key for a word or a path allows every text that looks like a path.
func among(text string, o *Outline) error {
	if o.words == nil || slices.Contains(o.words, text) || o.pathed == pathOrWord && looksLikePath(text) {
		return nil
	}
	return fmt.Errorf("must be one of %s, got %s%s", Choice(o.words), Quote(shortened(text)), words.Guess(text,
		o.words))
}

// setDuration sets a duration from a text such as "1m30s", or a number of seconds.
func setDuration(v reflect.Value, in any) error {
	const wanted = `must be a time such as "90s" or "1m30s", or a number of seconds`
	var seconds float64
	switch in := in.(type) {
	case string:
		d, err := time.ParseDuration(in)
		if err != nil {
			return fmt.Errorf("%s, got %s", wanted, Quote(in))
		}
		v.SetInt(int64(d))
		return nil
	case int64:
		seconds = float64(in)
	case float64:
		seconds = in
	default:
		return fmt.Errorf("%s, got %s", wanted, Describe(in))
	}
	if !(math.Abs(seconds) < math.MaxInt64/1e9) {
		return fmt.Errorf("is %s seconds; the maximum is 9.2e9 seconds (292 years)", Describe(in))
	}
	v.SetInt(int64(math.Round(seconds * 1e9)))
	return nil
}

func setScalar(v reflect.Value, o *Outline, in any) error {
	switch v.Kind() {
	case reflect.Bool:
		b, ok := in.(bool)
		if !ok {
			return fmt.Errorf("must be true or false, got %s", Describe(in))
		}
		v.SetBool(b)
	case reflect.String:
		text, ok := in.(string)
		if !ok {
			return fmt.Errorf("must be a string in quotes, got %s", Describe(in))
		}
		if err := among(text, o); err != nil {
			return err
		}
		v.SetString(text)
	case reflect.Float32, reflect.Float64:
		return setFloat(v, in)
	default:
		return setWhole(v, in)
	}
	return nil
}

func setFloat(v reflect.Value, in any) error {
	var f float64
	switch in := in.(type) {
	case int64:
		f = float64(in)
	case float64:
		f = in
	default:
		return fmt.Errorf("must be a number, got %s", Describe(in))
	}
	if math.IsNaN(f) || math.IsInf(f, 0) || v.OverflowFloat(f) {
		return fmt.Errorf("must be a finite number, got %s", Describe(in))
	}
	v.SetFloat(f)
	return nil
}

func setWhole(v reflect.Value, in any) error {
	n, ok := in.(int64)
	if !ok {
		return fmt.Errorf("must be a whole number, got %s", Describe(in))
	}
	if v.CanUint() {
		if n < 0 || v.OverflowUint(uint64(n)) {
			return fmt.Errorf("must be a whole number from 0 to %d, got %d",
				uint64(math.MaxUint64)>>(64-v.Type().Bits()), n)
		}
		v.SetUint(uint64(n))
		return nil
	}
	if v.OverflowInt(n) {
		most := int64(math.MaxInt64) >> (64 - v.Type().Bits())
		return fmt.Errorf("must be a whole number from %d to %d, got %d", -most-1, most, n)
	}
	v.SetInt(n)
	return nil
}

// Describe names the type of a value in a document, for an error about an unexpected value.
func Describe(in any) string {
	switch in := in.(type) {
	case string:
		return Quote(shortened(in))
	case bool, int64:
		return fmt.Sprint(in)
	case float64:
		return FloatText(in)
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return "a date or a time of day"
}
