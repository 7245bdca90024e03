package gitauth

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// party is somebody with a key.
type party struct{ ssh.Signer }

func newParty(t testing.TB) (party, ed25519.PrivateKey) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return party{signer}, private
}

func (p party) blob() []byte { return p.PublicKey().Marshal() }

// bind is the message that binds a connection to a session with this host.
func (p party) bind(t testing.TB, session []byte, forwarding bool) []byte {
	t.Helper()
	signature, err := p.Sign(rand.Reader, session)
	if err != nil {
		t.Fatal(err)
	}
	return bindMessage(p.blob(), session, ssh.Marshal(signature), forwarding)
}

func bindMessage(key, session, signature []byte, forwarding bool) []byte {
	return ssh.Marshal(struct {
		Name                    string `sshtype:"27"`
		Key, Session, Signature []byte
		Forwarding              bool
	}{bindExtension, key, session, signature, forwarding})
}

// userauth is the data of a login.
type userauth struct {
	Session               []byte
	Type                  byte
	User, Service, Method string
	Signed                bool
	Algorithm             string
	Key                   []byte
	Rest                  []byte `ssh:"rest"`
}

func signMessage(key, data []byte, flags uint32) []byte {
	return ssh.Marshal(struct {
		Key   []byte `sshtype:"13"`
		Data  []byte
		Flags uint32
	}{key, data, flags})
}

// newConversation is one with a filter for a host and a user, whose person has one key.
func newConversation(t testing.TB) (c *conversation, host, person party, refused *error) {
	t.Helper()
	host, _ = newParty(t)
	person, private := newParty(t)
	keys := agent.NewKeyring().(agent.ExtendedAgent)
	if err := keys.Add(agent.AddedKey{PrivateKey: private, Comment: "person"}); err != nil {
		t.Fatal(err)
	}
	login := SSHLogin{config: sshConfig{user: "git"}, keys: []ssh.PublicKey{host.PublicKey()}, files: keys}
	refused = new(error)
	f := &filter{login: login, refuse: func(err error) { *refused = err }}
	return &conversation{filter: f, keys: []agent.ExtendedAgent{keys}}, host, person, refused
}

func TestTheAgentSignsALoginOnly(t *testing.T) {
	session := []byte("session-id-of-32-bytes-xxxxxxxxx")
	c, host, person, _ := newConversation(t)
	stranger, _ := newParty(t)
	good := userauth{session, msgUserauthRequest, "git", "ssh-connection", methodPlain, true, ssh.KeyAlgoED25519, person.blob(), nil}
	bound := good
	bound.Method, bound.Rest = methodHostBound, ssh.Marshal(struct{ Key []byte }{host.blob()})
	changed := func(from userauth, change func(*userauth)) []byte {
		change(&from)
		return signMessage(person.blob(), ssh.Marshal(from), 0)
	}
	sign := func(u userauth) []byte { return changed(u, func(*userauth) {}) }
	signature, err := host.Sign(rand.Reader, session)
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct {
		name   string
		before []byte // a request that comes first
		ask    []byte
		want   byte
		says   string
	}{
		{"list", nil, []byte{msgListIdentities}, msgIdentities, ""},
		{"login", host.bind(t, session, false), sign(good), msgSignature, ""},
		{"bound login", host.bind(t, session, false), sign(bound), msgSignature, ""},
		{"before it is bound", nil, sign(good), msgFailure, "not bound"},
		{"bound to another host", stranger.bind(t, session, false), sign(good), msgFailure, "not bound"},
		{"another host", nil, stranger.bind(t, session, false), msgFailure, "another key"},
		{"forwarded", nil, host.bind(t, session, true), msgFailure, "forwarding"},
		{"bound twice", host.bind(t, session, false), host.bind(t, []byte("another"), false), msgFailure, "bound already"},
		{"a stranger's signature", nil, bindMessage(host.blob(), session, stranger.bind(t, session, false), false), msgFailure, "malformed"},
		{"a signature of another session", nil, bindMessage(host.blob(), []byte("another"), ssh.Marshal(signature), false), msgFailure, "is not valid"},
		{"no session", nil, host.bind(t, nil, false), msgFailure, "no usable id"},
		{"SHA-1", nil, bindMessage(host.blob(), session, ssh.Marshal(ssh.Signature{Format: ssh.KeyAlgoRSA, Blob: signature.Blob}), false), msgFailure, "SHA-1"},
		{"another session", host.bind(t, session, false), changed(good, func(u *userauth) { u.Session = []byte("another") }), msgFailure, "another session"},
		{"another user", host.bind(t, session, false), changed(good, func(u *userauth) { u.User = "root" }), msgFailure, `"root"`},
		{"another service", host.bind(t, session, false), changed(good, func(u *userauth) { u.Service = "ssh-userauth" }), msgFailure, "not a login"},
		{"another message", host.bind(t, session, false), changed(good, func(u *userauth) { u.Type = 51 }), msgFailure, "not a login"},
		{"unsigned", host.bind(t, session, false), changed(good, func(u *userauth) { u.Signed = false }), msgFailure, "not a login"},
		{"another method", host.bind(t, session, false), changed(good, func(u *userauth) { u.Method = "hostbased" }), msgFailure, "unknown kind"},
		{"more data", host.bind(t, session, false), changed(good, func(u *userauth) { u.Rest = []byte("x") }), msgFailure, "unknown kind"},
		{"another host's login", host.bind(t, session, false), changed(bound, func(u *userauth) { u.Rest = ssh.Marshal(struct{ Key []byte }{stranger.blob()}) }), msgFailure, "another host"},
		{"another key in it", host.bind(t, session, false), changed(good, func(u *userauth) { u.Key = stranger.blob() }), msgFailure, "another key"},
		{"a key that is not there", host.bind(t, session, false), signMessage(stranger.blob(), ssh.Marshal(userauth{session, msgUserauthRequest, "git", "ssh-connection", methodPlain, true, ssh.KeyAlgoED25519, stranger.blob(), nil}), 0), msgFailure, "no signature"},
		{"a file's signature", host.bind(t, session, false), signMessage(person.blob(), []byte("SSHSIG\x00\x00\x00\x04file"), 0), msgFailure, "not a login"},
		{"unknown flags", host.bind(t, session, false), signMessage(person.blob(), ssh.Marshal(good), 1), msgFailure, "malformed"},
		{"another extension", nil, ssh.Marshal(struct {
			Name string `sshtype:"27"`
		}{"query"}), msgFailure, "only supported extension is session-bind"},
		{"more after list", nil, []byte{msgListIdentities, 0}, msgFailure, "malformed"},
	}
	for _, kind := range []byte{0, 1, 9, 17, 18, 19, 20, 21, 22, 23, 25, 26, 255} { // add, remove, lock and others
		cases = append(cases, struct {
			name   string
			before []byte
			ask    []byte
			want   byte
			says   string
		}{"type", host.bind(t, session, false), []byte{kind, 0, 0, 0, 0}, msgFailure, "requests of type"})
	}
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			var refused error
			fresh := &conversation{filter: &filter{login: c.filter.login, refuse: func(err error) { refused = err }}, keys: c.keys}
			if tt.before != nil {
				fresh.answer(tt.before)
			}
			if got := fresh.answer(tt.ask); got[0] != tt.want {
				t.Errorf("answer %d, want %d (%v)", got[0], tt.want, refused)
			}
			if tt.says != "" && (refused == nil || !strings.Contains(refused.Error(), tt.says)) {
				t.Errorf("%v, want %q", refused, tt.says)
			}
		})
	}
}

func TestTheAgentSignsNotForever(t *testing.T) {
	session := []byte("session")
	c, host, person, refused := newConversation(t)
	c.answer(host.bind(t, session, false))
	login := signMessage(person.blob(), ssh.Marshal(userauth{session, msgUserauthRequest, "git", "ssh-connection", methodPlain, true, ssh.KeyAlgoED25519, person.blob(), nil}), 0)
	for range maxSignatures {
		if got := c.answer(login); got[0] != msgSignature {
			t.Fatal(*refused)
		}
	}
	if got := c.answer(login); got[0] != msgFailure || !strings.Contains((*refused).Error(), "no more are allowed") {
		t.Errorf("%d, %v", got[0], *refused)
	}
}

// Keys that the person's configuration keeps from this host are neither named nor used.
func TestIdentitiesOnly(t *testing.T) {
	c, host, person, _ := newConversation(t)
	c.filter.login.config.identitiesOnly = true
	if got := c.answer([]byte{msgListIdentities}); !slices.Equal(got, []byte{msgIdentities, 0, 0, 0, 0}) {
		t.Errorf("% x", got)
	}
	session := []byte("session")
	c.answer(host.bind(t, session, false))
	login := userauth{session, msgUserauthRequest, "git", "ssh-connection", methodPlain, true, ssh.KeyAlgoED25519, person.blob(), nil}
	if got := c.answer(signMessage(person.blob(), ssh.Marshal(login), 0)); got[0] != msgFailure {
		t.Errorf("it signs: %d", got[0])
	}
}

// The keys that the configuration names for the host come first.
func TestTheOrderOfKeys(t *testing.T) {
	c, _, person, _ := newConversation(t)
	var last party
	for range 3 {
		other, private := newParty(t)
		if err := c.filter.login.files.Add(agent.AddedKey{PrivateKey: private}); err != nil {
			t.Fatal(err)
		}
		last = other
	}
	for _, first := range []party{last, person} {
		c.filter.login.named = map[string]bool{string(first.blob()): true}
		reply := c.answer([]byte{msgListIdentities})
		if want := binary.BigEndian.AppendUint32([]byte{msgIdentities}, 4); !bytes.HasPrefix(reply, want) || !bytes.HasPrefix(reply[9:], first.blob()) {
			t.Errorf("% x", reply)
		}
	}
}

// A client of the socket is bounded in what it sends and how often.
func TestTheAgentsSocketIsBounded(t *testing.T) {
	c, _, _, _ := newConversation(t)
	w := newWorld(t)
	l, err := listen(filepath.Join(w.state, "a.sock"))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.filter.serve(t.Context(), l)
	}()
	defer func() { _ = l.Close(); <-done }()
	dial := func() net.Conn {
		conn, err := net.Dial("unix", l.Addr().String())
		if err == nil {
			err = conn.SetDeadline(time.Now().Add(time.Minute))
		}
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	large := dial()
	if _, err := large.Write(binary.BigEndian.AppendUint32(nil, maxMessage+1)); err != nil {
		t.Fatal(err)
	}
	if _, err := large.Read(make([]byte, 1)); err == nil || errors.Is(err, errSlow) {
		t.Error("a large message is read")
	}
	_ = large.Close()
	many := dial()
	defer many.Close()
	n := 0
	for ; n < 2*maxRequests; n++ {
		if _, err := many.Write(frame([]byte{msgListIdentities})); err != nil {
			break
		}
		if _, err := readMessage(many); err != nil {
			break
		}
	}
	if n != maxRequests {
		t.Errorf("%d requests were answered", n)
	}
}

// Whatever a client says, it gets no signature before the host has signed its session.
func FuzzAgent(f *testing.F) {
	c, host, person, _ := newConversation(f)
	session := []byte("session-id-of-32-bytes-xxxxxxxxx")
	login := userauth{session, msgUserauthRequest, "git", "ssh-connection", methodHostBound, true, ssh.KeyAlgoED25519, person.blob(), ssh.Marshal(struct{ Key []byte }{host.blob()})}
	data := ssh.Marshal(login)
	f.Add([]byte{msgListIdentities}, false)
	f.Add(host.bind(f, []byte("x"), true), false)
	f.Add(signMessage(person.blob(), data, 0), true)
	f.Add(signMessage(person.blob(), data[:40], 4), true)
	f.Fuzz(func(t *testing.T, request []byte, bound bool) {
		if len(request) == 0 || len(request) > maxMessage {
			return
		}
		fresh := &conversation{filter: &filter{login: c.filter.login, refuse: func(error) {}}, keys: c.keys}
		if bound {
			fresh.hostKey, fresh.session = host.blob(), session
		}
		reply := fresh.answer(request)
		if reply[0] == msgSignature {
			var asked struct {
				Key   []byte `sshtype:"13"`
				Data  []byte
				Flags uint32
			}
			if err := ssh.Unmarshal(request, &asked); err != nil || !bound || !slices.Contains([]string{methodPlain, methodHostBound}, method(asked.Data)) {
				t.Fatalf("it signed %q", request)
			}
		}
	})
}

// method is the method of a login.
func method(data []byte) string {
	var u userauth
	if err := ssh.Unmarshal(data, &u); err != nil || u.User != "git" {
		return ""
	}
	return u.Method
}
