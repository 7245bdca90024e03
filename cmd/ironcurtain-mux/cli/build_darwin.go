package cli

// running is empty: only the path leads to the file of this program.
const running = ""
