package learn

import (
	"cmp"
	"context"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// index is a Python index as a tool names it.
type index struct {
	raw              string // the address, which may contain a login
	from, credential string
	extra            bool // used in addition to the default
}

// python asks pip for its indexes and reads those of uv.
func (a *asker) python(ctx context.Context) {
	indexes := a.pipIndexes(ctx)
	uvIndexes := a.uvIndexes()
	if len(indexes)+len(uvIndexes) == 0 && a.find("uv") != "" {
		a.note("uv does not say which index it uses: install pip, or name it in registries.sources")
	}
	for _, i := range append(indexes, uvIndexes...) {
		address, login, err := base(i.raw)
		if err != nil {
			a.note("%s: %v", i.from, err)
			continue
		}
		if slices.ContainsFunc(a.Sources, func(s Source) bool { return s.URL == address }) {
			continue
		}
		s := Source{Ecosystem: PyPI, URL: address, From: i.from}
		switch {
		case login != nil:
			s.Credential = i.credential
		case a.netrc(address) != "":
			s.Credential = "netrc"
		}
		s.Private = i.extra && s.Credential != ""
		a.add(s)
	}
}

// pipDefault finds the default index in pip's help.
var pipDefault = regexp.MustCompile(`(?s)--index-url.*?\(default:?\s+(\S+?)\)`)

// pipIndexes returns the indexes of pip, the default first. If pip's configuration, which includes
// its environment, has no default, pip's help names it.
func (a *asker) pipIndexes(ctx context.Context) []index {
	program := a.find("pip", "pip3")
	if program == "" {
		return nil
	}
	settings, err := a.pipConfig(ctx, program)
	if err != nil {
		a.note("%v", err)
		return nil
	}
	all := settings.indexes()
	if len(all) > 0 && !all[0].extra {
		return all
	}
	// Not "pip install --help": if pip is pyenv's, "install" makes pyenv rewrite its shims.
	from := filepath.Base(program) + " download --help"
	help, err := a.ask(ctx, a.dir, nil, program, "download", "--help")
	if err != nil {
		a.note("%v", err)
		return all
	}
	m := pipDefault.FindStringSubmatch(help)
	if m == nil {
		a.note("%s names no index", from)
		return all
	}
	return append([]index{{raw: m[1], from: from}}, all...)
}

// pipSettings are pip's settings by section and name, such as "global.index-url".
type pipSettings map[string]string

func (h Host) pipConfig(ctx context.Context, program string) (pipSettings, error) {
	out, err := h.ask(ctx, "", nil, program, "config", "list")
	if err != nil {
		return nil, err
	}
	return readPipConfig(out), nil
}

// readPipConfig parses the output of "pip config list": lines of a name, =, and a Python string
// literal.
func readPipConfig(out string) pipSettings {
	settings := pipSettings{}
	for line := range strings.Lines(out) {
		name, quoted, ok := strings.Cut(strings.TrimSpace(line), "=")
		if value, whole := unquotePython(quoted); ok && whole {
			settings[name] = value
		}
	}
	return settings
}

// unquotePython parses a Python string literal. It supports only the escapes that an address may
// need.
func unquotePython(s string) (value string, ok bool) {
	if len(s) < 2 || s[0] != '\'' && s[0] != '"' || s[len(s)-1] != s[0] {
		return "", false
	}
	var b strings.Builder
	for i := 1; i < len(s)-1; i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		at := strings.IndexByte(`nrt\'"`, s[i])
		if at < 0 || i == len(s)-1 {
			return "", false
		}
		b.WriteByte("\n\r\t\\'\""[at])
	}
	return b.String(), true
}

// value returns a setting of "pip install". The environment has precedence over the section of the
// command, which has precedence over the global section.
func (p pipSettings) value(name string) string {
	return cmp.Or(p[":env:."+name], p["install."+name], p["global."+name])
}

// indexes returns the configured indexes, the default first.
func (p pipSettings) indexes() []index {
	var all []index
	if raw := p.value("index-url"); raw != "" {
		all = append(all, index{raw: raw, from: "pip config list", credential: "pip"})
	}
	for _, raw := range strings.Fields(p.value("extra-index-url")) {
		all = append(all, index{raw: raw, from: "pip config list", credential: "pip", extra: true})
	}
	return all
}

// uvConfig is the part of uv.toml that names indexes.
type uvConfig struct {
	IndexURL string   `toml:"index-url"`
	Extra    []string `toml:"extra-index-url"`
	Index    []struct {
		URL     string `toml:"url"`
		Default bool   `toml:"default"`
	} `toml:"index"`
}

// uvIndexes returns the indexes in uv's environment and in uv.toml, the default ones first.
func (h Host) uvIndexes() []index {
	var all []index
	add := func(from string, extra bool, raws ...string) {
		for _, raw := range raws {
			if raw != "" {
				all = append(all, index{raw: raw, from: from, credential: "uv", extra: extra})
			}
		}
	}
	for _, name := range []string{"UV_DEFAULT_INDEX", "UV_INDEX_URL"} {
		add(name, false, withoutName(h.value(name)))
	}
	for _, name := range []string{"UV_INDEX", "UV_EXTRA_INDEX_URL"} {
		for _, raw := range strings.Fields(h.value(name)) {
			add(name, true, withoutName(raw))
		}
	}
	for _, path := range []string{filepath.Join(h.configHome(), "uv/uv.toml"), h.system("/etc/uv/uv.toml")} {
		var c uvConfig
		if toml.Unmarshal(readFile(path), &c) != nil {
			continue
		}
		add(path, false, c.IndexURL)
		for _, i := range c.Index {
			add(path, !i.Default, i.URL)
		}
		add(path, true, c.Extra...)
	}
	slices.SortStableFunc(all, func(a, b index) int { return cmp.Compare(rank(a.extra), rank(b.extra)) })
	return all
}

func rank(extra bool) int {
	if extra {
		return 1
	}
	return 0
}

// withoutName removes the name of an index of uv, such as "name=https://…".
func withoutName(raw string) string {
	if name, rest, ok := strings.Cut(raw, "="); ok && !strings.ContainsAny(name, ":/") {
		return rest
	}
	return raw
}

// loginAmong returns the login in the first index with this address that has a login, or "".
func loginAmong(indexes []index, address string) string {
	for _, i := range indexes {
		if b, login, err := base(i.raw); err == nil && b == address && login != nil {
			return userinfo(login)
		}
	}
	return ""
}

// userinfo returns the value of Authorization for a login that is part of an address.
func userinfo(u *url.Userinfo) string {
	password, _ := u.Password()
	return basic(u.Username(), password)
}
