//go:build !graftdebug

package torch

// alarm does nothing in this build; with -tags graftdebug it reports scopes that were dropped without Close.
type alarm struct{}

func watch(*Scope) alarm { return alarm{} }

func (alarm) stop() {}
