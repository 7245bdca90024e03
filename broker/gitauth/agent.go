package gitauth

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/accept"
)

// Messages of the SSH agent's protocol.
const (
	msgFailure          = 5
	msgSuccess          = 6
	msgListIdentities   = 11
	msgIdentities       = 12
	msgSign             = 13
	msgSignature        = 14
	msgExtension        = 27
	bindExtension       = "session-bind@openssh.com"
	msgUserauthRequest  = 50 // of the SSH protocol
	methodPlain         = "publickey"
	methodHostBound     = "publickey-hostbound-v00@openssh.com"
	knownSignatureFlags = agent.SignatureFlagRsaSha256 | agent.SignatureFlagRsaSha512
)

// Bounds of a filter, and of one connection to it.
const (
	maxMessage          = 64 << 10 // bytes
	maxRequests         = 64       // of a connection
	maxSignatures       = 64       // of the filter
	maxAgentConnections = 4        // at a time
	agentConnectionTime = 2 * time.Minute
)

// filter is an SSH agent that uses the person's keys for one purpose: to sign a login under one name
// at a host that has proved to have one of the given keys. It refuses every other request.
type filter struct {
	login      SSHLogin
	refuse     func(error) // called with why a request was refused; the error may quote what the client sent
	signatures atomic.Int32
}

// serve answers on the socket until ctx ends. It then closes the socket and waits for its
// connections.
func (f *filter) serve(ctx context.Context, l net.Listener) {
	unhook := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer unhook()
	var running sync.WaitGroup
	defer running.Wait()
	slots := make(chan struct{}, maxAgentConnections) // a value for each connection; nothing waits
	for {
		conn, err := accept.Next(ctx, l, func(error, time.Duration) {})
		if err != nil {
			return
		}
		select {
		case slots <- struct{}{}:
		default:
			_ = conn.Close()
			continue
		}
		running.Add(1)
		go func() {
			defer running.Done()
			defer func() { <-slots }()
			f.converse(ctx, conn)
		}()
	}
}

// converse answers one client. It has its own connection to the person's agent, because a session is
// bound to a connection.
func (f *filter) converse(ctx context.Context, conn net.Conn) {
	ctx, cancel := context.WithTimeout(ctx, agentConnectionTime)
	defer cancel()
	defer conn.Close()
	unhook := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer unhook()
	c := &conversation{filter: f, keys: []agent.ExtendedAgent{f.login.files}}
	if f.login.config.agent != "" {
		if upstream, err := f.login.dialAgent(ctx); err == nil {
			defer upstream.Close()
			unhook := context.AfterFunc(ctx, func() { _ = upstream.Close() })
			defer unhook()
			c.keys = []agent.ExtendedAgent{agent.NewClient(upstream), f.login.files}
		}
	}
	for range maxRequests {
		request, err := readMessage(conn)
		if err != nil {
			return
		}
		if _, err := conn.Write(frame(c.answer(request))); err != nil {
			return
		}
	}
}

// readMessage reads one message of at most maxMessage bytes.
func readMessage(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n == 0 || n > maxMessage {
		return nil, errors.New("a message of an unusual length")
	}
	message := make([]byte, n)
	_, err := io.ReadFull(r, message)
	return message, err
}

// frame prepends the length of a message.
func frame(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)
}

// conversation is one connection to the filter.
type conversation struct {
	filter  *filter
	keys    []agent.ExtendedAgent // the person's agent and their key files
	hostKey []byte                // to which the connection is bound, or nil
	session []byte
}

// answer answers one request.
func (c *conversation) answer(request []byte) []byte {
	var reply []byte
	err := fmt.Errorf("requests of type %d are not supported", request[0])
	switch request[0] {
	case msgListIdentities:
		reply, err = c.list(request)
	case msgSign:
		reply, err = c.sign(request)
	case msgExtension:
		reply, err = []byte{msgSuccess}, c.bind(request)
	}
	if err != nil {
		c.filter.refuse(fmt.Errorf("the agent of this call refused a request: %w", err))
		return []byte{msgFailure}
	}
	return reply
}

// list lists the keys that may be used. The keys that the person's configuration names for the host
// come first, because ssh tries the keys in this order and a host gives up after a few.
func (c *conversation) list(request []byte) ([]byte, error) {
	if len(request) != 1 {
		return nil, errors.New("malformed")
	}
	type identity struct {
		Blob    []byte
		Comment string
	}
	var first, others []identity
	seen := map[string]bool{}
	for _, source := range c.keys {
		keys, err := source.List()
		if err != nil {
			continue // the other source may have keys
		}
		for _, key := range keys {
			switch {
			case seen[string(key.Blob)] || !c.filter.login.allows(key.Blob):
			case c.filter.login.named[string(key.Blob)]:
				first = append(first, identity{key.Blob, key.Comment})
			default:
				others = append(others, identity{key.Blob, key.Comment})
			}
			seen[string(key.Blob)] = true
		}
	}
	all := append(first, others...)
	reply := binary.BigEndian.AppendUint32([]byte{msgIdentities}, uint32(len(all)))
	for _, key := range all {
		reply = append(reply, ssh.Marshal(key)...)
	}
	return reply, nil
}

// bind binds the connection to a session with the approved host: the host has signed the
// session's id with its key.
func (c *conversation) bind(request []byte) error {
	var extension struct {
		Name string `sshtype:"27"`
		Rest []byte `ssh:"rest"`
	}
	var bind struct {
		HostKey, Session, Signature []byte
		Forwarding                  bool
	}
	if err := ssh.Unmarshal(request, &extension); err != nil || extension.Name != bindExtension {
		return errors.New("the only supported extension is " + bindExtension)
	}
	if err := ssh.Unmarshal(extension.Rest, &bind); err != nil {
		return errors.New("malformed")
	}
	switch {
	case bind.Forwarding:
		return errors.New("agent forwarding is not allowed")
	case len(bind.Session) == 0 || len(bind.Session) > 128:
		return errors.New("the session has no usable id")
	case c.hostKey != nil:
		return errors.New("the connection is bound already")
	}
	for _, key := range c.filter.login.keys {
		if !bytes.Equal(key.Marshal(), bind.HostKey) {
			continue
		}
		var signature ssh.Signature
		if err := ssh.Unmarshal(bind.Signature, &signature); err != nil || signature.Format == ssh.KeyAlgoRSA {
			return errors.New("the host's signature is malformed, or made with SHA-1")
		}
		if err := key.Verify(bind.Session, &signature); err != nil {
			return errors.New("the host's signature is not valid")
		}
		c.hostKey, c.session = bind.HostKey, bind.Session
		for _, source := range c.keys { // the person's agent may restrict keys to this host
			_, _ = source.Extension(bindExtension, extension.Rest) // agents that do not support it refuse it
		}
		return nil
	}
	return errors.New("the host has another key than the approved one")
}

// sign signs a login at the host to which the connection is bound.
func (c *conversation) sign(request []byte) ([]byte, error) {
	var asked struct {
		Key   []byte `sshtype:"13"`
		Data  []byte
		Flags uint32
	}
	if err := ssh.Unmarshal(request, &asked); err != nil || asked.Flags&^uint32(knownSignatureFlags) != 0 {
		return nil, errors.New("malformed")
	}
	if c.hostKey == nil {
		return nil, errors.New("ssh has not bound the connection to a host, which it does since OpenSSH 8.9")
	}
	if err := c.checkLogin(asked.Key, asked.Data); err != nil {
		return nil, err
	}
	key, err := ssh.ParsePublicKey(asked.Key)
	if err != nil || !c.filter.login.allows(asked.Key) {
		return nil, errors.New("there is no such key for this host")
	}
	if c.filter.signatures.Add(1) > maxSignatures {
		return nil, fmt.Errorf("%d signatures were made, and no more are allowed", maxSignatures)
	}
	for _, source := range c.keys {
		var signature *ssh.Signature
		if signature, err = source.SignWithFlags(key, asked.Data, agent.SignatureFlags(asked.Flags)); err == nil {
			return ssh.Marshal(struct {
				Blob []byte `sshtype:"14"`
			}{ssh.Marshal(signature)}), nil
		}
	}
	return nil, fmt.Errorf("no signature could be made: %w", err)
}

// checkLogin fails unless the data is a login as the approved user, with the given key, in the
// session to which the connection is bound.
func (c *conversation) checkLogin(key, data []byte) error {
	var login struct {
		Session               []byte
		Type                  byte
		User, Service, Method string
		Signed                bool
		Algorithm             string
		Key                   []byte
		Rest                  []byte `ssh:"rest"`
	}
	if err := ssh.Unmarshal(data, &login); err != nil || login.Type != msgUserauthRequest || login.Service != "ssh-connection" || !login.Signed {
		return errors.New("the data to be signed is not a login")
	}
	switch {
	case !bytes.Equal(login.Session, c.session):
		return errors.New("the login is for another session")
	case login.User != c.filter.login.config.user:
		return fmt.Errorf("the login is for the user %.60q", login.User)
	case !bytes.Equal(login.Key, key):
		return errors.New("the login uses another key")
	}
	switch login.Method {
	case methodPlain:
		if len(login.Rest) == 0 {
			return nil
		}
	case methodHostBound:
		var host struct{ Key []byte }
		if err := ssh.Unmarshal(login.Rest, &host); err == nil && bytes.Equal(host.Key, c.hostKey) {
			return nil
		}
	}
	return errors.New("the login is of an unknown kind, or for another host")
}
