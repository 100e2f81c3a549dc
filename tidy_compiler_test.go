package tallyring

import (
	"go/ast"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// promise is what the compiler must say of one function. Names are the compiler's own: Pin,
// (*Pair).CompareAndSwap, monotonic.Now.
type promise struct {
	folder   string // of a package in the main module
	function string
	inlines  bool // it can be inlined into its callers
	heapless bool // none of its own lines puts anything on the heap
}

// Promises are made for 64-bit machines; this one stands for all. A 32-bit compiler spends more of
// its inlining budget on the same line.
const promiseSystem, promiseArch = "linux", "amd64"

// promises lists the functions on hot paths. What a whole call allocates, its callees included, is
// the matter of the packages' own tests.
var promises = []promise{
	{".", "Pin", true, true},
	{".", "Unpin", true, true},
	{".", "PairLockFree", true, true},
	{".", "(*Pair).CompareAndSwap", false, true},
	{".", "(*Pair).compareAndSwapTwin", false, true},
	{".", "Words", true, true},
	{".", "Pairs", true, true},
	{".", "monotonic.Now", true, true},
	{".", "(*ManualClock).Now", true, true},
	{".", "Window.Length", true, true},

	{"atomicring", "(*buckets).at", true, true},
	{"atomicring", "(*buckets).Clamp", true, true},
	{"atomicring", "(*buckets).distance", true, true},
	{"atomicring", "(*Packed).Counts", true, true},
	{"atomicring", "(*Packed).Newest", true, true},
	{"atomicring", "(*Packed).Plain", true, true},
	{"atomicring", "(*Packed).Sums", true, true},
	{"atomicring", "(*Tagged).Near", true, true},
	{"atomicring", "(*Tagged).Plain", true, true},
	{"atomicring", "inside", true, true},
	{"atomicring", "(*Tagged).recall", true, true},
	{"atomicring", "(*Packed).pack", true, true},
	{"atomicring", "(*Ring).Add", false, true},
	{"atomicring", "(*Ring).Allow", false, true},
	{"atomicring", "(*Ring).Take", false, true},
	{"atomicring", "(*Ring).Read", false, true},
	{"atomicring", "(*Ring).Refund", false, true},

	{"table", "match", true, true},
	{"table", "(*Table).home", true, true},
	{"table", "(*Table).Allow", false, true},
	{"table", "(*Table).Take", false, true},

	{"table", "(*Table).after", false, true},
	{"table", "(*Table).allowWord", false, true},

	{"gcra", "(*clock).Units", true, true},
	{"gcra", "(*Rate).Due", true, true},
	{"gcra", "(*Rate).Newest", true, true},
	{"gcra", "(*Rate).Debt", true, true},
	{"gcra", "(*Rate).Elapsed", true, true},
	{"gcra", "(*Rate).Depth", true, true},
	{"gcra", "(*Rate).Plain", true, true},
	{"gcra", "(*Bucket).Allow", false, true},
	{"gcra", "(*Bucket).Take", false, true},
	{"gcra", "(*Rate).Next", false, true},
	{"exphist", "(*Histogram).Add", false, true},
	{"exphist", "(*Histogram).Allow", false, true},
	{"exphist", "(*Histogram).Take", false, true},

	{"pertcore", "(*Counter).Add", false, true},
	{"pertcore", "(*Limiter).Allow", false, true},

	{"limiter", "(*Limiter).Allow", true, true},
	{"limiter", "(*Limiter).Key", true, true},
	{"limiter", "(*Limiter).AllowKey", false, true},
	{"limiter", "(*Limiter).Take", false, true},
	{"limiter", "(*Several).TakeKey", false, true},
}

// Goal: what must be cheap stays cheap. Method: the compiler's own account of what it inlines and
// of what goes to the heap, for one machine, whatever runs the test.
func TestHotFunctionsKeepTheirPromises(t *testing.T) {
	var packages []string
	for _, p := range promises {
		packages = append(packages, "./"+p.folder)
	}
	slices.Sort(packages)
	arguments := append([]string{"build", "-gcflags=-m"}, slices.Compact(packages)...)
	compile := exec.Command("go", arguments...)
	compile.Env = append(os.Environ(),
		"GOOS="+promiseSystem, "GOARCH="+promiseArch, "CGO_ENABLED=0")
	account, err := compile.CombinedOutput()
	require.NoError(t, err, "go %s\n%s", strings.Join(arguments, " "), account)

	files := loadTree(t).files
	for _, message := range broken(promises, string(account), files) {
		t.Error(message)
	}
}

// spoken is one line of the compiler's account: file, line and what it says.
var spoken = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):\d+: (.*)$`)

// broken returns the promises that the compiler's account does not bear out.
func broken(promises []promise, account string, files []*source) []string {
	var messages []string
	inlined, heaped := map[string]bool{}, map[string][]int{}
	for _, line := range spoken.FindAllStringSubmatch(account, -1) {
		file, number, says := path.Clean(filepath.ToSlash(line[1])), line[2], line[3]
		if name, can := strings.CutPrefix(says, "can inline "); can {
			name, _, _ = strings.Cut(name, " with cost")
			inlined[path.Dir(file)+" "+name] = true
		}
		if strings.Contains(says, "escapes to heap") || strings.Contains(says, "moved to heap") {
			at, _ := strconv.Atoi(number)
			heaped[file] = append(heaped[file], at)
		}
	}
	for _, p := range promises {
		f, function := functionNamed(p, files)
		if function == nil {
			messages = append(messages, p.folder+" "+p.function+
				": no such function: mend its row in promises")
			continue
		}
		if p.inlines && !inlined[p.folder+" "+p.function] {
			messages = append(messages, p.folder+" "+p.function+
				" cannot be inlined: move its rare part into a function named …Slow")
		}
		for _, at := range heaped[f.path] {
			if p.heapless && f.line(function.Pos()) <= at && at <= f.line(function.End()) {
				messages = append(messages, f.path+":"+strconv.Itoa(at)+": "+p.function+
					" puts something on the heap here: return values, or let the caller own it")
			}
		}
	}
	return messages
}

// functionNamed finds what a promise speaks of, in code that is not a test.
func functionNamed(p promise, files []*source) (*source, *ast.FuncDecl) {
	for _, f := range files {
		if f.folder() != p.folder || f.isTest() || !f.isBuilt(promiseSystem, promiseArch) {
			continue
		}
		for _, declared := range f.tree.Decls {
			function, ok := declared.(*ast.FuncDecl)
			if ok && compilerName(function) == p.function {
				return f, function
			}
		}
	}
	return nil, nil
}

// compilerName returns what the compiler calls a function in its account.
func compilerName(function *ast.FuncDecl) string {
	if function.Recv == nil {
		return function.Name.Name
	}
	switch on := function.Recv.List[0].Type.(type) {
	case *ast.StarExpr:
		if base, ok := on.X.(*ast.Ident); ok {
			return "(*" + base.Name + ")." + function.Name.Name
		}
	case *ast.Ident:
		return on.Name + "." + function.Name.Name
	}
	return function.Name.Name
}

// Goal: each kind of broken promise is noticed, and a kept one is not. Method: a made-up account.
func TestCompilersAccountIsRead(t *testing.T) {
	f, err := parse("p/a.go", ".", "package p\n\ntype T int\n\nfunc (t *T) Get() *int {\n"+
		"\tx := 1\n\treturn &x\n}\n\nfunc Put() {}\n")
	require.NoError(t, err)
	account := "# p\np/a.go:5:6: can inline (*T).Get\np/a.go:6:2: moved to heap: x\n" +
		"p/a.go:10:6: cannot inline Put: too costly\n"
	got := broken([]promise{
		{"p", "(*T).Get", true, true}, {"p", "(*T).Get", true, false},
		{"p", "Put", true, true}, {"p", "Put", false, true}, {"p", "Gone", true, true},
	}, account, []*source{f})
	require.Len(t, got, 3)
	assert.Contains(t, got[0], "p/a.go:6: (*T).Get puts something on the heap here")
	assert.Contains(t, got[1], "p Put cannot be inlined")
	assert.Contains(t, got[2], "p Gone: no such function")
}
