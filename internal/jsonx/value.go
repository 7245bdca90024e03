package jsonx

import "encoding/json"

// Kind is the type of a JSON value.
type Kind uint8

// The kinds of JSON values.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// String names the kind as a person would: "string", "array".
func (k Kind) String() string {
	names := [...]string{"null", "boolean", "number", "string", "array", "object"}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

// Value is one JSON value. The zero Value is null.
type Value struct {
	Kind    Kind
	Truth   bool     // of a Bool
	Text    string   // of a String, decoded; of a Number, as written, but a whole number as digits
	Items   []Value  // of an Array
	Members []Member // of an Object, in the written order
	Offset  int      // where the value begins in the document, in bytes
}

// Member is one name and value of an object.
type Member struct {
	Name  string
	Value Value
}

// Text returns a string value.
func Text(s string) Value { return Value{Kind: String, Text: s} }

// Member returns the member of that name of an object.
func (v Value) Member(name string) (Value, bool) {
	for i := range v.Members {
		if v.Members[i].Name == name {
			return v.Members[i].Value, true
		}
	}
	return Value{}, false
}

// With returns a copy of an object with the member set: in its old place if it was there,
// else at the end.
func (v Value) With(name string, member Value) Value {
	members := make([]Member, len(v.Members), len(v.Members)+1)
	copy(members, v.Members)
	for i := range members {
		if members[i].Name == name {
			members[i].Value = member
			return Value{Kind: Object, Members: members, Offset: v.Offset}
		}
	}
	members = append(members, Member{Name: name, Value: member})
	return Value{Kind: Object, Members: members, Offset: v.Offset}
}

// Any converts the value to the types that encoding/json decodes to with UseNumber.
func (v Value) Any() any {
	switch v.Kind {
	case Bool:
		return v.Truth
	case Number:
		return json.Number(v.Text)
	case String:
		return v.Text
	case Array:
		out := make([]any, len(v.Items))
		for i := range v.Items {
			out[i] = v.Items[i].Any()
		}
		return out
	case Object:
		out := make(map[string]any, len(v.Members))
		for i := range v.Members {
			out[v.Members[i].Name] = v.Members[i].Value.Any()
		}
		return out
	default:
		return nil
	}
}

// Equal reports whether two values are the same. The order of members does not matter.
// Numbers are the same if they are written the same.
func (v Value) Equal(w Value) bool {
	if v.Kind != w.Kind || v.Text != w.Text || v.Truth != w.Truth ||
		len(v.Items) != len(w.Items) || len(v.Members) != len(w.Members) {
		return false
	}
	for i := range v.Items {
		if !v.Items[i].Equal(w.Items[i]) {
			return false
		}
	}
	for i := range v.Members {
		other, ok := w.Member(v.Members[i].Name)
		if !ok || !v.Members[i].Value.Equal(other) {
			return false
		}
	}
	return true
}
