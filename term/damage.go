package term

// damage collects the rows that changed since the last take.
type damage struct {
	rows     []bool
	any      bool
	from, to int // one range of rows that changed as well; empty when from > to
}

func (d *damage) resize(rows int) {
	d.rows = make([]bool, rows)
	d.all()
}

// row marks one row.
func (d *damage) row(y int) {
	d.rows[y] = true
	d.any = true
}

// span marks the rows from to to, both inclusive.
func (d *damage) span(from, to int) {
	d.any = true
	d.from = min(d.from, from)
	d.to = max(d.to, to)
}

func (d *damage) all() { d.span(0, len(d.rows)-1) }

// take calls changed for every marked row and forgets the marks.
func (d *damage) take(changed func(y int)) {
	if !d.any {
		return
	}
	for y, marked := range d.rows {
		if marked || y >= d.from && y <= d.to {
			d.rows[y] = false
			changed(y)
		}
	}
	d.any = false
	d.from, d.to = len(d.rows), -1
}
