//go:build !graftdebug

package cluster

// check is for debug builds.
func check(*Pool) {}
