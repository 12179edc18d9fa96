//go:build amd64 || arm64

package confine

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

var update = flag.Bool("update", false, "write docs/security.md again")

// hostile is the variable that makes the test binary the hostile program: what it is told of the world.
const hostile = "CONFINE_TEST_HOSTILE"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Command {
		code, err := Main(os.Args[2:], os.Stdout)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(code)
	}
	if told := os.Getenv(hostile); told != "" {
		var t target
		if err := json.Unmarshal([]byte(told), &t); err != nil {
			panic(err)
		}
		said := map[string]string{}
		for _, a := range attempts() {
			err := a.try(t)
			said[a.kind+": "+a.name] = fmt.Sprint(err)
		}
		_ = json.NewEncoder(os.Stdout).Encode(said)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func launcher() Launcher { return Launcher{os.Args[0], Command} }

// A hostile program tries whatever is in the list, with each of the three means alone, with each of them missing, with all and with
// none. What a means refuses it refuses alone, and what none refuses is reached with all of them switched off: the list tries what it says.
//
// source: CWE-732, CWE-653; Linux, Documentation/userspace-api/landlock.rst; unix(7); ipc_namespaces(7)
func TestHostile(t *testing.T) {
	t.Parallel()
	has := launcher().Probe()
	if len(has.Reached) > 0 {
		t.Errorf("the self-test: %+v", has)
	}
	t.Logf("this system: %+v", has)
	for _, set := range []means{0, byLandlock, byFilter, byNamespaces, byLandlock | byFilter, byLandlock | byNamespaces, byFilter | byNamespaces, byLandlock | byFilter | byNamespaces} {
		a := Ability{Filter: set&byFilter != 0, Namespace: set&byNamespaces != 0, Isolated: set&byNamespaces != 0}
		if set&byLandlock != 0 {
			a.Landlock = has.Landlock
		}
		name := fmt.Sprintf("landlock %d, filter %t, namespaces %t", a.Landlock, a.Filter, a.Isolated)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if a.Filter && !has.Filter || a.Isolated && !has.Isolated || set&byLandlock != 0 && has.Landlock < 6 {
				t.Log("untested: this system does not give it")
				return
			}
			if works := a; a.Isolated && a.Landlock == 0 && launcher().selfTest(&works) != nil {
				t.Log("untested: this system hides parts of /proc")
				return
			}
			said := attack(t, a)
			for _, x := range attempts() {
				id := x.kind + ": " + x.name
				switch got, must := said[id], x.by&(set|always) != 0; {
				case got == "":
					t.Errorf("%s: not tried", id)
				case got == "<nil>" && must:
					t.Errorf("%s: it could", id)
				case got != "<nil>" && !must && set == 0:
					t.Logf("%s: untested, refused without any confinement: %s", id, got)
				}
			}
		})
	}
	t.Run("without namespaces of mounts and processes", func(t *testing.T) {
		t.Parallel()
		if !has.Namespace || !has.Filter || has.Landlock < 6 {
			t.Log("untested: this system does not give it")
			return
		}
		said := attack(t, Ability{Landlock: has.Landlock, Filter: true, Namespace: true})
		for _, x := range attempts() {
			if id := x.kind + ": " + x.name; x.by&(byFilter|byLandlock|always) != 0 && said[id] == "<nil>" {
				t.Errorf("%s: it could", id)
			}
		}
	})
}

// An older version of Landlock refuses what it knows, alone, and leaves open what later ones brought: those that this kernel has are tried one
// by one, as on a kernel that has no newer.
//
// source: Linux, Documentation/userspace-api/landlock.rst, "Previous limitations"
func TestLandlockVersions(t *testing.T) {
	t.Parallel()
	since := map[string]int{"files outside: truncate": 3, "sockets: connect by TCP": 4, "sockets: connect to an abstract one": 6}
	for _, signal := range []string{"kill", "tgkill", "rt_sigqueueinfo", "pidfd_send_signal"} {
		since["other processes: "+signal] = 6
	}
	has := launcher().Probe()
	for version := 1; version <= has.Landlock; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			t.Parallel()
			said := attack(t, Ability{Landlock: version})
			for _, x := range attempts() {
				if x.by&byLandlock == 0 {
					continue
				}
				id := x.kind + ": " + x.name
				if got, refused := said[id], version >= since[id]; (got != "<nil>") != refused {
					t.Errorf("%s: %s, want it refused: %t", id, got, refused)
				}
			}
		})
	}
	if has.Landlock < 7 {
		t.Logf("untested: Landlock above %d", has.Landlock)
	}
}

// attack runs the hostile program with an ability and gives what came of each attempt.
func attack(t *testing.T, a Ability) map[string]string {
	t.Helper()
	folder, err := os.MkdirTemp("", "hostile") // short enough for the address of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	to := lay(t, folder)
	told, _ := json.Marshal(to)
	extra, err := os.Open(to.outside())
	if err != nil {
		t.Fatal(err)
	}
	defer extra.Close()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Dir, cmd.Env, cmd.ExtraFiles = to.Own, []string{hostile + "=" + string(told)}, []*os.File{extra}
	if err := launcher().Wrap(cmd, Plan{Read: []string{os.Args[0], to.Given}, Write: []string{to.Own}}, a); err != nil {
		t.Fatal(err)
	}
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("the hostile program: %v\n%s", err, said.String())
	}
	results := map[string]string{}
	if err := json.Unmarshal(out.Bytes(), &results); err != nil {
		t.Fatal(err)
	}
	return results
}

// lay lays out the world that the hostile program attacks.
func lay(t *testing.T, folder string) target {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	to := target{Own: filepath.Join(folder, "own"), Given: filepath.Join(folder, "given"), Outside: filepath.Join(folder, "outside"), Queue: filepath.Base(folder)}
	for _, f := range []string{to.Own, to.Given, to.Outside} {
		must(os.Mkdir(f, 0o700))
	}
	for _, f := range []string{to.file(), to.outside()} {
		must(os.WriteFile(f, []byte("secret"), 0o600))
	}
	for _, name := range []string{"user.a", "user.b", "user.c", "user.d"} {
		_ = unix.Setxattr(to.file(), name, []byte("x"), 0) // where the file system has attributes
	}
	listen := func(network, at string) net.Listener {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), network, at)
		must(err)
		t.Cleanup(func() { _ = l.Close() })
		return l
	}
	to.TCP = listen("tcp", "127.0.0.1:0").Addr().(*net.TCPAddr).Port
	listen("unix", filepath.Join(to.Outside, "stream"))
	listen("unix", "@"+to.Queue)
	for network, at := range map[string]string{"udp": "127.0.0.1:0", "unixgram": filepath.Join(to.Outside, "datagram")} {
		p, err := (&net.ListenConfig{}).ListenPacket(t.Context(), network, at)
		must(err)
		t.Cleanup(func() { _ = p.Close() })
		if at, ok := p.LocalAddr().(*net.UDPAddr); ok {
			to.UDP = at.Port
		}
	}
	victim := exec.CommandContext(t.Context(), "/bin/sleep", "600")
	must(launcher().Wrap(victim, Plan{}, Ability{})) // without capabilities: otherwise the kernel protects it
	must(victim.Start())
	t.Cleanup(func() {
		_ = victim.Process.Kill()
		_ = victim.Wait()
	})
	to.Victim = victim.Process.Pid
	to.Key = 0x70000000 + to.Victim
	shm, _ := result(unix.SYS_SHMGET, uintptr(to.Key), 4096, unix.IPC_CREAT|0o600)
	sem, _ := result(unix.SYS_SEMGET, uintptr(to.Key), 1, unix.IPC_CREAT|0o600)
	msg, _ := result(unix.SYS_MSGGET, uintptr(to.Key), unix.IPC_CREAT|0o600)
	queue, _ := result(unix.SYS_MQ_OPEN, pointer(to.Queue), unix.O_CREAT|unix.O_RDWR, 0o600, 0)
	t.Cleanup(func() {
		_ = sys(unix.SYS_SHMCTL, uintptr(shm), unix.IPC_RMID, 0)
		_ = sys(unix.SYS_SEMCTL, uintptr(sem), 0, unix.IPC_RMID)
		_ = sys(unix.SYS_MSGCTL, uintptr(msg), unix.IPC_RMID, 0)
		_ = unix.Close(queue)
		_ = sys(unix.SYS_MQ_UNLINK, pointer(to.Queue))
	})
	return to
}

// What runtimes need works as before: with everything, and where the system gives no namespaces.
func TestRuntimes(t *testing.T) {
	t.Parallel()
	has := launcher().Probe()
	programs := map[string]struct {
		command []string
		modes   bool // it changes modes of its own files, which wants a file system of its own
	}{
		"sh": {[]string{"/bin/sh", "-c", `set -e; echo x | cat >a; mkdir d; mv a d/b; ln -s d/b c; touch -d @1 c; cat <c; rm -r d c; (exit 3) || test $? = 3; : >/dev/null; cat </dev/stdin`}, false},
		"node": {[]string{"node", "-e", `const fs=require('fs'),cp=require('child_process'),{Worker}=require('worker_threads');
			fs.writeFileSync('n','x'); fs.utimesSync('n',1,1); if(cp.execFileSync('/bin/cat',['n'])!='x')throw 1;
			const c=cp.spawn(process.execPath,['-e','process.on("message",m=>{process.send(m+1);process.disconnect()})'],{stdio:['pipe','pipe','inherit','ipc']});
			c.send(1); c.on('message',m=>{if(m!=2)process.exit(9); new Worker('',{eval:true}).on('exit',x=>process.exit(x))});`}, false},
		"node files":        {[]string{"node", "-e", `const fs=require('fs'); fs.writeFileSync('m','x'); fs.copyFileSync('m','o'); fs.chmodSync('o',0o755); fs.watch('.').close()`}, true},
		"node, the machine": {[]string{"node", "-e", `const os=require('os'); if(!(os.availableParallelism()>0&&os.totalmem()>0&&os.uptime()>0&&Array.isArray(os.cpus())&&os.loadavg().length==3))throw 1`}, false},
		"python, the machine": {[]string{"/usr/bin/python3", "-c", `import os,concurrent.futures as f
assert os.cpu_count()>0 and os.sysconf('SC_PHYS_PAGES')>0
with f.ThreadPoolExecutor() as e: assert list(e.map(abs,[-1]))==[1]`}, false},
		"java": {[]string{"java", "-XX:+UseSerialGC", "-Xshare:auto", "-version"}, false},
		"python": {[]string{"/usr/bin/python3", "-c", `import subprocess,asyncio,tempfile,sqlite3,os,multiprocessing.connection,threading
assert subprocess.check_output(['/bin/echo','x'])==b'x\n'
async def f():
    p=await asyncio.create_subprocess_exec('/bin/cat',stdin=-1,stdout=-1); o,_=await p.communicate(b'x'); assert o==b'x'
asyncio.run(f())
with tempfile.TemporaryDirectory(dir='.') as d: open(d+'/f','w').close()
c=sqlite3.connect('s.db'); c.execute('create table if not exists t(x)'); c.commit()
a,b=multiprocessing.connection.Pipe(); a.send(1); assert b.recv()==1
t=threading.Thread(target=print); t.start(); t.join()`}, false},
		"python files": {[]string{"/usr/bin/python3", "-c", `import shutil,os; open('p','w').close(); shutil.copy2('p','q'); os.chmod('q',0o755)`}, true},
		"git":          {[]string{"git", "-c", "user.name=x", "-c", "user.email=x", "-c", "init.defaultBranch=m", "init", "-q", "repo"}, true},
	}
	for name, p := range programs {
		for _, isolated := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, isolated %t", name, isolated), func(t *testing.T) {
				t.Parallel()
				path, err := exec.LookPath(p.command[0])
				if err != nil || isolated && !has.Isolated || !isolated && p.modes {
					t.Log("untested: not here")
					return
				}
				a := has
				if !isolated {
					a.Namespace, a.Isolated = false, false
				}
				own := t.TempDir()
				cmd := exec.CommandContext(t.Context(), path, p.command[1:]...)
				cmd.Dir, cmd.Env = own, []string{"PATH=/usr/bin:/bin", "HOME=" + own, "TMPDIR=" + own}
				if err := launcher().Wrap(cmd, Plan{Write: []string{own}}, a); err != nil {
					t.Fatal(err)
				}
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}

// A command that puts a symbolic link where a folder of its plan was gets nothing more by it at its next start.
//
// source: CWE-59
func TestPlantedLink(t *testing.T) {
	t.Parallel()
	has := launcher().Probe()
	for _, isolated := range []bool{true, false} {
		folder := t.TempDir()
		own, outside := filepath.Join(folder, "own"), filepath.Join(folder, "outside")
		for _, f := range []string{own, outside} {
			if err := os.Mkdir(f, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for _, link := range []string{"written", "read"} {
			if err := os.Symlink(outside, filepath.Join(own, link)); err != nil {
				t.Fatal(err)
			}
		}
		a := has
		a.Namespace, a.Isolated = has.Namespace && isolated, has.Isolated && isolated
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", "echo x >written/new; ls read; echo x >here")
		cmd.Dir = own
		if err := launcher().Wrap(cmd, Plan{Read: []string{filepath.Join(own, "read")}, Write: []string{own, filepath.Join(own, "written")}}, a); err != nil {
			t.Fatal(err)
		}
		out, err := cmd.CombinedOutput()
		if err != nil || strings.Count(string(out), "\n") != 2 {
			t.Errorf("%v: %s", err, out)
		}
		if _, err := os.Stat(filepath.Join(outside, "new")); err == nil {
			t.Error("it wrote outside")
		}
	}
}

// The exit of a command is told, signals mean to it what they mean elsewhere, and what it started and left behind ends with it.
func TestFirstProcess(t *testing.T) {
	t.Parallel()
	has := launcher().Probe()
	if !has.Isolated {
		t.Log("untested: this system does not give it")
		return
	}
	own := t.TempDir()
	for script, want := range map[string]int{"exit 7": 7, "kill -9 $$": 137, "kill -TERM $$": 143, "kill -HUP $$": 129, "kill -PIPE $$": 141,
		"setsid sleep 300 & exit 0": 0} {
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
		cmd.Dir = own
		if err := launcher().Wrap(cmd, Plan{Write: []string{own}}, has); err != nil {
			t.Fatal(err)
		}
		_, _ = cmd.CombinedOutput() // it waits for whoever holds the pipe
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("%s: %d, not %d", script, got, want)
		}
	}
}

// docs/security.md shows the list, and what refuses each.
func TestGeneratedAttempts(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		t.Log("untested: it has more calls")
		return
	}
	path := filepath.Join("..", "..", "..", "docs", "security.md")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- begin: what a confined program tries (generated) -->\n", "<!-- end -->"
	head, rest, began := strings.Cut(string(raw), begin)
	_, tail, ended := strings.Cut(rest, end)
	if !began || !ended {
		t.Fatal("docs/security.md has no place for the table")
	}
	text := head + begin + "\n" + table(attempts()) + "\n" + end + tail
	if text == string(raw) {
		return
	}
	if !*update {
		t.Fatal("docs/security.md has drifted; write it again with: go test ./tools/mcp/confine -run Generated -update")
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// table joins attempts of a kind that the same means refuse.
func table(all []attempt) string {
	type row struct {
		kind string
		by   means
	}
	var order []row
	names := map[row][]string{}
	for _, a := range all {
		r := row{a.kind, a.by}
		if names[r] == nil {
			order = append(order, r)
		}
		names[r] = append(names[r], a.name)
	}
	slices.SortStableFunc(order, func(a, b row) int {
		first := func(r row) int { return slices.IndexFunc(order, func(x row) bool { return x.kind == r.kind }) }
		return first(a) - first(b)
	})
	var b strings.Builder
	b.WriteString("| what | tried | Landlock | filter of system calls | namespaces |\n|---|---|---|---|---|\n")
	for _, r := range order {
		mark := func(m means) string {
			switch {
			case r.by&m != 0:
				return "refused"
			case r.by&always != 0:
				return "–, no capability"
			}
			return "–"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.kind, strings.Join(names[r], ", "), mark(byLandlock), mark(byFilter), mark(byNamespaces))
	}
	return b.String()
}
