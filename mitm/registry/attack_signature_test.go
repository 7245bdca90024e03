package registry_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ironcurtain-mux/ironcurtain-mux/mitm/registry/forged"
)

const (
	leftDoc  = "left"
	leftFile = "/left/-/left-1.0.0.tgz"
	keysDoc  = "-/npm/v1/keys"
)

// A version whose registry signs is let in only with a signature by a key that the registry
// publishes and that had not expired.
func TestSignatures(t *testing.T) {
	old := time.Now().Add(-1000 * time.Hour)
	only := func(path string, f func([]byte) []byte) func(string, []byte) []byte {
		return func(asked string, body []byte) []byte {
			if asked == path {
				return f(body)
			}
			return body
		}
	}
	signature := regexp.MustCompile(`"sig":"[^"]*"`)
	for name, test := range map[string]struct {
		signs   int // keys, of which the last signs
		expires time.Time
		change  func(path string, body []byte) []byte
		refused string // "" for a version that is let in
	}{
		"nothing is signed":          {},
		"signed":                     {signs: 1},
		"signed with the second key": {signs: 2},
		"a key that expired later":   {signs: 1, expires: old.Add(time.Hour)},
		"a key that had expired":     {signs: 1, expires: old.Add(-time.Hour), refused: "had expired"},
		"a key that had expired, no time": {signs: 1, expires: old.Add(-time.Hour), refused: "had expired", change: only(leftDoc, func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"time":{"1.0.0"`), []byte(`"time":{"x"`), 1)
		})},
		"no keys are published": {signs: 1, change: only(keysDoc, func([]byte) []byte { return nil })},
		"a key of that name is not among them": {signs: 2, refused: "does not publish", change: only(keysDoc, func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"SHA256:1"`), []byte(`"SHA256:x"`), 1)
		})},
		"signed with another key": {signs: 2, refused: "signature is wrong", change: only(leftDoc, func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"SHA256:1"`), []byte(`"SHA256:0"`), 1)
		})},
		"no signature at all": {signs: 1, refused: "signature is wrong", change: only(leftDoc, func(b []byte) []byte {
			return signature.ReplaceAll(b, []byte(`"sig":""`))
		})},
		"the text of the digest is another": {signs: 1, refused: "signature is wrong", change: only(leftDoc, func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"integrity":"`), []byte(`"integrity":" `), 1)
		})},
		"keys that are none": {signs: 1, refused: "not acceptable", change: only(keysDoc, func([]byte) []byte { return []byte("keys") })},
		"an expiry that is no time": {signs: 1, refused: "not acceptable", change: only(keysDoc, func(b []byte) []byte {
			return bytes.Replace(b, []byte(`"expires":null`), []byte(`"expires":"never"`), 1)
		})},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			for range test.signs {
				w.npm.Sign(test.expires)
			}
			w.npm.Add("left", forged.NPMVersion{Version: "1.0.0", Published: old})
			w.npm.Change(test.change)
			a := w.get(leftFile)
			if test.refused == "" && a.status != 200 {
				t.Errorf("%d %s", a.status, a.phrase)
			}
			if test.refused != "" && (a.status < 400 || !strings.Contains(a.phrase, test.refused)) {
				t.Errorf("%d %s, want one about %q", a.status, a.phrase, test.refused)
			}
		})
	}
}
