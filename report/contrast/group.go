package contrast

import (
	"fmt"
	"slices"
	"strings"

	"graft/report/runs"
)

// ByFolder is the field SettingGroup.By of groups with the settings of one sweep.
const ByFolder = "folder"

// groupsOf computes the mean difference over the settings of each sweep, and over the settings with each swept value.
// It omits a key whose groups equal the settings, or have only one group.
func groupsOf(all []*setting, means []float64, m runs.TrialMeasure) (list []SettingGroup) {
	list = grouped(ByFolder, all, means, m, func(s *setting) string { return s.Folder })
	for _, key := range keysOf(all) {
		list = append(list, grouped(key, all, means, m, valueGroups(key, all))...)
	}
	return list
}

// grouped makes a group per name that the callback returns; it skips settings with an empty name.
func grouped(by string, all []*setting, means []float64, m runs.TrialMeasure,
	of func(*setting) string) (list []SettingGroup) {

	var names []string
	values := map[string][]float64{}
	for k, s := range all {
		name := of(s)
		if name == "" {
			continue
		}
		if values[name] == nil {
			names = append(names, name)
		}
		values[name] = append(values[name], means[k])
	}
	if len(names) < 2 || len(names) == len(means) { // the table of settings has the same rows
		return nil
	}
	for _, name := range names {
		g := SettingGroup{By: by, Name: name, Estimate: estimate(values[name], rangeOf(m))}
		for _, v := range values[name] {
			if v > 0 {
				g.Positive++
			}
		}
		list = append(list, g)
	}
	return list
}

// keysOf lists the swept keys of all sweeps.
func keysOf(all []*setting) (keys []string) {
	for _, s := range all {
		for _, key := range s.folder.keys {
			if !slices.Contains(keys, key.name) {
				keys = append(keys, key.name)
			}
		}
	}
	return keys
}

// value returns the value of a swept key; empty if the sweep does not vary the key.
func (s *setting) value(key string) string {
	for _, set := range s.Swept {
		if name, value, _ := strings.Cut(set, "="); name == key {
			return value
		}
	}
	return ""
}

// valueGroups returns the function that groups settings by the value of a swept key. If the sweeps have other values
// but the same number of them, such as the budgets of small and large networks, it groups by the position of the value.
func valueGroups(key string, all []*setting) func(*setting) string {
	lists := valueLists(key, all)
	for _, list := range lists {
		if len(list) != len(lists[0]) || len(lists) == 1 {
			return func(s *setting) string { return s.value(key) }
		}
	}
	labels := make([]string, len(lists[0]))
	for k := range labels {
		var values []string
		for _, list := range lists {
			values = append(values, list[k])
		}
		labels[k] = fmt.Sprintf("%d of %d: ", k+1, len(labels)) + strings.Join(runs.Unique(values), ", ")
	}
	return func(s *setting) string {
		for _, own := range s.folder.keys {
			if own.name == key {
				return labels[slices.Index(own.values, s.value(key))]
			}
		}
		return ""
	}
}

// valueLists returns the different lists of values that sweeps give a key.
func valueLists(key string, all []*setting) (lists [][]string) {
	for _, s := range all {
		for _, own := range s.folder.keys {
			known := slices.ContainsFunc(lists, func(list []string) bool { return slices.Equal(list, own.values) })
			if own.name == key && !known {
				lists = append(lists, own.values)
			}
		}
	}
	return lists
}
