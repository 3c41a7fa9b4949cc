package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead/fairlead"
)

// Config is every setting, ready to use.
type Config struct {
	Home     string        // directory of the database, the token, worktrees and logs
	Addr     string        // host:port to listen on
	Database string        // postgres://… or the path of a SQLite file
	Workers  int           // runs at once on this node
	Hosts    []string      // further Host names the API answers to
	Labels   []string      // of this node; an agent's labels must all be among them
	LogLevel string        // debug | info | warn | error
	LogJSON  bool          // log lines as JSON
	Traces   bool          // spans go to an OpenTelemetry collector
	Drain    time.Duration // how long SIGTERM waits for live runs
	Release  time.Duration // how long a dead node's work waits for it; 0 = until a person releases it
	Retain   Retain        // how long what has ended is kept
	Token    string        // of a client, for commands that talk to a server
	URL      string        // server that commands talk to
	// Prices are what models cost, by their names, in place of what the list in the program says.
	Prices map[string]fairlead.Price

	values []Value
}

// Retain says for how long what has ended is kept; 0 keeps it for ever. Journals, tasks and the audit stay anyway.
type Retain struct {
	Runs       time.Duration // ended runs with their logs
	Events     time.Duration // the event log: a client away for longer reads everything anew
	Operations time.Duration // operation ids, and delivered triggers: nothing may be sent again after it
	Wire       time.Duration // what agents said, byte by byte, on this node
}

// Value is one effective setting and where it comes from: default, file, environment or flag.
type Value struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"`
	Doc    string `json:"doc"`
}

// Secret reports whether the value must not be shown.
func (v Value) Secret() bool {
	return v.Key == "token" || v.Key == "database" && strings.Contains(v.Value, "@")
}

// Values lists every setting in the order of the documentation.
func (c *Config) Values() []Value { return slices.Clone(c.values) }

// Sources are where settings are looked for. Flags holds only flags that were given.
type Sources struct {
	Flags   map[string]string
	Environ []string // KEY=value, as of os.Environ
	UserDir string   // home directory of the user, for the default of home
}

// setting describes one key.
type setting struct {
	key, doc string
	fallback func(c *Config) string
	set      func(c *Config, value string) error
}

// Prefix of environment variables: FAIRLEAD_<KEY>.
const Prefix = "FAIRLEAD_"

// File is the name of the settings file in the home.
const File = "config.yaml"

// Load finds every setting. A key that no setting has, in the file or with our prefix in the environment of a setting
// that is misspelt in the file, is an error that names where it stands.
func Load(s Sources) (*Config, error) {
	c := &Config{}
	env := environment(s.Environ)
	file := map[string]located{}
	for i, d := range settings(s.UserDir) {
		value, source := d.fallback(c), "default"
		if f, ok := file[d.key]; ok {
			value, source = f.value, f.where
		}
		if v, ok := env[Prefix+strings.ToUpper(d.key)]; ok {
			value, source = v, "environment "+Prefix+strings.ToUpper(d.key)
		}
		if v, ok := s.Flags[d.key]; ok {
			value, source = v, "flag --"+strings.ReplaceAll(d.key, "_", "-")
		}
		if err := d.set(c, value); err != nil {
			return nil, fairlead.Errorf(fairlead.CodeInvalid, "setting %s (%s): %v", d.key, source, err).WithHint("%s", d.doc)
		}
		c.values = append(c.values, Value{Key: d.key, Value: value, Source: source, Doc: d.doc})
		if i == 0 { // the home is known: its file holds the rest
			var err error
			if file, err = readFile(filepath.Join(c.Home, File), keys(s.UserDir)); err != nil {
				return nil, err
			}
		}
	}
	return c, nil
}

func keys(userDir string) []string {
	var out []string
	for _, d := range settings(userDir)[1:] {
		out = append(out, d.key)
	}
	return out
}

func environment(environ []string) map[string]string {
	env := make(map[string]string, len(environ))
	for _, e := range environ {
		if k, v, ok := strings.Cut(e, "="); ok && strings.HasPrefix(k, Prefix) {
			env[k] = v
		}
	}
	return env
}

func settings(userDir string) []setting {
	return append([]setting{
		{"home", "directory of database, token, worktrees and logs", text(filepath.Join(userDir, ".fairlead")), func(c *Config, v string) (err error) {
			c.Home, err = filepath.Abs(v)
			return err
		}},
		{"addr", "host:port to listen on", text("127.0.0.1:7420"), func(c *Config, v string) error {
			c.Addr = v
			return checkAddr(v)
		}},
		{"database", "postgres://… or the path of a SQLite file", func(c *Config) string { return filepath.Join(c.Home, "fairlead.db") }, func(c *Config, v string) error {
			c.Database = v
			return checkDatabase(v)
		}},
		{"workers", "runs at once on this node, 1 to 256", text("4"), func(c *Config, v string) (err error) {
			c.Workers, err = number(v, 1, 256)
			return err
		}},
		{"hosts", "further Host names the API answers to, separated by commas", text(""), func(c *Config, v string) error {
			c.Hosts = list(v)
			return nil
		}},
		{"labels", "labels of this node, separated by commas", text(""), func(c *Config, v string) error {
			c.Labels = list(v)
			return nil
		}},
		{"log_level", "debug, info, warn or error", text("info"), func(c *Config, v string) error {
			c.LogLevel = v
			return oneOf(v, "debug", "info", "warn", "error")
		}},
		{"log_json", "log lines as JSON: true or false", text("false"), func(c *Config, v string) (err error) {
			c.LogJSON, err = strconv.ParseBool(v)
			return err
		}},
		{"traces", "off, or otlp: spans go over OTLP/HTTP to where the OTEL_EXPORTER_OTLP_* variables say", text("off"), func(c *Config, v string) error {
			c.Traces = v == "otlp"
			return oneOf(v, "off", "otlp")
		}},
		{"drain", "how long a stop waits for live runs, for example 30s", text("30s"), func(c *Config, v string) (err error) {
			c.Drain, err = time.ParseDuration(v)
			return err
		}},
	}, later()...)
}

func text(value string) func(*Config) string { return func(*Config) string { return value } }

// later are the settings that most homes leave alone, and those of the commands that talk to a server.
func later() []setting {
	return []setting{
		{"release_after", "how long the work of a dead node waits for it before it goes on elsewhere from its last pushed checkpoint, for example 2h; 0 waits for a person",
			text("0"), func(c *Config, v string) (err error) {
				if c.Release, err = time.ParseDuration(v); err == nil && (c.Release < 0 || c.Release > 0 && c.Release < time.Minute) {
					err = errors.New("less than a minute")
				}
				return err
			}},
		{"retain_runs", "days that ended runs are kept; 0 keeps them for ever", text("90"), days(0, func(c *Config) *time.Duration { return &c.Retain.Runs })},
		{"retain_events", "days that the event log is kept; 0 keeps it for ever", text("30"), days(0, func(c *Config) *time.Duration { return &c.Retain.Events })},
		{"retain_operations", "days in which a command sent again under its operation id is recognised, at least 2; 0 is for ever", text("30"),
			days(2, func(c *Config) *time.Duration { return &c.Retain.Operations })},
		{"retain_wire", "days that the raw output of agents is kept on this node; 0 keeps it for ever", text("14"), days(0, func(c *Config) *time.Duration { return &c.Retain.Wire })},
		{"prices", "dollars per million tokens by model, as {\"name\": {\"input\": 2.50, \"output\": 10}}; cache_read and cache_write default to input", text(""),
			func(c *Config, v string) (err error) {
				c.Prices, err = parsePrices(v)
				return err
			}},
		{"url", "server that commands talk to", func(c *Config) string { return "http://" + c.Addr }, func(c *Config, v string) error {
			c.URL = strings.TrimRight(v, "/")
			return checkURL(v)
		}},
		{"token", "token for the server; default: the home's token file", tokenFile, func(c *Config, v string) error {
			c.Token = v
			return nil
		}},
	}
}

// tokenFile reads the token the home's server wrote for its owner; "" when there is none yet.
func tokenFile(c *Config) string {
	b, err := os.ReadFile(filepath.Join(c.Home, "token"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// days reads a number of days; 0 is always allowed, less than least is not.
func days(least int, field func(*Config) *time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := number(v, 0, 36500)
		if err == nil && n != 0 && n < least {
			err = fmt.Errorf("less than %d days", least)
		}
		*field(c) = time.Duration(n) * 24 * time.Hour
		return err
	}
}

func number(v string, low, high int) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("not a whole number from %d to %d", low, high)
	}
	return n, nil
}

func list(v string) []string {
	var out []string
	for _, p := range strings.Split(v, ",") {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

func oneOf(v string, allowed ...string) error {
	if !slices.Contains(allowed, v) {
		return fmt.Errorf("not one of %s", strings.Join(allowed, ", "))
	}
	return nil
}
