package learn

import (
	"slices"
	"strings"
)

// AptArguments are the arguments of apt-get with which an image tells its sources to
// AptSources.
var AptArguments = []string{"indextargets", "--format", "$(REPO_URI) $(SIGNED_BY)"}

// AptSources reads what apt-get prints with AptArguments: the sources of an image, each once.
// Its keyrings are paths in that image. Lines without an address over HTTP are left out: such
// sources need no network.
func AptSources(printed string) []Source {
	var all []Source
	for line := range strings.Lines(printed) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		address, _, err := base(fields[0])
		if err != nil {
			continue
		}
		i := slices.IndexFunc(all, func(s Source) bool { return s.URL == address })
		if i < 0 {
			i = len(all)
			all = append(all, Source{Ecosystem: Apt, URL: address, From: "apt-get indextargets"})
		}
		for _, key := range list(strings.Join(fields[1:], " ")) {
			if strings.HasPrefix(key, "/") && !slices.Contains(all[i].Keys, key) {
				all[i].Keys = append(all[i].Keys, key)
			}
		}
	}
	return all
}
