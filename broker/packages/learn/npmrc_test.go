package learn

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func environmentOf(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

func TestReadNpmrc(t *testing.T) {
	got := readNpmrc([]byte(`; a comment
# another
registry = https://npm.example/
@acme:registry="https://npm.acme.example/"
//npm.acme.example/:_authToken=${TOKEN}
//other.example/:_authToken=${MISSING}
//maybe.example/:_authToken=${MISSING?}
quoted = 'a = b' 
behind = value ; a comment
ca[] = one
lonely
= nothing
registry = https://last.example/
[section]
registry = https://section.example/
`), environmentOf(map[string]string{"TOKEN": "secret"}))
	want := npmrc{
		"registry": "https://last.example/", "@acme:registry": "https://npm.acme.example/",
		"//npm.acme.example/:_authToken": "secret", "//maybe.example/:_authToken": "",
		"quoted": "a = b", "behind": "value",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestLoginInNpmrc(t *testing.T) {
	rc := npmrc{
		"//token.example/:_authToken":         "abc",
		"//token.example/deep/way/:_auth":     "bWU6cHc=",
		"//port.example:4873/:_authToken":     "port",
		"//pair.example/:username":            "me",
		"//pair.example/:_password":           "cHc=",
		"//broken.example/:username":          "me",
		"//broken.example/:_password":         "%",
		"//bare.example:_authToken":           "bare",
		"_authToken":                          "of no registry",
		"//example/:_authToken":               "of a host that is a part",
		"//token.example/deep-er/:_authToken": "another path",
	}
	for address, want := range map[string]string{
		"https://token.example/":            "Bearer abc",
		"https://token.example/deep/":       "Bearer abc",
		"https://token.example/deep/way/":   "Basic bWU6cHc=",
		"https://token.example/deep/way/x/": "Basic bWU6cHc=",
		"https://port.example:4873/":        "Bearer port",
		"https://port.example/":             "",
		"https://pair.example/npm/":         "Basic bWU6cHc=",
		"https://broken.example/":           "",
		"https://bare.example/":             "Bearer bare",
		"https://other.example/":            "",
		"https://x.token.example/":          "",
	} {
		t.Run(address, func(t *testing.T) {
			if got := rc.login(address); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func FuzzReadNpmrc(f *testing.F) {
	f.Add([]byte("a=b\n//x/:_authToken=${T?}\nq=\"\\u00e4\""))
	f.Fuzz(func(t *testing.T, data []byte) {
		rc := readNpmrc(data, environmentOf(map[string]string{"T": "t"}))
		for _, key := range []string{"", "[]"} {
			if _, ok := rc[key]; ok {
				t.Errorf("there is a key %q", key)
			}
		}
		rc.login("https://x/y/z/")
	})
}
