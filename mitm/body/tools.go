package body

import "fmt"

// tools reads a list of tools. one reads one tool and reports whether to keep it.
func (j *judge) tools(one func() (bool, error)) error {
	switch j.Peek() {
	case '[':
		return j.filter(func() (bool, error) {
			if j.Peek() != '{' {
				return false, fmt.Errorf("tools contains something that is not an object")
			}
			return one()
		})
	case 'n':
		return j.skip()
	}
	return fmt.Errorf("tools is not an array")
}

// keepTool records whether a tool was kept or removed, and returns keep.
func (j *judge) keepTool(keep bool, kind, name string) bool {
	names := &j.keptNames
	if !keep {
		names = &j.removedNames
		j.note("tools:%s", kind)
	}
	if *names == nil {
		*names = make(map[string]bool)
	}
	(*names)[name] = true
	return keep
}
