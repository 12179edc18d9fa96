package lessons

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"parley/sessions"
	"parley/tools"
)

// specs makes tools with these names.
func specs(names ...string) (out []tools.Spec) {
	for _, n := range names {
		out = append(out, tools.Spec{Name: n, Description: strings.Repeat("é", 40)})
	}
	return out
}

// TestCountedTool: an error that gives the place of a tool, in words or in a path, takes that tool away, alone.
func TestCountedTool(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		// source: cline/cline#7926
		`{"error":{"code":400,"message":"* GenerateContentRequest.tools[0].function_declarations[2].parameters.properties[tags].items: missing field.\n","status":"INVALID_ARGUMENT"}}`,
		`{"error":{"message":"GenerateContentRequest.tools[0].function_declarations[2].name: Invalid function name."}}`,
		`{"error":{"message":"tools[0].functionDeclarations[2].parameters is wrong"}}`,
		// source: docs.pydantic.dev, "loc" of a validation error
		`{"detail":[{"loc":["body","tools",2,"function","parameters"],"msg":"Input should be valid","type":"x"}]}`,
		// source: can1357/oh-my-pi#45
		`{"error":{"message":"tools.2.custom.input_schema: JSON schema is invalid"}}`,
		`{"error":{"message":"/tools/2/function/parameters is not supported"}}`,
		// A property has the name of another tool.
		`{"error":{"message":"tools[2].function.parameters: unknown keyword in 'look'"}}`,
	} {
		for _, status := range []int{400, 422} {
			c := NewBook(Config{}).Call(at, "")
			if !c.Refused(t.Context(), refusal(status, text), Sent{Tools: []string{"look", "list", "odd"}}) || len(c.changed.pending) != 1 || !c.Off(Tool, "odd") {
				t.Errorf("%s: learned %+v", text, c.changed.pending)
			}
		}
	}
}

// TestNoToolLeft: an endpoint that refused each tool alone counts as one without tools, and one that refused the only tool does not.
func TestNoToolLeft(t *testing.T) {
	t.Parallel()
	c := NewBook(Config{}).Call(at, "")
	names := []string{"a1", "b2", "c3", "d4", "e5"}
	for i := range names {
		c.Refused(t.Context(), refusal(400, fmt.Sprintf("Invalid schema for function '%s'", names[i])), Sent{Tools: names[i:]})
	}
	if !c.Off(Tools, "") {
		t.Errorf("learned %+v", c.changed.pending)
	}
	c = NewBook(Config{}).Call(at, "")
	if c.Refused(t.Context(), refusal(400, "Invalid schema for function 'a1'"), Sent{Tools: names[:1]}); c.Off(Tools, "") {
		t.Errorf("learned %+v", c.changed.pending)
	}
}

// TestLongDescriptions: descriptions are cut to the length that an endpoint names; where it names none, the tool is left out.
func TestLongDescriptions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		// source: getsentry/sentry-mcp#106
		`{"error":{"message":"Invalid 'tools[1].function.description': string too long. Expected a string with maximum length 51, but got a string with length 80 instead.","type":"invalid_request_error","param":"tools[1].function.description","code":"string_above_max_length"}}`: 50,
		"tools.1.function.description: string too long, max 61":    60,
		"The description of function 'list' exceeds 70 characters": 70,
		"tools[1].function.description is too long":                0,
		`{"error":{"message":"Invalid 'tools[1].function.name': string too long. Expected a string with maximum length 64, but got a string with length 70 instead.","param":"tools[1].function.name","code":"string_above_max_length"}}`: 0,
	} {
		c := NewBook(Config{}).Call(at, "")
		all := specs("look", "list")
		c.Offer(all)
		if !c.Refused(t.Context(), refusal(400, text), Sent{Tools: []string{"look", "list"}}) || len(c.changed.pending) != 1 {
			t.Fatalf("%s: learned %+v", text, c.changed.pending)
		}
		got := c.Offer(all)
		switch {
		case want == 0 && (len(got) != 1 || got[0].Name != "look"):
			t.Errorf("%s: sends %+v", text, got)
		case want > 0 && (len(got) != 2 || len(got[0].Description) != want || len(got[1].Description) != want || len(all[0].Description) != 80):
			t.Errorf("%s: sends %+v", text, got)
		}
	}
}

// TestOtherLanguages: a refusal is understood in the languages that providers write most.
func TestOtherLanguages(t *testing.T) {
	t.Parallel()
	for text, kind := range map[string]string{
		"该模型不支持工具调用":                                            Tools,
		"当前模型不支持流式输出":                                           Stream,
		"该模型不支持图片输入":                                            Images,
		"Der Modell unterstützt keine Werkzeuge (tools)":        Tools,
		"Werkzeuge werden nicht unterstützt":                    Tools,
		"Ce modèle ne prend pas en charge les outils":           Tools,
		"Le streaming n'est pas pris en charge":                 Stream,
		"Este modelo no admite herramientas":                    Tools,
		"Эта модель не поддерживает инструменты":                Tools,
		"このモデルはツールをサポートしていません":                                  Tools,
		"このモデルはツール呼び出しに対応していません":                                Tools,
		"이 모델은 도구 호출을 지원하지 않습니다":                                Tools,
		"스트리밍은 지원되지 않습니다":                                       Stream,
		"该模型不支持系统角色":                                            System,
		"不支持 system 消息":                                         System,
		"Die Systemrolle wird nicht unterstützt":                System,
		"Le rôle système n'est pas pris en charge":              System,
		"El rol de sistema no está permitido":                   System,
		"Системная роль не поддерживается":                      System,
		"システムロールはサポートされていません":                                   System,
		"시스템 역할은 지원되지 않습니다":                                     System,
		"Dieses Modell unterstützt keine Bildeingaben.":         Images,
		"Bilder werden von diesem Modell nicht unterstützt":     Images,
		"Il modello non supporta l'input di immagini.":          Images,
		"Le immagini non sono accettate":                        Images,
		"Este modelo não aceita imagens":                        Images,
		"A entrada de imagem não é suportada":                   Images,
		"Este modelo no admite imágenes":                        Images,
		"Ce modèle ne prend pas en charge les images":           Images,
		"이 모델은 이미지 입력을 지원하지 않습니다":                               Images,
		"このモデルは画像入力に対応していません":                                   Images,
		"Эта модель не поддерживает изображения":                Images,
		"Questo modello non supporta gli strumenti.":            Tools,
		"Le chiamate di funzione non sono disponibili":          Tools,
		"O modelo não suporta chamadas de ferramentas":          Tools,
		"Chamadas de função não são suportadas":                 Tools,
		"Las llamadas a funciones no se admiten en este modelo": Tools,
		"Le rôle « system » n'est pas pris en charge.":          System,
		"system 역할은 지원되지 않습니다.":                                 System,
		"A função de sistema não é suportada":                   System,
		"Mensagens de sistema não são permitidas":               System,
		"El rol system no está permitido":                       System,
		"El rol «system» no se admite":                          System,
		"Il ruolo system non è supportato":                      System,
		"Il ruolo di sistema non è consentito":                  System,
		"Die Rolle 'system' wird nicht unterstützt":             System,
		"Роль «system» не поддерживается":                       System,
		"system ロールはサポートされていません":                                System,
	} {
		c := NewBook(Config{}).Call(at, "")
		if !c.Refused(t.Context(), refusal(400, text), Sent{Tools: []string{"look"}, Stream: true, System: true, Pictures: []string{"aGk="}}) || len(c.changed.pending) != 1 || c.changed.pending[0].Kind != kind {
			t.Errorf("%s: learned %+v", text, c.changed.pending)
		}
	}
}

// TestOtherWordsOfLanguages: words that are like those for pictures, tools and the system role mean something else.
func TestOtherWordsOfLanguages(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Das System ist derzeit nicht verfügbar", "Le système n'est pas disponible", "Il sistema non è disponibile", "O sistema não está disponível", "El sistema no está disponible en este momento",
		"시스템을 사용할 수 없습니다", "系统繁忙，请稍后再试", "Система недоступна", "システムは利用できません",
		"Non ci sono strumenti di pagamento validi", "La función no está disponible en su plan", "A função não está disponível", "Die Bildung einer Sitzung ist nicht erlaubt",
	} {
		c := NewBook(Config{}).Call(at, "")
		c.Refused(t.Context(), refusal(400, text), Sent{Tools: []string{"look"}, Stream: true, System: true, Pictures: []string{"aGk="}})
		if len(c.changed.pending) != 0 {
			t.Errorf("%s: learned %+v", text, c.changed.pending)
		}
	}
}

// TestManyBadTools: where an endpoint names one tool after the other, the tools in front of them stay, and the others are found by find_tool; where it
// always names the first one, it takes none. Each costs a few refused requests, once.
// source: community.openai.com/t/function-calling-400-error (Invalid schema for function), LangChain.js#8402 (tools.0.type: Field required)
func TestManyBadTools(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		good int // tools in front of the bad ones
		says func(tool string, place int) string
		want sessions.Lesson
	}{
		"some": {2, func(tool string, _ int) string {
			return "Invalid schema for function '" + tool + "': In context=(), schema must have a known form"
		}, sessions.Lesson{Kind: MaxTools, Use: "2"}},
		"each": {0, func(_ string, place int) string { return fmt.Sprintf("tools.%d.type: Field required", place) }, sessions.Lesson{Kind: Tools}},
	} {
		b := NewBook(Config{})
		for turn, most := range []int{4, 0, 0} {
			call, refused := b.Call(at, ""), 0
			for {
				var sent Sent
				if call.Takes(Tools, "") {
					var names []string
					for i := range 20 {
						names = append(names, fmt.Sprintf("tool_%02d", i))
					}
					for _, s := range call.Offer(specs(names...)) {
						sent.Tools = append(sent.Tools, s.Name)
					}
				}
				bad := slices.IndexFunc(sent.Tools, func(tool string) bool { return tool >= fmt.Sprintf("tool_%02d", c.good) })
				if bad < 0 {
					break
				}
				refused++
				if !call.Refused(t.Context(), refusal(400, fmt.Sprintf(`{"error":{"message":%q}}`, c.says(sent.Tools[bad], bad))), sent) {
					t.Fatalf("%s: it gives up", name)
				}
			}
			call.Worked(t.Context())
			if refused > most {
				t.Errorf("%s, turn %d: %d refused", name, turn, refused)
			}
		}
		if !slices.ContainsFunc(b.Known(), func(l sessions.Lesson) bool { return l.Kind == c.want.Kind && l.Use == c.want.Use }) {
			t.Errorf("%s: known %+v", name, b.Known())
		}
	}
}
