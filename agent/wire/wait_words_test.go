package wire

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/agent"
)

// TestForeignWait: how long to wait is read in all languages in which classes of errors are.
// source: docs.bigmodel.cn/cn/faq/api-code, help.aliyun.com/zh/model-studio/error-code
func TestForeignWait(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"请求过于频繁，请在 3600 秒后重试":                                                     time.Hour,
		"请求过于频繁，请等待60秒再试":                                                         time.Minute,
		"当前分组请求过多，请 5 分钟后再试":                                                      5 * time.Minute,
		"已达上限，请1小时30分钟之后重试":                                                       90 * time.Minute,
		"リクエストが多すぎます。30秒後に再試行してください":                                              30 * time.Second,
		"2分お待ちください":                                                               2 * time.Minute,
		"요청이 너무 많습니다. 45초 후에 다시 시도하세요":                                            45 * time.Second,
		"Zu viele Anfragen. Bitte versuchen Sie es in 1 Stunde 5 Minuten erneut.": 65 * time.Minute,
		"Trop de requêtes, veuillez réessayer dans 20 secondes":                   20 * time.Second,
		"Demasiadas solicitudes. Vuelva a intentarlo en 10 minutos.":              10 * time.Minute,
		"Troppe richieste: riprova tra 2 ore":                                     2 * time.Hour,
		"Muitas solicitações. Tente novamente em 1,5 minutos":                     90 * time.Second,
		"Слишком много запросов. Повторите через 15 секунд":                       15 * time.Second,
		"每分钟最多 3 次请求，请稍后再试":                                                       0,
		"Höchstens 20 Anfragen in 60 Sekunden":                                    0, // a rate, not a wait
		"Please wait, 3 requests in 5 minutos":                                    0,
	} {
		if got := foreignWaitIn(strings.ToLower(text)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
	try := &Try{c: New(Config{Name: "p"}), parent: t.Context(), ctx: t.Context()}
	var e agent.ModelError
	try.refused(&e, http.StatusTooManyRequests, []byte(`{"error":{"message":"\u8bf7\u6c42\u8fc7\u4e8e\u9891\u7e41\uff0c\u8bf7\u5728 3600 \u79d2\u540e\u91cd\u8bd5"}}`), nil)
	if e.RetryAfter != time.Hour {
		t.Errorf("escaped signs: %s", e.RetryAfter)
	}
}
