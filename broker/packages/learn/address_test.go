package learn

import "testing"

func TestBase(t *testing.T) {
	for raw, want := range map[string]string{
		"https://npm.example":                    "https://npm.example/",
		" https://NPM.example/a/b\n":             "https://npm.example/a/b/",
		"https://npm.example:443/":               "https://npm.example/",
		"http://npm.example:80/":                 "http://npm.example/",
		"http://npm.example:443/":                "http://npm.example:443/",
		"https://npm.example:4873/x/":            "https://npm.example:4873/x/",
		"https://me:secret@npm.example/":         "https://npm.example/",
		"https://npm.example/a%2fb":              "https://npm.example/a%2fb/",
		"http://[fd00::1]:8080":                  "http://[fd00::1]:8080/",
		"https://npm.example/#top":               "https://npm.example/",
		"undefined":                              "",
		"":                                       "",
		"file:///srv/npm":                        "",
		"https:npm.example":                      "",
		"https:///x":                             "",
		"https://npm.example/?x":                 "",
		"https://npm.example/@acme/":             "",
		"https://secret\x7f@npm.example/":        "",
		"git+ssh://git@git.example/registry.git": "",
	} {
		t.Run(raw, func(t *testing.T) {
			got, login, err := base(raw)
			if got != want || (err == nil) != (want != "") {
				t.Errorf("got %q, %v; want %q", got, err, want)
			}
			if (login != nil) != (raw == "https://me:secret@npm.example/") {
				t.Errorf("the login is %v", login)
			}
		})
	}
}

func TestNoLoginIsShown(t *testing.T) {
	if got := withoutLogins("get https://me:secret@a.example/x and //token@b.example: 404"); got != "get https://a.example/x and //b.example: 404" {
		t.Errorf("shown: %s", got)
	}
}

func FuzzBase(f *testing.F) {
	f.Add("https://me:secret@npm.example:443/a")
	f.Add("http://[::1]/%zz")
	f.Fuzz(func(t *testing.T, raw string) {
		address, _, err := base(raw)
		if err != nil {
			return
		}
		if again, login, err := base(address); err != nil || again != address || login != nil {
			t.Errorf("%q became %q, and that %q, %v, %v", raw, address, again, login, err)
		}
	})
}
