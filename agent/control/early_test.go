package control

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"

	"parley/agent/wire/markup"
)

// openings are how answers begin in ten languages.
var openings = strings.Split(strings.TrimSpace(`
Sure! Here is a summary of the document.
No, that is not correct.
No. The train leaves at nine.
None of the three fits.
Now let me check the logs.
Nothing new today.
Not yet, it is still building.
Note that the port is closed.
Right, I have changed the name.
Really good question!
Reply sent to Anna.
Repeat the last step, please.
Yes, it works.
I found 3 files.
A short answer: 42.
An error occurred in line 3.
Any other wishes?
Another way is a cron job.
Answer: 42
And so on.
**Summary**
**Note:** this is old.
# Report for Monday
## Results
- one
* first
1. Open the settings.
> As you wrote: fine.
"Yes" is what she said.
“No problem” was the reply.
(Not tested yet.)
…and that is all.
👍 Done.
✅ All tests pass.
| a | b |
`+"`rm -rf build` removes it."+`
<b>bold</b> is a tag.
<div class="x">text</div>
a < b means less.
[Link](https://example.org) is here.
[1] See the paper.
{"answer": 42}
$x = 1$
https://example.org
Natürlich! Hier ist die Übersicht.
Nein, das stimmt nicht.
Noch nicht.
Ruf ihn morgen an.
Am Montag um neun.
Ja, gern.
„Nein“ war die Antwort.
Bien sûr ! Voici la liste.
Non, ce n’est pas possible.
« Non » est la réponse.
Réponse : 42.
Absolument.
Claro, aquí tienes.
No, todavía no.
¡Hola! ¿Qué tal?
¿Necesitas algo más?
Anoche llovió.
Rápido y fácil.
Certo! Ecco la lista.
Non ancora.
Andiamo!
Claro! Aqui está.
Não, ainda não.
Ainda não.
Конечно! Вот список.
Нет, это не так.
Ответ: 42.
好的，我来帮你。
不，还没有。
“不行”是答案。
はい、できました。
いいえ、まだです。
「いいえ」が答えです。
네, 알겠습니다.
아니요, 아직이에요.
بالتأكيد! إليك القائمة.
لا، ليس بعد.
नहीं, अभी नहीं।
हाँ, ज़रूर।
`), "\n")

// blocks begin with code.
var blocks = []string{"```go\nfmt.Println(1)\n```", "```\nplain\n```", "```python\nprint(1)\n```", "~~~\nx\n~~~"}

// completions are what may still follow on a text.
var completions = sync.OnceValue(func() (all []string) {
	for _, w := range controlWords {
		for _, form := range []string{string(w), strings.ToLower(string(w))} {
			for k := range form {
				all = append(all, form[k:], "\n"+form[k:]+"\n```")
			}
		}
	}
	return all
})

// mayBecomeWord reports whether a text can still become a control word that says nothing beside it.
func mayBecomeWord(so string) bool {
	return slices.ContainsFunc(completions(), func(rest string) bool {
		r := Read(so + rest)
		return r.Word != Speak && r.Text == ""
	})
}

// mayBecomeTag reports whether a text can still become a tag around thinking.
func mayBecomeTag(so string) bool {
	return slices.ContainsFunc([]string{"<think>", "<|channel>", "<|start|>", "[THINK]", "&lt;think&gt;"}, func(tag string) bool { return strings.HasPrefix(tag, strings.ToLower(so)) })
}

// Of an ordinary answer nothing is held back but what may still become a control word or a tag: letter by letter, and so in larger pieces too.
//
// proves: W1, W4
func TestFirstDraftIsHeldForAReason(t *testing.T) {
	t.Parallel()
	for _, text := range append(slices.Clone(blocks), openings...) {
		for _, at := range []Place{Waited, Unasked, Loop} {
			so, shown := "", false
			for _, c := range text {
				so += string(c)
				if _, shown = Draft(so, at); shown {
					break
				}
				if !mayBecomeWord(so) && !mayBecomeTag(so) {
					t.Errorf("%q is held back of %q", so, text)
				}
			}
			if !shown {
				t.Errorf("%q is not shown before its end", text)
			}
		}
	}
}

// What an adapter holds back because it may be a call that the model writes as text comes on top: little, and of few answers.
func TestFirstTextOfAnAdapter(t *testing.T) {
	t.Parallel()
	for _, text := range append(slices.Clone(blocks), openings...) {
		r := markup.Reader{Tools: func(name string) (json.RawMessage, bool) { return nil, name == "files" }}
		n, drafted, given := 0, 0, 0
		for _, c := range text {
			r.Add(string(c))
			n++
			if _, ok := Draft(string([]rune(text)[:n]), Waited); ok && drafted == 0 {
				drafted = n
			}
			if _, ok := Draft(r.Text(), Waited); ok && given == 0 {
				given = n
			}
		}
		late := map[string]int{"[": 4, "{": 1, "<": 3, "h": 1}[text[:1]] // a list of calls in Python, the key of a call, the tag of a call, a prose of thoughts
		if strings.HasPrefix(text, "```") {                              // a block of calls: its language, and what it begins with
			late = 1
		}
		if given == 0 || given > drafted+late {
			t.Errorf("%q: a draft at %d, behind an adapter at %d", text, drafted, given)
		}
	}
}
