package term

// sweep frees the numbers of styles, clusters and links that the screens, the pen and
// the saved cursors no longer use. Packed lines contain no numbers.
func (e *emulator) sweep() {
	styles := make([]bool, len(e.styles.entries))
	clusters := make([]bool, len(e.clusters.texts))
	for _, alternate := range []bool{false, true} {
		if alternate && !e.alt && !e.altKept {
			continue // it will be erased before it is shown
		}
		e.grid.show(alternate)
		for y := range e.rows {
			for _, g := range e.grid.row(y, e.run) {
				styles[g.style] = true
				if g.text&clusterRef != 0 {
					clusters[g.text&textMask] = true
				}
			}
		}
	}
	e.grid.show(e.alt)
	e.clusters.sweep(clusters)
	e.styles.sweep(styles)
	e.penKnown = false

	links := make([]bool, len(e.links.texts))
	links[e.pen.link] = true
	for i := range e.saved {
		links[e.saved[i].pen.link] = true
	}
	for i := range e.styles.entries {
		links[e.styles.entries[i].link] = true
	}
	e.links.sweep(links)
}
