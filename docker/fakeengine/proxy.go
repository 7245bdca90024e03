package fakeengine

import (
	"net/http"
	"net/http/httputil"
	"regexp"
)

// Paths of the engine's API, with and without a version.
var (
	createPath  = regexp.MustCompile(`^(/v[0-9.]+)?/containers/create$`)
	execPath    = regexp.MustCompile(`^(/v[0-9.]+)?/containers/[^/]+/exec$`)
	infoPath    = regexp.MustCompile(`^(/v[0-9.]+)?/info$`)
	versionPath = regexp.MustCompile(`^(/v[0-9.]+)?/version$`)
	streamPath  = regexp.MustCompile(`^(/v[0-9.]+)?/(containers/[^/]+/attach|exec/[^/]+/start)$`)
)

// handler answers the clients' requests, most of them with the real engine's answer.
func (e *Engine) handler() http.Handler {
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = "http", "docker"
			r.Out.Host = r.In.Host
		},
		Transport:      e.calls,
		FlushInterval:  -1, // logs and events come when they happen
		ModifyResponse: e.disguise,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			refuse(w, http.StatusBadGateway, err.Error())
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		done, ok := e.begin(nil)
		if !ok {
			panic(http.ErrAbortHandler)
		}
		defer done()
		f, _ := e.now()
		switch {
		case f.Fail != nil && f.Fail(r):
			refuse(w, http.StatusInternalServerError, "the engine has failed, as the test wants it")
			return
		case r.Method == http.MethodPost && streamPath.MatchString(r.URL.Path), r.Header.Get("Upgrade") != "":
			e.hijack(w, r, f)
			return
		case r.Method == http.MethodPost && createPath.MatchString(r.URL.Path):
			if !e.rewrite(w, r, func(order map[string]any) *refusal { return e.changeCreation(order, f) }) {
				return
			}
		case r.Method == http.MethodPost && execPath.MatchString(r.URL.Path):
			if !e.rewrite(w, r, func(order map[string]any) *refusal { return changeExec(order, f) }) {
				return
			}
		}
		// A build's log comes while its files are still on their way.
		_ = http.NewResponseController(w).EnableFullDuplex()
		forward.ServeHTTP(w, r)
	})
}
