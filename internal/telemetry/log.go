package telemetry

import (
	"io"
	"log/slog"
	"strings"

	"github.com/fairlead/fairlead"
)

// LogOptions say how logs are written; nil means the defaults.
type LogOptions struct {
	// Level is debug, info (default), warn or error.
	Level string
	// Format is text (default) or json.
	Format string
}

// NewLogger makes the logger of a process. An unknown level or format is refused, for a misspelt level would hide what
// was asked for.
func NewLogger(w io.Writer, o *LogOptions) (*slog.Logger, error) {
	if o == nil {
		o = &LogOptions{}
	}
	level, err := parseLevel(o.Level)
	if err != nil {
		return nil, err
	}
	h := &slog.HandlerOptions{Level: level, ReplaceAttr: redact}
	switch strings.ToLower(o.Format) {
	case "", "text":
		return slog.New(slog.NewTextHandler(w, h)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, h)), nil
	}
	return nil, fairlead.Errorf(fairlead.CodeInvalid, "unknown log format").WithHint("use text or json")
}

func parseLevel(s string) (slog.Level, error) {
	switch strings.ToLower(s) {
	case "debug":
		return slog.LevelDebug, nil
	case "", "info":
		return slog.LevelInfo, nil
	case "warn":
		return slog.LevelWarn, nil
	case "error":
		return slog.LevelError, nil
	}
	return 0, fairlead.Errorf(fairlead.CodeInvalid, "unknown log level").WithHint("use debug, info, warn or error")
}

// redact keeps what is a secret by its name out of every line.
func redact(_ []string, a slog.Attr) slog.Attr {
	switch strings.ToLower(a.Key) {
	case "token", "secret", "authorization", "password":
		return slog.String(a.Key, "(hidden)")
	}
	return a
}
