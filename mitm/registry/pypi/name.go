package pypi

import (
	"slices"
	"strings"
)

// maxName bounds names of projects and files, in bytes.
const maxName = 255

// normalize returns a project's name as indexes spell it (PEP 503), and whether it is a valid
// name.
func normalize(name string) (string, bool) {
	if name == "" || len(name) > maxName || separator(name[0]) || separator(name[len(name)-1]) {
		return "", false
	}
	out := make([]byte, 0, len(name))
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case separator(c):
			if out[len(out)-1] != '-' {
				out = append(out, '-')
			}
			continue
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		default:
			return "", false
		}
		out = append(out, c)
	}
	return string(out), true
}

func separator(c byte) bool { return c == '-' || c == '_' || c == '.' }

// distribution is the parsed file name of a wheel or a source archive.
type distribution struct {
	name    string // normalized
	version version
}

// suffixes of the source archives that can be inspected.
var suffixes = []string{".tar.gz", ".zip", ".tar.bz2", ".tgz", ".tbz"}

// sourceStem returns the name of a source archive without its suffix.
func sourceStem(file string) (string, bool) {
	for _, suffix := range suffixes {
		if stem, ok := strings.CutSuffix(file, suffix); ok {
			return stem, true
		}
	}
	return "", false
}

// wheelOf reads a wheel's name: NAME-VERSION(-BUILD)-PYTHON-ABI-PLATFORM.whl.
func wheelOf(file string) (distribution, bool) {
	stem, ok := strings.CutSuffix(file, ".whl")
	if !ok || !plainFile(file) {
		return distribution{}, false
	}
	parts := strings.Split(stem, "-")
	if len(parts) != 5 && len(parts) != 6 || slices.Contains(parts, "") {
		return distribution{}, false
	}
	if len(parts) == 6 && (parts[2][0] < '0' || parts[2][0] > '9') {
		return distribution{}, false // a build tag begins with a digit
	}
	name, ok := normalize(parts[0])
	if !ok {
		return distribution{}, false
	}
	v, ok := parseVersion(strings.ReplaceAll(parts[1], "_", "-"))
	return distribution{name: name, version: v}, ok
}

// distributionOf parses a file name of a project as pip does: in a source archive's name, the
// project's name ends at the first hyphen before which it matches.
func distributionOf(file, project string) (distribution, bool) {
	if strings.HasSuffix(file, ".whl") {
		d, ok := wheelOf(file)
		return d, ok && d.name == project
	}
	stem, ok := sourceStem(file)
	if !ok || !plainFile(file) {
		return distribution{}, false
	}
	for i := 0; i < len(stem); i++ {
		if stem[i] != '-' {
			continue
		}
		if name, ok := normalize(stem[:i]); ok && name == project {
			v, ok := parseVersion(stem[i+1:])
			return distribution{name: name, version: v}, ok
		}
	}
	return distribution{}, false
}

// guess parses a file name without knowing the project. For a source archive it is unclear where
// the project's name ends: foo-1-2.tar.gz is version 1-2 of foo, or version 2 of foo-1. guess
// assumes the former, because archives of the latter have been named foo_1-2.tar.gz for years.
// Only one project is ever asked for: other names were not admitted.
func guess(file string) (distribution, bool) {
	if d, ok := wheelOf(file); ok {
		return d, true
	}
	stem, ok := sourceStem(file)
	if !ok || !plainFile(file) {
		return distribution{}, false
	}
	for i := 1; i < len(stem); i++ {
		if stem[i] != '-' {
			continue
		}
		name, named := normalize(stem[:i])
		if v, ok := parseVersion(stem[i+1:]); ok && named {
			return distribution{name: name, version: v}, true
		}
	}
	return distribution{}, false
}

// plainFile reports whether a file name only has characters of names and versions.
func plainFile(file string) bool {
	for i := 0; i < len(file); i++ {
		if c := file[i]; !wordByte(c) && c != '-' && c != '.' && c != '+' && c != '!' {
			return false
		}
	}
	return len(file) <= maxName
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}
