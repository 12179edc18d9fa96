package main

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"parley/gateway/chatclient"
	"parley/gateway/configfile"
)

// configFile finds the configuration file once; "" = there is none. A ./config.yaml in a folder that is not trusted is an error, after a
// person on a terminal was asked: a host that runs, or a command that answers, without the file that lies there would surprise.
func (e *env) configFile() (string, error) {
	if e.conf != nil {
		return *e.conf, nil
	}
	path, err := configfile.Find(e.config, os.Getenv)
	if u, ok := errors.AsType[*configfile.Untrusted](err); ok {
		if e.asksNothing || !trustNow(u) {
			return "", failed(exitUsage, "untrusted", "%s; %s", chatclient.OneLine(u.Error()), chatclient.OneLine(waysOf(u)))
		}
		path, err = configfile.Find(e.config, os.Getenv)
	}
	if err == nil {
		e.conf = &path
	}
	return path, err
}

// waysOf names the commands that help.
func waysOf(u *configfile.Untrusted) string {
	if u.Never {
		return "to use the file anyway, run parley --config " + quoted(filepath.Join(u.Folder, "config.yaml"))
	}
	return "if the file is yours, run parley trust " + quoted(u.Folder) + "; if not, name another file with parley --config FILE"
}

// trustNow asks a person about the folder and remembers a yes. It reports whether the folder is trusted now.
func trustNow(u *configfile.Untrusted) bool {
	if u.Never || !term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stderr.Fd())) {
		return false
	}
	there := "There is a config.yaml in " + u.Folder + ", which is not trusted."
	if u.Links != "" {
		there += " In this folder " + u.Links + ". If you trust the folder, you trust the linked files, too."
	}
	fmt.Fprintf(os.Stderr, "%s\nA configuration can start programs and send your keys to other servers.\nTrust this folder from now on? [y/N] ", chatclient.OneLine(there))
	line, _ := bufio.NewReader(os.Stdin).ReadString('\n') // the end of the input is a no
	if a := strings.ToLower(strings.TrimSpace(line)); a != "y" && a != "yes" {
		return false
	}
	_, err := configfile.Trust(u.Folder, os.Getenv)
	if err != nil {
		fmt.Fprintln(os.Stderr, "parley: "+chatclient.OneLine(err.Error()))
	}
	return err == nil
}

type trustCmd struct {
	Dir    string `arg:"" optional:"" help:"The folder. Default: the working folder."`
	List   bool   `help:"List the trusted folders."`
	Forget bool   `help:"Stop trusting the folder."`
	asJSON
}

// Help shows examples.
func (trustCmd) Help() string {
	return "parley reads the config.yaml and the .env of the working folder only if parley init wrote them or you trust the folder. A file that --config or $PARLEY_CONFIG names needs no trusted folder.\n\nExamples:\n\n  parley trust ~/bots/garden\n  parley trust --list\n  parley trust --forget ~/bots/garden"
}

// trusted is what the command answers.
type trusted struct {
	Folders []configfile.TrustedFolder `json:"folders"`
}

// Run trusts a folder, or lists or forgets those that are trusted.
func (c trustCmd) Run(e *env) error {
	dir := cmp.Or(c.Dir, ".")
	switch {
	case c.List && (c.Forget || c.Dir != ""):
		return misuse("--list takes neither a folder nor --forget")
	case c.List:
		list, err := configfile.Trusted(os.Getenv)
		if err != nil {
			return err
		}
		return tell(e, c.asJSON, trusted{append([]configfile.TrustedFolder{}, list...)}, func(p *page, t trusted) {
			for _, f := range t.Folders {
				p.printf("%s\n", f.Path)
			}
			if len(t.Folders) == 0 {
				p.note("No folder is trusted.\n")
			}
		})
	case c.Forget:
		found, err := configfile.Distrust(dir, os.Getenv)
		if err == nil && !found {
			err = failed(exitMissing, "not_found", "%s is not trusted (parley trust --list shows the trusted folders)", dir)
		}
		if err != nil {
			return err
		}
		return tell(e, c.asJSON, trusted{[]configfile.TrustedFolder{}}, func(p *page, _ trusted) { p.note("parley does not read the config.yaml in %s any more.\n", dir) })
	}
	f, err := configfile.Trust(dir, os.Getenv)
	if u, never := errors.AsType[*configfile.Untrusted](err); never {
		return failed(exitRefused, "forbidden", "%w: name it with --config %s instead", u, quoted(filepath.Join(u.Folder, "config.yaml")))
	}
	if err != nil {
		return err
	}
	return tell(e, c.asJSON, trusted{[]configfile.TrustedFolder{f}}, func(p *page, t trusted) {
		p.note("parley reads the config.yaml and the .env in %s from now on.\n", t.Folders[0].Path)
		if links := t.Folders[0].Links(); links != "" {
			p.note("In this folder %s. If a link leads to another file, trust the folder again.\n", links)
		}
	})
}
