package main

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestVersionAsJSONIsOneObject(t *testing.T) {
	info := decoded[versionInfo](t, done(t, "version", "--json").stdout)
	assert.Equal(t, runtime.Version(), info.Go)
	assert.Equal(t, runtime.GOOS, info.OS)
	assert.Equal(t, runtime.GOARCH, info.Arch)
	assert.NotEmpty(t, info.Version)
	assert.NotEmpty(t, info.Revision)
}

func TestVersionComesFromTheLinkerOrTheBuild(t *testing.T) {
	recorded := &debug.BuildInfo{
		Main: debug.Module{Version: "v0.3.0"},
		Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "abc123"},
			{Key: "vcs.modified", Value: "true"},
		},
	}
	cases := map[string]struct {
		linked            stamp
		build             *debug.BuildInfo
		version, revision string
		modified          bool
	}{
		"the linker's word comes first": {stamp{version: "1.2.3"}, recorded, "1.2.3", "abc123", true},
		"a stamp replaces the record":   {stamp{revision: "def456", modified: "false"}, recorded, "v0.3.0", "def456", false},
		"the build's record is next":    {stamp{}, recorded, "v0.3.0", "abc123", true},
		"an empty record":               {stamp{}, &debug.BuildInfo{}, unknown, unknown, false},
		"no record at all":              {stamp{}, nil, unknown, unknown, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			info := readVersion(c.linked, c.build)
			assert.Equal(t, c.version, info.Version)
			assert.Equal(t, c.revision, info.Revision)
			assert.Equal(t, c.modified, info.Modified)
		})
	}
}
