package wire

import (
	"strings"
	"time"

	"parley/channels/pattern"
)

// foreignUnits are words for lengths of time in languages besides English, shortest unit first.
var foreignUnits = []struct {
	words string
	unit  time.Duration
}{
	{`毫秒|ミリ秒|밀리초|millisekunden?|milli-?secondes?|milisegundos?|millisecond[oi]|milissegundos?|миллисекунд\p{L}*`, time.Millisecond},
	{`秒(?:钟|鐘|間)?|초|sekunden?|secondes?|segundos?|second[oi]|секунд\p{L}*|сек\b|s\b`, time.Second},
	{`分(?:钟|鐘|間)?|분|minuten?|minutes?|minutos?|minut[oi]|минут\p{L}*|мин\b|min\b`, time.Minute},
	{`(?:个|個)?小时|(?:个|個)?小時|時間|시간|stunden?|heures?|horas?|or[ae]\b|час\p{L}*|h\b`, time.Hour},
	{`天|日間?|일|tage?n?\b|jours?|d[ií]as?|giorn[oi]|дн(?:я|ей)|день|сут\p{L}*`, 24 * time.Hour},
}

var (
	// foreignLength is a length of time: 3600 秒, 1 Stunde 5 Minuten. Each part has a group for its number and one for each unit.
	foreignLength = pattern.New(foreignPart)
	// foreignWait is a length of time that is said to be how long to wait: by a word in front of it, or behind it where the language has it there.
	// source: docs.bigmodel.cn/cn/faq/api-code, ai.google.dev/gemini-api/docs/rate-limits
	foreignWait = pattern.New(`(?:请等待|請等待|请稍等|等待|\bin|\bnach|\bwarten sie|\bdans|\bapr[eè]s|\battend(?:ez|re)|\ben|\bdentro de|\bespere?|\btra|\bfra|\bdopo|\battend(?:i|ere)|\bem|\bap[oó]s|\baguarde|через|подождите)\s?(?:noch |etwa |ca\. |environ |unos |circa |cerca de |около )?(` + foreignLengths + `)|` +
		`(` + foreignLengths + `)\s?(?:之?后|之?後|以后|以後|後に|후에?|뒤에?|이후|お待ち|待っ|기다)`)
	// waitWord is in texts that say how long to wait.
	waitWord = pattern.New(`重试|重試|再试|再試|稍后|稍後|等待|お待ち|待っ|再度|再試行|다시|재시도|기다|erneut|wieder|nochmals?|wart|r[ée]essay|nouveau|attend|reintent|int[eé]ntelo|vuelv|espere|riprov|attend|tente|novamente|aguard|повтор|попробуй|подожд|снова`)
)

var foreignPart, foreignLengths = func() (part, all string) {
	var groups, words []string
	for _, u := range foreignUnits {
		groups, words = append(groups, "("+u.words+")"), append(words, u.words)
	}
	const count = `\d+(?:[.,]\d+)? ?`
	return `(\d+(?:[.,]\d+)?) ?(?:` + strings.Join(groups, "|") + `)`, count + `(?:` + strings.Join(words, "|") + `)(?:[ ,]*(?:und |et |y |e |и )?` + count + `(?:` + strings.Join(words, "|") + `))*`
}()

// foreignWaitIn reads how long to wait from a text in another language than English, in lower case; 0 = it does not say.
func foreignWaitIn(text string) (sum time.Duration) {
	if !waitWord.MatchString(text) {
		return 0
	}
	m := foreignWait.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	for _, p := range foreignLength.FindAllStringSubmatch(m[1]+m[2], -1) {
		for i, u := range foreignUnits {
			if p[i+2] == "" {
				continue
			}
			if d, ok := number(strings.ReplaceAll(p[1], ",", "."), u.unit); ok && d > 0 {
				sum = min(sum+d, maxWait)
			}
		}
	}
	return sum
}
