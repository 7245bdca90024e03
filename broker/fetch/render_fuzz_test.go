package fetch

import (
	"testing"
	"unicode/utf8"
)

// FuzzRender takes pages apart that nobody wrote for it.
func FuzzRender(f *testing.F) {
	for _, kind := range []string{"text/html", "text/html; charset=shift_jis", "application/json", "text/plain; charset=utf-16", ""} {
		for _, body := range []string{"<h1>a</h1><p>b<table><tr><td>c<pre>d", "<ul><li>1<ol><li>2", "<!doctype html><main><a href='x'>y</a></main>", "\xff\xfe<\x00", "{}", "<svg><style><![CDATA[</style>"} {
			f.Add(kind, []byte(body), "")
		}
	}
	f.Fuzz(func(t *testing.T, kind string, body []byte, format string) {
		text, err := render(Page{Body: body, Headers: map[string]string{"content-type": kind}}, format)
		if err == nil && !utf8.ValidString(text) {
			t.Errorf("%q as %q is not UTF-8: %q", body, kind, text)
		}
	})
}
