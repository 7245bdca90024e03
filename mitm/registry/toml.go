package registry

import (
	"bytes"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// mostMembers bounds the members of a manifest, because the library compares each with all others
// of its table.
const mostMembers = 20_000

// ParseManifest reads an untrusted TOML file. It does not decode into a struct, because the library
// would match member names loosely.
func ParseManifest(data []byte) (map[string]any, error) {
	if bytes.Count(data, []byte("="))+bytes.Count(data, []byte("[")) > mostMembers {
		return nil, Refuse(403, ReasonLimit, "a TOML file has more than %d members", mostMembers)
	}
	var m map[string]any
	err := toml.Unmarshal(data, &m)
	return m, err
}

// LockedPackages calls f with the string members of each table in the arrays "package" and
// "packages" of a TOML lockfile. It stops where the file is malformed.
func LockedPackages(data []byte, f func(texts map[string]string)) {
	var p unstable.Parser
	p.Reset(data)
	var texts map[string]string // of the current table; nil in other tables
	for p.NextExpression() {
		e := p.Expression()
		var key []string
		for it := e.Key(); it.Next(); {
			key = append(key, string(it.Node().Data))
		}
		switch {
		case e.Kind == unstable.KeyValue:
			if v := e.Value(); len(key) == 1 && texts != nil && v.Kind == unstable.String {
				texts[key[0]] = string(v.Data)
			}
			continue
		case texts != nil:
			f(texts)
			texts = nil
		}
		if e.Kind == unstable.ArrayTable && len(key) == 1 && (key[0] == "package" || key[0] == "packages") {
			texts = make(map[string]string)
		}
	}
	if texts != nil {
		f(texts)
	}
}
