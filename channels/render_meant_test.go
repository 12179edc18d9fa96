package channels

import (
	"strings"
	"testing"
)

// meantMarks are texts as models write them: a mark directly behind a number or a bracket, and bold labels that the next word follows on
// without a space. Each pair of double marks is markup.
//
// source: commonmark/commonmark-spec#650; anthropics/claude-code#89827; tats-u/markdown-cjk-friendly
var meantMarks = []string{
	// Behind a full stop, a bracket or a percent sign.
	"1.**粗体：**内容", "步骤1.**打开：**点击", "第3.**打开**点击", "(1)**粗体**：内容", "1.**“重点”**内容", "2.**名称（中文）：**内容",
	"1.**太字：**です", "(2)**「重要」**です", "1.**굵게:** 내용", "(3)**중요**는 이것", "1.**สำคัญ:**เปิด", "(1)**เปิด**แอป",
	"1.**Важно:** текст", "(2)**Шаг:** открыть", "1.**مهم:** نص", "(2)**خطوة**: افتح", "1.**חשוב:** טקסט", "(2)**שלב**: פתח",
	"1.**महत्वपूर्ण:** पाठ", "(2)**चरण**: खोलें", "1.**Quan trọng:** chữ", "(2)**Bước**: mở", "1.**Σημαντικό:** κείμενο", "(2)**Βήμα**: άνοιγμα",
	"1.**Önemli:** metin", "(2)**Adım**: aç", "Step 1.**Open** it", "Step 1.**Open**: it", "(1)**Bold** text", "(a)**b**", "a)**b**", "[1]**Source**: x",
	"1.~~old~~ x", "(2)~~old~~, new", "10%**more** of it", "End of it.**Note**: more", "2.**\"Quoted\"** x", "3.**2024** and **2025**",
	// In front of a letter.
	"**สำคัญ!**มาก", "**หมายเหตุ:**อ่าน", "คำ**หนา**คำ", "**“คำพูด”**ของเขา", "**ສຳຄັນ!**ຫຼາຍ", "**សំខាន់!**ណាស់", "ពាក្យ**ដិត**ពាក្យ", "**အရေးကြီး!**အလွန်",
	"**Важно:**текст", "**Итог.**Всё готово", "**«Цитата»**сказал он", "**Вопрос?**Ответ", "**مهم:**نص", "**ما هذا؟**هذا", "**«اقتباس»**قال", "**חשוב:**טקסט", "**שאלה?**תשובה",
	"**महत्वपूर्ण:**पाठ", "**ध्यान दें।**यह", "**Quan trọng:**chữ", "**Chú ý!**Đọc", "**Σημείωση:**κείμενο", "**Τέλος.**Αρχή", "**Önemli:**metin", "**Dikkat!**Oku",
	"**Note:**text", "**Warning!**Stop", "**Wait...**what", "- **Wichtig:**Text\n- **Größe:**Zahl", "(**Note:**text)", "**重要:**内容", "**중요!**내용", "**中文**文", "“**引用：**”他说", "**ด่วน**และ**สำคัญ**",
	// Beside an address.
	"**https://example.com/a_b**", "**See https://example.com/a_b/c.** More", "**https://example.com/c_d：**链接", "**[https://example.com](https://example.com)** x", "https://example.com/_a_/b **c**",
}

func TestMeantMarksAreNotShown(t *testing.T) {
	t.Parallel()
	for _, md := range meantMarks {
		html := Render(md, TelegramHTML)
		pairs := strings.Count(md, "**")/2 + strings.Count(md, "~~")/2
		if strings.Count(html, "</b>")+strings.Count(html, "</s>") != pairs {
			t.Errorf("%q has %d pairs of marks, and gives %q", md, pairs, html)
		}
		want := comparable(plainLinks(strings.NewReplacer("**", "", "~~", "", "`", "").Replace(md)))
		for _, d := range dialects {
			for _, size := range []int{0, 100, 64} {
				var got strings.Builder
				for _, p := range Split(md, Limits{Dialect: d, Text: size, Unit: UTF16, Marks: MinMarks}) {
					got.WriteString(shown(t, d, p.Text) + "\n")
				}
				if d == WhatsAppText && !strings.Contains(got.String(), "**") || d == Markdown {
					continue // WhatsApp's own apps decide about a single mark inside of a text without spaces
				}
				if comparable(got.String()) != want {
					t.Errorf("%q, %s, %d is shown as %q", md, d, size, got.String())
				}
			}
		}
	}
}

// plainLinks leaves an address out that is also the text of its link.
func plainLinks(s string) string {
	return strings.ReplaceAll(s, "[https://example.com](https://example.com)", "https://example.com")
}
