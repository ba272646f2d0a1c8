package control

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"graft/internal/listen"
	"graft/trainer"
)

// changeRemedy shows in errors how to request a change.
const changeRemedy = `send an object such as {"change": "up", "devices": 2}`

// changeKeys are the keys of that object.
var changeKeys = []string{"change", "devices"}

// parseChange reads a requested change. Zero devices let the job choose their number; without a change the new number
// determines it.
func parseChange(body []byte) (c trainer.Change, devices int, refused *listen.Refusal) {
	fields, refused := objectOf(body)
	if refused != nil {
		return c, 0, refused
	}
	if raw, given := fields["change"]; given {
		if c, refused = changeOf(raw); refused != nil {
			return "", 0, refused
		}
	}
	if raw, given := fields["devices"]; given {
		devices, refused = devicesOf(raw)
	} else if c == trainer.Same {
		refused = bad("set change, devices or both", "the object has neither change nor devices")
	}
	if refused != nil {
		return "", 0, refused
	}
	return c, devices, nil
}

func bad(remedy, format string, args ...any) *listen.Refusal {
	return listen.Refuse(http.StatusBadRequest, remedy, format, args...)
}

// objectOf reads an object with only known keys, each at most once. encoding/json alone would accept keys in other
// cases, and duplicates.
func objectOf(body []byte) (map[string]json.RawMessage, *listen.Refusal) {
	var whole json.RawMessage
	if err := json.Unmarshal(body, &whole); err != nil {
		return nil, bad(changeRemedy, "the body is not JSON: %v", err)
	}
	if whole[0] != '{' {
		return nil, bad(changeRemedy, "the body is %s; expected an object", shown(whole))
	}
	in := json.NewDecoder(bytes.NewReader(whole))
	_, _ = in.Token() // the brace; the text is valid JSON, so nothing fails from here on
	fields := map[string]json.RawMessage{}
	for in.More() {
		token, err := in.Token()
		key, _ := token.(string)
		var value json.RawMessage
		if err == nil {
			err = in.Decode(&value)
		}
		_, twice := fields[key]
		switch {
		case err != nil:
			return nil, bad(changeRemedy, "the body is not JSON: %v", err)
		case !slices.Contains(changeKeys, key):
			return nil, bad("the keys are "+strings.Join(changeKeys, " and "), "unknown key %s",
				shown([]byte(strconv.Quote(key))))
		case twice:
			return nil, bad("give it once", "duplicate key %q", key)
		}
		fields[key] = value
	}
	return fields, nil
}

func changeOf(raw json.RawMessage) (trainer.Change, *listen.Refusal) {
	var text string
	err := json.Unmarshal(raw, &text)
	if c := trainer.Change(text); err == nil && (c == trainer.Up || c == trainer.Down) {
		return c, nil
	}
	return "", bad(`write "up" or "down"`, `change is %s; expected "up" or "down"`, shown(raw))
}

func devicesOf(raw json.RawMessage) (int, *listen.Refusal) {
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < 1 || n > trainer.MostDevices {
		return 0, bad("set the new number of devices", "devices is %s; expected a whole number from 1 to %d",
			shown(raw), trainer.MostDevices)
	}
	return n, nil
}

// mostShown limits the bytes of a request quoted in an error.
const mostShown = 60

// shown is a value in an error.
func shown(raw []byte) string {
	if len(raw) > mostShown {
		return strings.ToValidUTF8(string(raw[:mostShown]), "") + "…"
	}
	return string(raw)
}
