package config

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"time"
)

// value decodes one value; o is the key that it belongs to.
func (d *decoder) value(v reflect.Value, where []any, o *outline, in any) {
	var err error
	switch {
	case isText(v.Type()):
		err = setText(v, o, in)
	case v.Type() == durationType:
		err = setDuration(v, in)
	case v.Kind() == reflect.Slice:
		d.list(v, where, o, in)
	case v.Kind() == reflect.Struct:
		d.item(v, where, o, in)
	default:
		err = setScalar(v, o, in)
	}
	if err != nil {
		d.fault(where, "%s %v", o.key, err)
	}
}

// list decodes a list; one that is given replaces the one that was there.
func (d *decoder) list(v reflect.Value, where []any, o *outline, in any) {
	list, ok := in.([]any)
	if !ok {
		d.fault(where, "%s must be a list, [ … ], and not %s", o.key, describe(in))
		return
	}
	out := reflect.MakeSlice(v.Type(), len(list), len(list))
	for k, item := range list {
		d.value(out.Index(k), below(where, k), o, item)
	}
	if len(list) == 0 {
		out = reflect.Zero(v.Type())
	}
	v.Set(out)
}

// item decodes a table in a list.
func (d *decoder) item(v reflect.Value, where []any, o *outline, in any) {
	table, ok := in.(map[string]any)
	if !ok {
		d.fault(where, "%s must be a list of tables, and not of %s", o.key, describe(in))
		return
	}
	inner := outlineOf(v.Type())
	inner.path = o.path
	e := &decoder{}
	e.table(inner, where, v, table)
	d.faults = append(d.faults, e.faults...)
}

func setText(v reflect.Value, o *outline, in any) error {
	text, ok := in.(string)
	if !ok {
		return fmt.Errorf("must be a text, and not %s", describe(in))
	}
	if err := among(text, o); err != nil {
		return err
	}
	if n, ok := notations[v.Type()]; ok {
		value, err := n.read(text)
		if err != nil {
			return fmt.Errorf("cannot be %s: %w", quoteTOML(text), err)
		}
		v.Set(reflect.ValueOf(value))
		return nil
	}
	if err := v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)); err != nil {
		return fmt.Errorf("cannot be %s: %w", quoteTOML(text), err)
	}
	return nil
}

// among says whether a text is one of those that there are.
func among(text string, o *outline) error {
	if known(text, o.words) {
		return nil
	}
	return fmt.Errorf("cannot be %s; there are %s%s", quoteTOML(text), choice(o.words), guess(text, o.words))
}

// setDuration takes a text such as "1m30s", or a number of seconds.
func setDuration(v reflect.Value, in any) error {
	const wanted = `must be a time such as "90s" or "1m30s", or a number of seconds`
	var seconds float64
	switch in := in.(type) {
	case string:
		d, err := time.ParseDuration(in)
		if err != nil {
			return fmt.Errorf("%s, and not %s", wanted, quoteTOML(in))
		}
		v.SetInt(int64(d))
		return nil
	case int64:
		seconds = float64(in)
	case float64:
		seconds = in
	default:
		return fmt.Errorf("%s, and not %s", wanted, describe(in))
	}
	if !(math.Abs(seconds) < math.MaxInt64/1e9) {
		return fmt.Errorf("is %s seconds; at most 292 years can be counted", describe(in))
	}
	v.SetInt(int64(math.Round(seconds * 1e9)))
	return nil
}

func setScalar(v reflect.Value, o *outline, in any) error {
	switch v.Kind() {
	case reflect.Bool:
		b, ok := in.(bool)
		if !ok {
			return fmt.Errorf("must be true or false, and not %s", describe(in))
		}
		v.SetBool(b)
	case reflect.String:
		text, ok := in.(string)
		if !ok {
			return fmt.Errorf("must be a text in quotes, and not %s", describe(in))
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
		return fmt.Errorf("must be a number, and not %s", describe(in))
	}
	if math.IsNaN(f) || math.IsInf(f, 0) || v.OverflowFloat(f) {
		return fmt.Errorf("must be a number, and %s is none that can be kept", describe(in))
	}
	v.SetFloat(f)
	return nil
}

func setWhole(v reflect.Value, in any) error {
	n, ok := in.(int64)
	if !ok {
		return fmt.Errorf("must be a whole number, and not %s", describe(in))
	}
	if v.CanUint() {
		if n < 0 || v.OverflowUint(uint64(n)) {
			return fmt.Errorf("must be a whole number from 0 to %d, and not %d", uint64(math.MaxUint64)>>(64-v.Type().Bits()), n)
		}
		v.SetUint(uint64(n))
		return nil
	}
	if v.OverflowInt(n) {
		most := int64(math.MaxInt64) >> (64 - v.Type().Bits())
		return fmt.Errorf("must be a whole number from %d to %d, and not %d", -most-1, most, n)
	}
	v.SetInt(n)
	return nil
}

// describe says what was found where something else was expected.
func describe(in any) string {
	switch in := in.(type) {
	case string:
		return quoteTOML(in)
	case bool, int64:
		return fmt.Sprint(in)
	case float64:
		return floatText(in)
	case []any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return "a date or a time of day"
}
