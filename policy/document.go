package policy

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ironcurtain-mux/ironcurtain-mux/internal/jsonx"
)

// document is a parsed file whose fields are read one by one. It keeps the first error.
// After an error, callers discard what they read.
type document struct {
	file string
	data []byte
	root jsonx.Value
	err  *LoadError

	rule       *node // the rule that is being read
	references []reference
}

// node is one value of a document together with its place.
type node struct {
	doc   *document
	place string
	value jsonx.Value
	used  map[string]bool // members of an object that were read
}

func (d *document) top() *node { return &node{doc: d, value: d.root} }

func (n *node) fail(format string, args ...any) {
	if n.doc.err == nil {
		n.doc.err = &LoadError{
			File: n.doc.file, Line: jsonx.Line(n.doc.data, n.value.Offset),
			Place: n.place, Err: fmt.Errorf(format, args...),
		}
	}
}

// problem returns the first error, or nil.
func (d *document) problem() error {
	if d.err == nil {
		return nil
	}
	return d.err
}

func (n *node) child(name string, v jsonx.Value) *node {
	place := name
	if n.place != "" && name[0] != '[' {
		place = n.place + "." + name
	} else if n.place != "" {
		place = n.place + name
	}
	return &node{doc: n.doc, place: place, value: v}
}

// object checks that the node is an object.
func (n *node) object() bool {
	if n.value.Kind != jsonx.Object {
		n.fail("expected an object, found %s", n.value.Kind)
		return false
	}
	if n.used == nil {
		n.used = map[string]bool{}
	}
	return true
}

// optional returns a member, or nil when it is absent.
func (n *node) optional(name string) *node {
	n.used[name] = true
	if v, ok := n.value.Member(name); ok {
		return n.child(name, v)
	}
	return nil
}

// required returns a member, and fails when it is absent.
func (n *node) required(name string) *node {
	if c := n.optional(name); c != nil {
		return c
	}
	n.fail("member %q is missing", name)
	return n.child(name, jsonx.Value{})
}

// ignore marks members whose content does not matter.
func (n *node) ignore(names ...string) {
	for _, name := range names {
		n.used[name] = true
	}
}

// done fails when the object has a member that was not read.
func (n *node) done() {
	for _, m := range n.value.Members {
		if !n.used[m.Name] {
			n.child(strconv.Quote(m.Name), m.Value).fail("unknown field")
			return
		}
	}
}

func (n *node) str() string {
	if n == nil {
		return ""
	}
	if n.value.Kind != jsonx.String {
		n.fail("expected a string, found %s", n.value.Kind)
		return ""
	}
	return n.value.Text
}

func (n *node) truth() bool {
	if n == nil {
		return false
	}
	if n.value.Kind != jsonx.Bool {
		n.fail("expected true or false, found %s", n.value.Kind)
	}
	return n.value.Truth
}

// each calls f for every element of an array.
func (n *node) each(f func(*node)) {
	if n == nil {
		return
	}
	if n.value.Kind != jsonx.Array {
		n.fail("expected an array, found %s", n.value.Kind)
		return
	}
	for i, item := range n.value.Items {
		f(n.child("["+strconv.Itoa(i)+"]", item))
	}
}

// strings returns an array of strings.
func (n *node) strings() []string {
	if n == nil {
		return nil
	}
	var out []string
	n.each(func(c *node) { out = append(out, c.str()) })
	return out
}

// names returns an array of at least one name. Patterns are refused.
func (n *node) names() []string {
	out := n.strings()
	if n != nil && len(out) == 0 {
		n.fail("the list is empty")
	}
	for _, s := range out {
		if s == "" || strings.Contains(s, "*") {
			n.fail("%q is not a name; leave the member out if the rule applies to all", s)
		}
	}
	return out
}

// roles returns an array of known roles, which may be empty.
func (n *node) roles() []Role {
	var out []Role
	n.each(func(c *node) {
		r := Role(c.str())
		if !r.known() {
			c.fail("unknown role %q", string(r))
		}
		out = append(out, r)
	})
	return out
}

// someRoles is roles for a list that must not be empty.
func (n *node) someRoles() []Role {
	out := n.roles()
	if n != nil && len(out) == 0 {
		n.fail("the list is empty")
	}
	return out
}
