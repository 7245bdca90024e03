package term

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ironcurtain-mux/ironcurtain-mux/term/keys"
)

// Programs decide by these answers which features they use.
func TestAnswers(t *testing.T) {
	tests := []struct{ name, ask, want string }{
		{"primary attributes", "\x1b[c", "\x1b[?64;6;9;21;22;28c"},
		{"identify", "\x1bZ", "\x1b[?64;6;9;21;22;28c"},
		{"secondary attributes", "\x1b[>c", "\x1b[>41;379;0c"},
		{"tertiary attributes", "\x1b[=c", ""},
		{"status", "\x1b[5n", "\x1b[0n"},
		{"cursor position", "\x1b[3;4H\x1b[6n", "\x1b[3;4R"},
		{"cursor position when a wrap is due", "\x1b[1;80Hx\x1b[6n", "\x1b[1;80R"},
		{"cursor position in origin mode", "\x1b[3;8r\x1b[?6h\x1b[2;2H\x1b[6n", "\x1b[2;2R"},
		{"extended cursor position", "\x1b[?6n", "\x1b[?1;1;1R"},
		{"mode 2026", "\x1b[?2026$p", "\x1b[?2026;2$y"},
		{"mode 2004 set", "\x1b[?2004h\x1b[?2004$p", "\x1b[?2004;1$y"},
		{"mode 2027", "\x1b[?2027$p", "\x1b[?2027;2$y"},
		{"mode 1049 set", "\x1b[?1049h\x1b[?1049$p", "\x1b[?1049;1$y"},
		{"mode 1006 set", "\x1b[?1003;1006h\x1b[?1006$p\x1b[?1003$p\x1b[?1000$p", "\x1b[?1006;1$y\x1b[?1003;1$y\x1b[?1000;2$y"},
		{"unknown mode", "\x1b[?9999$p", "\x1b[?9999;0$y"},
		{"insert mode", "\x1b[4h\x1b[4$p\x1b[20$p\x1b[3$p", "\x1b[4;1$y\x1b[20;2$y\x1b[3;0$y"},
		{"modes that never change", "\x1b[2$p\x1b[12$p\x1b[?60$p", "\x1b[2;4$y\x1b[12;3$y\x1b[?60;4$y"},
		{"132 columns, with leave and without", "\x1b[?3h\x1b[?3$p\x1b[?40h\x1b[?3h\x1b[?3$p\x1b[18t", "\x1b[?3;2$y\x1b[?3;1$y\x1b[8;24;80t"},
		{"margins by column", "\x1b[?69h\x1b[?69$p", "\x1b[?69;1$y"},
		{"settings that change nothing", "\x1b[?4;18;19h\x1b[?4$p\x1b[?18$p\x1b[?19$p", "\x1b[?4;1$y\x1b[?18;1$y\x1b[?19;1$y"},
		{"level 2 knows no modes' requests", "\x1b[62\"p\x1b[4$p", ""},
		{"level 3 knows no margins by column", "\x1b[63\"p\x1b[?69h\x1b[?69$p", "\x1b[?69;2$y"},
		{"printer, keys, keyboard", "\x1b[?15n\x1b[?25n\x1b[?26n", "\x1b[?13n\x1b[?21n\x1b[?27;0;0;5n"},
		{"locator", "\x1b[?53n\x1b[?55n\x1b[?56n", "\x1b[?50n\x1b[?50n\x1b[?57;0n"},
		{"macros", "\x1b[?62n\x1b[?63;12n", "\x1b[0*{\x1bP12!~0000\x1b\\"},
		{"line and sessions", "\x1b[?75n\x1b[?85n", "\x1b[?70n\x1b[?83n"},
		{"version", "\x1b[>0q", "\x1bP>|ironcurtain-mux(0.1)\x1b\\"},
		{"foreground", "\x1b]10;?\x1b\\", "\x1b]10;rgb:d0d0/d0d0/d0d0\x1b\\"},
		{"background", "\x1b]11;?\x1b\\", "\x1b]11;rgb:1e1e/1e1e/1e1e\x1b\\"},
		{"cursor color", "\x1b]12;?\x1b\\", "\x1b]12;rgb:d0d0/d0d0/d0d0\x1b\\"},
		{"background, ended by BEL", "\x1b]11;?\a", "\x1b]11;rgb:1e1e/1e1e/1e1e\a"},
		{"both colors", "\x1b]10;?;?\a", "\x1b]10;rgb:d0d0/d0d0/d0d0\a\x1b]11;rgb:1e1e/1e1e/1e1e\a"},
		{"palette", "\x1b]4;1;?;255;?\x1b\\", "\x1b]4;1;rgb:cdcd/0000/0000\x1b\\\x1b]4;255;rgb:eeee/eeee/eeee\x1b\\"},
		{"palette beyond its end", "\x1b]4;261;?;x;?\x1b\\", ""},
		{"kitty flags", "\x1b[?u", "\x1b[?0u"},
		{"kitty flags pushed", "\x1b[>5u\x1b[?u", "\x1b[?5u"},
		{"kitty flags added and popped", "\x1b[>1u\x1b[=2;2u\x1b[?u\x1b[=1;3u\x1b[?u\x1b[<u\x1b[?u", "\x1b[?3u\x1b[?2u\x1b[?0u"},
		{"kitty flags of each screen", "\x1b[>1u\x1b[?1049h\x1b[?u\x1b[>4u\x1b[?1049l\x1b[?u", "\x1b[?0u\x1b[?1u"},
		{"modifyOtherKeys", "\x1b[>4;2m\x1b[?4m\x1b[>4m\x1b[?4m", "\x1b[>4;2m\x1b[>4;0m"},
		{"terminfo", "\x1bP+q544e\x1b\\", "\x1bP0+r\x1b\\"},
		{"number of colors", "\x1bP+q436f;636f6C6f7273;zz;436F\x1b\\", "\x1bP1+r436f=323536\x1b\\\x1bP1+r636f6C6f7273=323536\x1b\\\x1bP0+r\x1b\\"},
		{"pen", "\x1bP$qm\x1b\\", "\x1bP1$r0m\x1b\\"},
		{"pen in use", "\x1b[1;31;48;5;200;4:3;58:2::1:2:3m\x1bP$qm\x1b\\", "\x1bP1$r0;1;4:3;31;48;5;200;58:2::1:2:3m\x1b\\"},
		{"bright pen", "\x1b[92;48;2;1;2;3m\x1bP$qm\x1b\\", "\x1bP1$r0;92;48;2;1;2;3m\x1b\\"},
		{"scroll region", "\x1b[2;5r\x1bP$qr\x1b\\", "\x1bP1$r2;5r\x1b\\"},
		{"cursor shape", "\x1b[5 q\x1bP$q q\x1b\\", "\x1bP1$r5 q\x1b\\"},
		{"columns' region", "\x1bP$qs\x1b\\", "\x1bP1$r1;80s\x1b\\"},
		{"rows and columns", "\x1bP$qt\x1b\\\x1bP$q*|\x1b\\\x1bP$q$|\x1b\\", "\x1bP1$r24t\x1b\\\x1bP1$r24*|\x1b\\\x1bP1$r80$|\x1b\\"},
		{"level", "\x1b[63;1\"p\x1bP$q\"p\x1b\\\x1b[65\"p\x1bP$q\"p\x1b\\", "\x1bP1$r63;1\"p\x1b\\\x1bP1$r63;1\"p\x1b\\"},
		{"extent of DECCARA", "\x1b[2*x\x1bP$q*x\x1b\\", "\x1bP1$r2*x\x1b\\"},
		{"no status line", "\x1bP$q$}\x1b\\\x1bP$q$~\x1b\\", "\x1bP1$r0$}\x1b\\\x1bP1$r0$~\x1b\\"},
		{"protection", "\x1b[1\"q\x1bP$q\"q\x1b\\", "\x1bP1$r1\"q\x1b\\"},
		{"unknown setting", "\x1bP$qx\x1b\\", "\x1bP0$r\x1b\\"},
		{"size in characters", "\x1b[18t", "\x1b[8;24;80t"},
		{"size in pixels", "\x1b[14t", "\x1b[4;480;800t"},
		{"size of the window is the pane's", "\x1b[14;2t\x1b[15t\x1b[19t", "\x1b[4;480;800t\x1b[5;480;800t\x1b[9;24;80t"},
		{"place of the window", "\x1b[11t\x1b[13t", "\x1b[1t\x1b[3;0;0t"},
		{"window operations are not obeyed", "\x1b[2t\x1b[3;5;5t\x1b[4;100;100t\x1b[8;10;10t\x1b[9;1t\x1b[10;1t\x1b[30t\x1b[11t\x1b[13t\x1b[18t", "\x1b[1t\x1b[3;0;0t\x1b[8;24;80t"},
		{"light or dark", "\x1b[?996n", "\x1b[?997;1n"},
		{"theme reports are for changes", "\x1b[?2031h", ""},
		{"size reports", "\x1b[?2048h", "\x1b[48;24;80;480;800t"},
		{"title in hexadecimal", "\x1b[>1t\x1b]0;ab\a\x1b[20t\x1b[21t\x1b]1;c\a\x1b[20t\x1b[21t", "\x1b]L6162\x1b\\\x1b]l6162\x1b\\\x1b]L63\x1b\\\x1b]l6162\x1b\\"},
		{"title set in hexadecimal", "\x1b[>0;1t\x1b]2;61621b63\a\x1b]2;6\a\x1b[21t", "\x1b]l616263\x1b\\"},
		{"no longer in hexadecimal", "\x1b[>1t\x1b[>1T\x1b]2;ab\a\x1b[21t", ""},
		{"title is never told as text", "\x1b]0;x\a\x1b[20t\x1b[21t", ""},
		{"clipboard is never told", "\x1b]52;c;?\a", ""},
		{"wheel as keys", "\x1b[?1007$p\x1b[?1007l\x1b[?1007$p", "\x1b[?1007;1$y\x1b[?1007;2$y"},
		{"graphics", "\x1b[?1;1;0S", ""},
		{"answerback", "\x05", ""},
		{"parameters", "\x1b[x", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := play(t, "native", 80, 24, 0, []byte(tt.ask))
			defer s.Close()
			if got := string(s.TakeReplies()); got != tt.want {
				t.Errorf("answer %q, want %q", got, tt.want)
			}
			if got := s.TakeReplies(); got != nil {
				t.Errorf("answered again: %q", got)
			}
		})
	}
}

func TestLightThemeAnswers(t *testing.T) {
	s, err := NewScreen(Options{Cols: 80, Rows: 24, Foreground: RGB(0, 0, 0), Background: RGB(255, 255, 255)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	_, _ = s.Write([]byte("\x1b]11;?\x1b\\\x1b[?996n"))
	if got, want := string(s.TakeReplies()), "\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?997;2n"; got != want {
		t.Errorf("answer %q, want %q", got, want)
	}
}

func TestInputModes(t *testing.T) {
	tests := []struct {
		name, input string
		want        keys.Modes
	}{
		{"at first", "", keys.Modes{AlternateScroll: true, BackarrowDelete: true}},
		{"keypad and cursor keys", "\x1b=\x1b[?1h", keys.Modes{AlternateScroll: true, BackarrowDelete: true, ApplicationCursor: true, ApplicationKeypad: true}},
		{"mouse", "\x1b[?1000;1002;1006h", keys.Modes{AlternateScroll: true, BackarrowDelete: true, Mouse: keys.MouseDrag, MouseFormat: keys.MouseSGR}},
		{"mouse off", "\x1b[?1003;1006h\x1b[?1006;1003l", keys.Modes{AlternateScroll: true, BackarrowDelete: true}},
		{"wheel never as keys", "\x1b[?1007l", keys.Modes{BackarrowDelete: true}},
		{"wheel as keys again", "\x1b[?1007l\x1b[?1007h", keys.Modes{AlternateScroll: true, BackarrowDelete: true}},
		{"paste and focus", "\x1b[?2004;1004h", keys.Modes{AlternateScroll: true, BackarrowDelete: true, BracketedPaste: true, FocusEvents: true}},
		{"keyboards", "\x1b[>13u\x1b[>4;1m\x1b[20h\x1b[?67h", keys.Modes{AlternateScroll: true, Kitty: 13, ModifyOtherKeys: 1, Newline: true}},
		{"alternate screen", "\x1b[?1049h", keys.Modes{AlternateScroll: true, BackarrowDelete: true, AltScreen: true}},
		{"reset", "\x1b[?1049h\x1b[>1u\x1b[?1003;2004h\x1b[?1007l\x1bc", keys.Modes{AlternateScroll: true, BackarrowDelete: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := play(t, "native", 80, 24, 0, []byte(tt.input))
			defer s.Close()
			if diff := cmp.Diff(tt.want, s.Modes()); diff != "" {
				t.Error(diff)
			}
		})
	}
}
