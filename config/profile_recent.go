package config

import (
	"crypto/sha256"
	"slices"
	"sync"

	"graft/trainer/clock"
)

// recentProfiles keeps the last profiles that were read. The cases of a study share one profile, and fitting its
// operators takes longer than checking a case.
var recentProfiles profiles

// mostRecent is the number of profiles that are kept.
const mostRecent = 4

// profiles holds profiles by their text, the latest last.
type profiles struct {
	mutex sync.Mutex
	kept  []keptProfile
}

type keptProfile struct {
	sum     [sha256.Size]byte
	profile *clock.Profile
}

// find returns the profile with the text of a file, and parses the text if it is not kept.
func (p *profiles) find(path string, text []byte) (*clock.Profile, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	sum := sha256.Sum256(text)
	if at := slices.IndexFunc(p.kept, func(k keptProfile) bool { return k.sum == sum }); at >= 0 {
		found := p.kept[at]
		p.kept = append(slices.Delete(p.kept, at, at+1), found)
		return found.profile, nil
	}
	profile, err := parseProfile(path, text)
	if err != nil {
		return nil, err
	}
	if len(p.kept) == mostRecent {
		p.kept = slices.Delete(p.kept, 0, 1)
	}
	p.kept = append(p.kept, keptProfile{sum, profile})
	return profile, nil
}
