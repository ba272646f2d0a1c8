package lint

import (
	"fmt"
	"regexp"
	"strings"
)

// registries are the hosts of package registries, written in parts. The registry is part of a machine's configuration;
// a name in the source would break a build behind a mirror, or bypass the mirror.
var registries = [][]string{
	{"proxy", "golang", "org"}, {"sum", "golang", "org"}, {"goproxy", "io"}, {"goproxy", "cn"},
	{"pypi", "org"}, {"pypi", "python", "org"}, {"pythonhosted", "org"}, {"download", "pytorch", "org"},
	{"conda", "anaconda", "org"}, {"repo", "anaconda", "com"},
	{"registry", "npmjs", "org"}, {"npmjs", "com"}, {"registry", "yarnpkg", "com"},
	{"crates", "io"}, {"rubygems", "org"},
	{"repo", "maven", "apache", "org"}, {"repo1", "maven", "org"}, {"maven", "google", "com"},
	{"deb", "debian", "org"}, {"security", "debian", "org"}, {"archive", "ubuntu", "com"},
	{"docker", "io"}, {"ghcr", "io"}, {"quay", "io"},
}

var registryPattern = hostPattern(registries)

// hostPattern matches any of the hosts and their subdomains.
func hostPattern(hosts [][]string) *regexp.Regexp {
	var names []string
	for _, parts := range hosts {
		names = append(names, regexp.QuoteMeta(strings.Join(parts, ".")))
	}
	return regexp.MustCompile(`(?i)(?:^|[^a-z0-9-])(` + strings.Join(names, "|") +
		`)(?:$|[^a-z0-9.-]|\.(?:$|[^a-z0-9]))`)
}

// checkHosts finds the names of package registries in the tree.
func checkHosts(tree *Tree) []Finding {
	var found []Finding
	for _, file := range tree.textFiles() {
		found = append(found, matches(file, registryPattern, func(host string) string {
			return fmt.Sprintf("%s is a package registry; leave the choice to the machine's own configuration", host)
		})...)
	}
	return found
}
