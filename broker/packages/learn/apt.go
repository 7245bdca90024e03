package learn

import (
	"slices"
	"strings"
)

// AptCommand prints the files with apt's sources when it runs in an image, for AptSources.
// apt itself tells its sources only once it has their lists, which images do not keep.
var AptCommand = []string{"/bin/sh", "-c", `for f in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
if [ -f "$f" ]; then echo "==> $f"; cat "$f"; echo; fi; done`}

// AptSources reads what AptCommand prints: the sources of an image, each once. Their keys are
// paths of keyrings in that image; a source without any is verified with apt's own. Sources
// that are not reached over HTTP are left out, because they need no network.
func AptSources(printed string) []Source {
	var all aptSources
	for file := range strings.SplitSeq("\n"+printed, "\n==> ") {
		name, content, _ := strings.Cut(file, "\n")
		switch {
		case strings.HasSuffix(name, ".list"):
			all.readLines(name, content)
		case strings.HasSuffix(name, ".sources"):
			all.readParagraphs(name, content)
		}
	}
	return all
}

type aptSources []Source

// add adds a source, or keys of one that is there.
func (all *aptSources) add(from, address string, keys []string) {
	address, _, err := base(address)
	if err != nil {
		return
	}
	i := slices.IndexFunc(*all, func(s Source) bool { return s.URL == address })
	if i < 0 {
		i = len(*all)
		*all = append(*all, Source{Ecosystem: Apt, URL: address, From: from})
	}
	s := &(*all)[i]
	for _, key := range keys {
		if strings.HasPrefix(key, "/") && !slices.Contains(s.Keys, key) {
			s.Keys = append(s.Keys, key)
		}
	}
}

// readLines reads a file with one source a line: deb [options] address suite component…
func (all *aptSources) readLines(name, content string) {
	for line := range strings.Lines(content) {
		line, _, _ = strings.Cut(strings.ReplaceAll(line, "\t", " "), "#")
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		rest = strings.TrimSpace(rest)
		if kind != "deb" {
			continue
		}
		var keys []string
		if options, after, ok := strings.Cut(rest, "]"); ok && strings.HasPrefix(options, "[") {
			rest = after
			for option := range strings.FieldsSeq(options[1:]) {
				if value, ok := strings.CutPrefix(option, "signed-by="); ok {
					keys = list(value)
				}
			}
		}
		if fields := strings.Fields(rest); len(fields) > 0 {
			all.add(name, fields[0], keys)
		}
	}
}

// readParagraphs reads a file with fields, of which each paragraph is about some sources.
func (all *aptSources) readParagraphs(name, content string) {
	fields, last := map[string]string{}, ""
	end := func() {
		enabled := !slices.Contains([]string{"no", "false", "off", "0"}, strings.TrimSpace(fields["enabled"]))
		if enabled && slices.Contains(strings.Fields(fields["types"]), "deb") {
			keys := list(fields["signed-by"])
			if strings.Contains(fields["signed-by"], "-----BEGIN ") { // the key itself
				keys = nil
			}
			for address := range strings.FieldsSeq(fields["uris"]) {
				all.add(name, address, keys)
			}
		}
		fields, last = map[string]string{}, ""
	}
	for line := range strings.Lines(content) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.TrimSpace(line) == "":
			end()
		case line[0] == '#':
		case line[0] == ' ' || line[0] == '\t':
			fields[last] += "\n" + line
		default:
			field, value, _ := strings.Cut(line, ":")
			last = strings.ToLower(strings.TrimSpace(field))
			fields[last] = value
		}
	}
	end()
}
