package gitserver

import (
	"bytes"
	"io"
	"net/http"
	"net/http/cgi" //nolint:gosec // what it was blocked for was mended in Go 1.6.3
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// HTTP serves the repositories below a directory, for fetching and, if a repository allows it, for
// pushing.
func HTTP(t testing.TB, root string) http.Handler {
	t.Helper()
	programs, err := exec.CommandContext(t.Context(), "git", "--exec-path").Output()
	if err != nil {
		t.Fatal(err)
	}
	git := &cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(programs)), "git-http-backend"), Env: []string{
		"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=u", "HOME=" + t.TempDir(),
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
	}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength < 0 { // CGI needs the length
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return
			}
			r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
		}
		git.ServeHTTP(w, r)
	})
}

// Private passes on only requests of the user "me" with the secret. It asks others for a login, and
// calls refused, which may be nil, for each of them.
func Private(next http.Handler, secret string, refused func()) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, said, _ := r.BasicAuth(); user != "me" || said != secret {
			if refused != nil {
				refused()
			}
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}
