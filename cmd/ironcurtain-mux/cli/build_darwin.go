package cli

// running is empty: this program's file has no path but its own.
const running = ""
