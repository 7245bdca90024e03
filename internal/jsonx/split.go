package jsonx

// Field is one member of an object whose value has not been judged yet.
type Field struct {
	Name string
	Raw  []byte // aliases the document
}

// maxFields is how many members Split accepts. Its objects have a handful, and each member
// needs much more memory than its text.
const maxFields = 1024

// Split returns the members of an object without judging their values. It only follows the
// brackets and strings of a value, so a value may be one that Parse would refuse. Names must
// be UTF-8, and no two may be equal or differ only in case or form. With an error, Split returns
// the members before it.
func Split(data []byte) (fields []Field, err error) {
	d := &decoder{Cursor: NewCursor(data)}
	err = d.members(&names{}, func(name string, raw []byte, at int) error {
		if len(fields) == maxFields {
			return d.fail(at, "too many members")
		}
		fields = append(fields, Field{name, raw})
		return nil
	})
	return fields, err
}
