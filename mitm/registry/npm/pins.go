package npm

import (
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// Pins reads the lockfiles of npm, yarn, pnpm and bun.
func (Ecosystem) Pins(base string, data []byte) []registry.Pin {
	var found pins
	switch base {
	case "package-lock.json", "npm-shrinkwrap.json":
		found.packageLock(data)
	case "yarn.lock":
		found.yarn(string(data))
	case "pnpm-lock.yaml":
		found.pnpm(string(data))
	case "bun.lock":
		found.bun(string(data))
	}
	return found
}

type pins []registry.Pin

func (p *pins) add(name, version string) {
	if isName(name) && isVersion(version) {
		*p = append(*p, registry.Pin{Name: name, Version: version})
	}
}

// packageLock reads "packages", whose keys are directories, and "dependencies" of the first format,
// which are nested.
func (p *pins) packageLock(data []byte) {
	_ = jsonx.Walk(data, func(key string, raw []byte, _ int) error {
		switch key {
		case "packages":
			return jsonx.Walk(raw, func(dir string, raw []byte, _ int) error {
				if i := strings.LastIndex(dir, "node_modules/"); i >= 0 {
					name, version, _ := readLocked(raw)
					if name == "" {
						name = dir[i+len("node_modules/"):]
					}
					p.add(name, version)
				}
				return nil
			})
		case "dependencies":
			return p.nested(raw, 0)
		}
		return nil
	})
}

func (p *pins) nested(raw []byte, depth int) error {
	if depth > 64 {
		return nil
	}
	return jsonx.Walk(raw, func(name string, raw []byte, _ int) error {
		_, version, inner := readLocked(raw)
		p.add(name, version)
		if len(inner) > 0 {
			return p.nested(inner, depth+1)
		}
		return nil
	})
}

// Needs calls f for each dependency between packages in an npm lockfile of format 2 or later.
func (Ecosystem) Needs(base string, data []byte, f func(by, name string)) {
	if base != "package-lock.json" && base != "npm-shrinkwrap.json" {
		return
	}
	_ = jsonx.Walk(data, func(key string, raw []byte, _ int) error {
		if key != "packages" {
			return nil
		}
		return jsonx.Walk(raw, func(dir string, raw []byte, _ int) error {
			by := "" // the project, or one of its workspaces
			if i := strings.LastIndex(dir, "node_modules/"); i >= 0 {
				by = dir[i+len("node_modules/"):]
			}
			return jsonx.Walk(raw, func(key string, raw []byte, _ int) error {
				switch key {
				case "dependencies", "devDependencies", "optionalDependencies", "peerDependencies":
					if raw[0] == '{' {
						return readTexts(raw, func(name, _ string) {
							if isName(name) {
								f(by, name)
							}
						})
					}
				}
				return nil
			})
		})
	})
}

func readLocked(raw []byte) (name, version string, dependencies []byte) {
	_ = jsonx.Walk(raw, func(key string, raw []byte, _ int) error {
		switch key {
		case "name":
			name, _ = jsonx.Unquote(raw)
		case "version":
			version, _ = jsonx.Unquote(raw)
		case "dependencies":
			if raw[0] == '{' {
				dependencies = raw
			}
		}
		return nil
	})
	return name, version, dependencies
}

// yarn reads entries of yarn 1 such as
//
//	"@scope/name@^1.0.0", "@scope/name@^1.1.0":
//	  version "1.2.0"
//
// and those of later ones, which are YAML: name@npm:^1.0.0, and version: 1.2.0.
func (p *pins) yarn(text string) {
	var name string
	for row := range strings.Lines(text) {
		row = strings.TrimRight(row, "\r\n")
		switch {
		case row == "" || row[0] == '#':
		case row[0] != ' ':
			first, _, _ := strings.Cut(strings.Trim(row, `":`), ",")
			name = nameOf(strings.Trim(first, `" `))
		case strings.HasPrefix(row, "  version"):
			p.add(name, strings.Trim(strings.TrimPrefix(row, "  version"), `: "`))
		}
	}
}

// pnpm reads the keys of "packages" and "snapshots": /name@1.0.0, name@1.0.0(peer@2.0.0), and
// /name/1.0.0 in older files.
func (p *pins) pnpm(text string) {
	for row := range strings.Lines(text) {
		key, is := strings.CutPrefix(row, "  ")
		if !is || key == "" || key[0] == ' ' {
			continue
		}
		key, _, _ = strings.Cut(strings.TrimRight(key, "\r\n"), ":")
		key, _, _ = strings.Cut(strings.Trim(key, `'"/`), "(")
		if name := nameOf(key); name != key {
			p.add(name, key[len(name)+1:])
		} else if i := strings.LastIndexByte(key, '/'); i > 0 {
			version, _, _ := strings.Cut(key[i+1:], "_")
			p.add(key[:i], version)
		}
	}
}

// bun reads rows such as "name": ["name@1.0.0", …].
func (p *pins) bun(text string) {
	for row := range strings.Lines(text) {
		if _, list, is := strings.Cut(row, `: ["`); is {
			spec, _, _ := strings.Cut(list, `"`)
			if name := nameOf(spec); name != spec {
				p.add(name, spec[len(name)+1:])
			}
		}
	}
}

// nameOf returns the part of "name@version" before the last @.
func nameOf(spec string) string {
	if i := strings.LastIndexByte(spec, '@'); i > 0 {
		if first := strings.IndexByte(spec[1:], '@'); first >= 0 {
			i = first + 1
		}
		return spec[:i]
	}
	return spec
}
