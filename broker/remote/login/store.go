package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/fault"
	"github.com/ironcurtain-mux/ironcurtain-mux/internal/wholefile"
)

// lockPoll is how often a process tries to lock the login while another one has the lock.
const lockPoll = 50 * time.Millisecond

// Store keeps the login at one server in a file that only its owner can read. Several
// processes may share it.
type Store struct {
	name, address, path string
}

// NewStore returns the store for the login at a server, in a file below home. It does not use a
// login that was made at another address.
func NewStore(home, name, address string) *Store {
	return &Store{name: name, address: address, path: filepath.Join(home, "logins", name+".json")}
}

// NeededError means that the person has to log in.
type NeededError struct {
	Server string // its name
	Err    error  // why; nil if the person has not logged in
}

func (e *NeededError) Error() string {
	text := fmt.Sprintf("the server needs a login: run \"ironcurtain-mux servers login %s\"", e.Server)
	if e.Err != nil {
		return fmt.Sprintf("%v; %s", e.Err, text)
	}
	return text
}

// Unwrap returns the cause.
func (e *NeededError) Unwrap() error { return e.Err }

// Token returns the token to send, or "" if the person has not logged in. It renews a token that
// expires soon.
func (s *Store) Token(ctx context.Context) (string, error) {
	l, err := s.read()
	if err != nil || l == nil {
		return "", err
	}
	if l.usable("") && !l.due() {
		return l.Access, nil
	}
	return s.renew(ctx, "")
}

// Renew returns a token other than the one that the server has rejected. It returns a
// *NeededError if the person has to log in.
func (s *Store) Renew(ctx context.Context, rejected string) (string, error) {
	return s.renew(ctx, rejected)
}

// usable reports whether the token has not expired and is not the rejected one.
func (l *saved) usable(rejected string) bool {
	return l.Access != "" && l.Access != rejected && (l.Expires.IsZero() || time.Now().Before(l.Expires))
}

// due reports whether the token should be renewed.
func (l *saved) due() bool { return !l.Due.IsZero() && time.Now().After(l.Due) }

// renew renews the token, unless another process has just done so.
func (s *Store) renew(ctx context.Context, rejected string) (string, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return "", err
	}
	defer unlock()
	l, err := s.read()
	switch {
	case err != nil:
		return "", err
	case l == nil:
		return "", &NeededError{Server: s.name}
	case l.usable(rejected) && (l.Refresh == "" || !l.due()):
		return l.Access, nil
	case l.Refresh == "":
		return "", &NeededError{s.name, errors.New("the login has expired")}
	}
	at, err := newSite(l.Server)
	if err != nil {
		return "", err
	}
	defer at.client.CloseIdleConnections()
	late, cancel := withGrace(ctx)
	defer cancel()
	err = at.grant(late, l, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {l.Refresh}})
	var status *statusError
	switch {
	case err == nil:
		return l.Access, s.write(*l)
	case errors.As(err, &status) && (status.code == http.StatusBadRequest || status.code == http.StatusUnauthorized):
		l.Access, l.Refresh = "", "" // so that no other process tries again
		return "", &NeededError{s.name, errors.Join(fmt.Errorf("the login could not be renewed: %w", err), s.write(*l))}
	case l.usable(rejected):
		return l.Access, nil
	}
	return "", fault.New("try again later", "renew the login: %w", err)
}

// grace is how long a renewal continues after its caller has given up, because the answer may have
// the only token that is valid from then on.
const grace = 2 * time.Second

// withGrace returns a context that ends grace after ctx.
func withGrace(ctx context.Context) (context.Context, context.CancelFunc) {
	late, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cancel) })
	return late, func() { stop(); cancel() }
}

// keep stores a new login.
func (s *Store) keep(ctx context.Context, l saved) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	return s.write(l)
}

// Logout removes the login. It reports whether there was one.
func (s *Store) Logout(ctx context.Context) (bool, error) {
	unlock, err := s.lock(ctx)
	if err != nil {
		return false, err
	}
	defer unlock()
	err = os.Remove(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// lock keeps other processes from changing the login.
func (s *Store) lock(ctx context.Context) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return nil, err
	}
	lock := flock.New(s.path+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return nil, fmt.Errorf("wait for another process that uses the login: %w", err)
	}
	return func() { _ = lock.Close() }, nil
}

// read returns the login at the server, or nil if there is none.
func (s *Store) read() (*saved, error) {
	data, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	l := &saved{}
	if err == nil {
		if err = json.Unmarshal(data, l); err != nil {
			err = errors.New("the file is damaged") // err could quote a token
		}
	}
	if err != nil {
		return nil, fault.Wrap("read the login in "+s.path, err, `log in again with "ironcurtain-mux servers login `+s.name+`"`)
	}
	if l.Server != s.address {
		return nil, nil
	}
	return l, nil
}

func (s *Store) write(l saved) error {
	data, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	return fault.Wrap("keep the login", wholefile.Write(s.path, append(data, '\n'), 0o600), "make "+filepath.Dir(s.path)+" writable")
}
