package registry_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry"
)

// A registry that shows the person's login in a document gives it to nobody.
func TestLoginsInDocuments(t *testing.T) {
	const token, password = "npm_0123456789abcdefghijklmnopqrstuvwxyz", "correct-horse-battery-staple"
	basic := base64.StdEncoding.EncodeToString([]byte("alice:" + password))
	for name, c := range map[string]struct {
		credential, shown string
		status            int
	}{
		"a token":              {"Bearer " + token, token, 502},
		"a part of a token":    {"Bearer " + token, "..." + token[10:], 502},
		"escaped":              {"Bearer " + token, strings.ReplaceAll(token, "_", `\u005f`), 502},
		"the encoded login":    {"Basic " + basic, basic, 502},
		"the password":         {"Basic " + basic, password, 502},
		"the name of a person": {"Basic " + basic, "alice", 200},
		"nothing":              {"", token, 200},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(cfg *registry.Config) { cfg.Origins[0].Credential = c.credential })
			w.addLeft()
			w.npm.Change(func(_ string, body []byte) []byte {
				return []byte(strings.Replace(string(body), `{"`, `{"description":"`+c.shown+`","`, 1))
			})
			if a := w.get("/left"); a.status != c.status {
				t.Errorf("%d %s", a.status, a.phrase)
			}
		})
	}
}
