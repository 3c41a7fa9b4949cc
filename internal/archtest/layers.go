package archtest

// module is the import path of the root package, and the prefix of every other.
const module = "github.com/fairlead/fairlead"

// A rule says where a package stands and what it may import of this module.
//
// A package may import everything of a lower level, unless its rule narrows that with down, and of its own level only
// what siblings names. A rule holds for the package and for all below it that have no rule of their own; such a family
// may import within itself.
type rule struct {
	path     string   // below the module; "" is the root package
	level    int      // 0 is the vocabulary, 4 the composition root
	siblings []string // packages of the same level it may import
	down     []string // nil: all lower levels; else these alone, and always the vocabulary
	never    []string // lower packages it may not import although its level would allow them
}

// rules is the layer table of docs/ARCHITECTURE.md. A package that no rule covers fails the test: a new package gets
// its place here first.
var rules = []rule{
	// L0: the vocabulary.
	{path: "", level: 0},

	// L1: pure.
	{path: "internal/workflow", level: 1, siblings: []string{"internal/schedule"}},
	{path: "internal/engine", level: 1, siblings: []string{"internal/workflow", "internal/policy"}},
	{path: "internal/program", level: 1},
	{path: "internal/program/flow", level: 1, siblings: []string{"internal/program"}},
	{path: "internal/program/rounds", level: 1, siblings: []string{"internal/program"}},
	{path: "internal/program/star", level: 1, siblings: []string{"internal/program"}},
	{path: "internal/policy", level: 1},
	{path: "internal/schedule", level: 1},

	// L2: the machinery. Only control writes state.
	{path: "internal/control", level: 2, siblings: []string{"internal/store", "internal/hub", "internal/dispatch"}},
	{path: "internal/worker", level: 2, siblings: []string{
		"internal/control", "internal/hub", "internal/agent", "internal/workspace", "internal/dispatch",
	}},
	{path: "internal/clock", level: 2, siblings: []string{"internal/control", "internal/hub"}},
	{path: "internal/agent", level: 2, down: []string{}},
	{path: "internal/store", level: 2, never: []string{"internal/engine"}},
	{path: "internal/workspace", level: 2, down: []string{}},
	{path: "internal/dispatch", level: 2, siblings: []string{"internal/store"}},
	{path: "internal/dispatch/local", level: 2, siblings: []string{"internal/dispatch", "internal/store"}},
	{path: "internal/dispatch/river", level: 2, siblings: []string{"internal/dispatch", "internal/dispatch/local", "internal/store"}},
	{path: "internal/hub", level: 2, down: []string{}},
	{path: "internal/config", level: 2, down: []string{}},
	{path: "internal/telemetry", level: 2, down: []string{}},
	{path: "client", level: 2, down: []string{}},

	// L3: doors and adapters.
	{path: "internal/api", level: 3, down: l1("internal/control", "internal/hub")},
	{path: "internal/mcpserver", level: 3, down: l1("internal/control", "internal/hub", "internal/agent")},
	{path: "internal/web", level: 3, down: []string{}},
	{path: "internal/cli", level: 3, down: []string{"client", "internal/config", "internal/workflow"}}, // lints without a server
	{path: "internal/agent/acp", level: 3, down: []string{"internal/agent", "internal/workspace"}},
	{path: "internal/agent/llm", level: 3, down: []string{"internal/agent", "internal/workspace"}},
	{path: "internal/agent/script", level: 3, down: []string{"internal/agent", "internal/workspace"}},
	{path: "internal/tool", level: 3, down: []string{"internal/agent", "internal/workspace"}},

	// L4: the composition root, and programs around the product.
	{path: "internal/app", level: 4},
	{path: "cmd/fairlead", level: 4, siblings: []string{"internal/app"}},
	{path: "bench", level: 4, siblings: []string{"internal/app"}},
	{path: "e2e", level: 4, down: []string{"client"}},       // sees the product as its users do
	{path: "internal/mutation", level: 4, down: []string{}}, // tests alone
	{path: "internal/archtest", level: 4, down: []string{"internal/workflow"}},
}

// l1 is the whole pure layer and the packages named.
func l1(more ...string) []string {
	return append([]string{
		"internal/workflow", "internal/engine", "internal/program", "internal/program/flow",
		"internal/program/rounds", "internal/program/star", "internal/policy", "internal/schedule",
	}, more...)
}

// A ban keeps a package of others (the standard library's or a dependency's) to those that have a reason to use it.
type ban struct {
	pkg    string   // the import path; all below it when it ends in "/"
	except []string // packages of this module that may, with what is below them
	why    string
}

// impure is what the pure layer may not import: with the vocabulary it decides, and decides alike each time.
var impure = []string{
	"context", "crypto/rand", "database/sql", "log", "log/slog", "math/rand", "math/rand/v2",
	"net", "net/http", "os", "os/exec", "os/signal", "syscall",
}

// bans keeps each large dependency behind the one package that wraps it.
var bans = []ban{
	{pkg: "modernc.org/sqlite", except: []string{"internal/store", "bench"}, why: "SQL lives in internal/store"},
	{pkg: "github.com/jackc/pgx/v5", except: []string{"internal/store", "internal/dispatch/river", "bench"}, why: "SQL lives in internal/store"},
	{pkg: "github.com/danielgtaylor/huma/v2", except: []string{"internal/api"}, why: "HTTP lives in internal/api"},
	{pkg: "github.com/alecthomas/kong", except: []string{"internal/cli", "cmd/fairlead"}, why: "the command line lives in internal/cli"},
	{pkg: "cel.dev/cel-go", except: []string{"internal/workflow", "internal/engine"}, why: "guards are compiled with their workflow"},
	{pkg: "go.starlark.net", except: []string{"internal/program", "internal/app"}, why: "definitions are evaluated in internal/program/star"},
	{pkg: "charm.land/catwalk/", except: []string{"internal/app"}, why: "prices are put together in internal/app"},
	{pkg: "github.com/prometheus/client_golang", except: []string{"internal/telemetry", "internal/app"}, why: "metrics live in internal/telemetry"},
}

// isPure reports whether a package belongs to the pure layer.
func isPure(path string) bool {
	r, ok := ruleFor(path)
	return ok && r.level <= 1
}
