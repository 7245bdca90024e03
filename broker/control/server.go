package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/ironcurtain-mux/ironcurtain-mux/broker"
	"github.com/ironcurtain-mux/ironcurtain-mux/broker/wire"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
)

// maxBody is the largest body of a request, in bytes. A decision is far smaller.
const maxBody = 64 << 10

// byCommand is the name recorded for decisions by this socket, whatever the client says.
const byCommand = "cli"

// SocketName is the file name of the control socket below run/.
const SocketName = "control.sock"

// SocketPath is where the first multiplexer with that home listens.
func SocketPath(home string) string { return socketPath(home, 1) }

// maxServers is how many multiplexers may share one home.
const maxServers = 16

// socketPath is where the nth multiplexer with that home listens.
func socketPath(home string, n int) string {
	name := SocketName
	if n > 1 {
		name = fmt.Sprintf("control-%d.sock", n)
	}
	return filepath.Join(home, "run", name)
}

// Server answers other commands of the same user.
type Server struct {
	api    broker.API
	http   *http.Server
	lock   *flock.Flock
	number int           // of this multiplexer among those of its home, from 1
	stop   chan struct{} // closed when the server is to end
	done   chan struct{}
}

// ErrBusy means that the most multiplexers already serve this home.
var ErrBusy = errors.New("too many multiplexers serve this home")

// Listen opens a control socket and serves api on it until Close. Multiplexers
// that share a home have one socket each.
func Listen(home string, api broker.API, log *slog.Logger) (*Server, error) {
	number, lock, err := claim(home)
	if err != nil {
		return nil, err
	}
	path := socketPath(home, number)
	// We hold the lock, so a socket at this path belongs to no running process.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, errors.Join(fmt.Errorf("control socket: %w", err), lock.Unlock())
	}
	listener, err := wire.ListenPrivate(path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("control socket: %w", err), lock.Unlock())
	}
	s := &Server{api: api, lock: lock, number: number, stop: make(chan struct{}), done: make(chan struct{})}
	s.http = &http.Server{
		Handler:           s.routes(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	go func() {
		defer close(s.done)
		if err := s.http.Serve(&sameUserListener{Listener: listener, log: log}); !errors.Is(err, http.ErrServerClosed) {
			log.Error("control socket stopped", "error", err)
		}
	}()
	return s, nil
}

// claim takes the first socket that no running multiplexer has.
func claim(home string) (number int, lock *flock.Flock, err error) {
	if err := os.MkdirAll(filepath.Join(home, "run"), 0o700); err != nil {
		return 0, nil, fmt.Errorf("control socket: %w", err)
	}
	for n := 1; n <= maxServers; n++ {
		lock := flock.New(socketPath(home, n) + ".lock")
		held, err := lock.TryLock()
		if err != nil {
			return 0, nil, fmt.Errorf("control socket: %w", err)
		}
		if held {
			return n, lock, nil
		}
	}
	return 0, nil, &fault.Error{Err: ErrBusy, Next: "use one that runs, or another IRONCURTAIN_HOME"}
}

// Number is the number of this multiplexer among those of its home, from 1.
func (s *Server) Number() int { return s.number }

// RemoveStale removes the sockets of multiplexers that were killed, and returns their
// paths. With dryRun it only returns them.
func RemoveStale(home string, dryRun bool) (stale []string, err error) {
	var all []error
	for n := 1; n <= maxServers; n++ {
		path := socketPath(home, n)
		if _, err := os.Lstat(path); err != nil {
			continue // there is none that could be removed
		}
		lock := flock.New(path + ".lock")
		held, err := lock.TryLock()
		if err != nil || !held {
			all = append(all, err)
			continue
		}
		if !dryRun {
			err = os.Remove(path)
		}
		stale = append(stale, path)
		all = append(all, err, lock.Unlock())
	}
	if err := errors.Join(all...); err != nil {
		return stale, fmt.Errorf("control socket: %w", err)
	}
	return stale, nil
}

// Close stops serving, waits for requests under way and removes the socket.
func (s *Server) Close(ctx context.Context) error {
	close(s.stop)
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	<-s.done
	return errors.Join(err, s.lock.Unlock())
}

func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/sessions", func(w http.ResponseWriter, r *http.Request) {
		list, err := s.api.Sessions(r.Context())
		answer(w, map[string]any{"sessions": nonNil(list)}, err)
	})
	mux.HandleFunc("GET /v1/pending", func(w http.ResponseWriter, r *http.Request) {
		list, err := s.api.Pending(r.Context())
		answer(w, map[string]any{"pending": nonNil(list)}, err)
	})
	mux.HandleFunc("POST /v1/decide", func(w http.ResponseWriter, r *http.Request) {
		var d broker.Decision
		if !read(w, r, &d) {
			return
		}
		d.By = byCommand
		decided, err := s.decide(r.Context(), d)
		answer(w, decided, err)
	})
	s.grantRoutes(mux)
	return mux
}

// endingWait is how long a decision waits for the end of the call. If the call takes
// longer, the answer says that it is under way.
const endingWait = 8 * time.Second

// Decided is the answer to a decision.
type Decided struct {
	broker.Resolution
	// Ending says how the call ended; nil while that is not known, and for a decision
	// that was not the first.
	Ending *broker.Ending `json:"ending,omitempty"`
}

// decide answers an escalation and waits for the end of its call.
func (s *Server) decide(ctx context.Context, d broker.Decision) (Decided, error) {
	ctx, cancel := context.WithTimeout(ctx, endingWait)
	defer cancel()
	events, err := s.api.Subscribe(ctx) // first: the ending can be told at once
	if err != nil {
		return Decided{}, err
	}
	r, err := s.api.Decide(ctx, d)
	out := Decided{Resolution: r}
	if err != nil || !r.Won {
		return out, err
	}
	for {
		select {
		case ev, more := <-events:
			if !more || ev.Ending != nil && ev.Ending.ID == r.ID {
				out.Ending = ev.Ending
				return out, nil
			}
		case <-s.stop:
			return out, nil
		}
	}
}

// grantRoutes serves the requests about grants.
func (s *Server) grantRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /v1/scopes", func(w http.ResponseWriter, r *http.Request) {
		list, err := s.api.Scopes(r.Context(), r.URL.Query().Get("id"))
		answer(w, map[string]any{"scopes": nonNil(list)}, err)
	})
	mux.HandleFunc("GET /v1/grants", func(w http.ResponseWriter, r *http.Request) {
		list, err := s.api.Grants(r.Context())
		answer(w, map[string]any{"grants": nonNil(list)}, err)
	})
	mux.HandleFunc("POST /v1/revoke", func(w http.ResponseWriter, r *http.Request) {
		var v revocation
		if !read(w, r, &v) {
			return
		}
		grant, err := s.api.Revoke(r.Context(), v.Number, byCommand)
		answer(w, grant, err)
	})
}

// revocation asks to end a grant.
type revocation struct {
	Number int `json:"number"`
}

// read decodes a request's body strictly. When it cannot, it sends an error and reports
// false.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	dec := json.NewDecoder(io.LimitReader(r.Body, maxBody))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		http.Error(w, "the request cannot be understood: "+err.Error(), http.StatusBadRequest)
		return false
	}
	return true
}

func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// problem is an error as it is sent to another process.
type problem struct {
	Message string `json:"message"`
	Next    string `json:"hint"`
}

func answer(w http.ResponseWriter, value any, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusConflict)
		value = problem{Message: err.Error(), Next: fault.Hint(err)}
	}
	// When this fails, the client has gone.
	_ = json.NewEncoder(w).Encode(value)
}
