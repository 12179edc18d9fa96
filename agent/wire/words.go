package wire

import (
	"strings"
	"sync"

	"parley/agent"
	"parley/channels/pattern"
)

// wording is how errors of a class are worded in a language: a regular expression for text in lower case.
type wording struct {
	class    agent.ErrorClass
	language string
	words    string
}

// wordings are the sentences of classes. A class has them in every language in which providers and gateways answer.
//
// source: docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModel.html and …/userguide/inference-profiles-support.html,
// cloud.google.com/vertex-ai/generative-ai/docs/error-code-429, ai.google.dev/gemini-api/docs/troubleshooting, novita.ai/docs/api-reference/basic-error-code.md,
// docs.bigmodel.cn/cn/api/api-code, help.aliyun.com/zh/model-studio/error-code, lmstudio-ai/lmstudio-bug-tracker#1106, songquanpeng/one-api (relay errors in Chinese)
var wordings = []wording{
	// Too many requests in a time, at any status.
	{agent.RateLimited, "English", `\b(?:are|is|be|been|being|was|were) (?:being )?throttled\b|\bthrottlingexception\b|\brequest (?:was|is being|has been) (?:throttled|rate.?limited)\b|\btoo many (?:concurrent |parallel )?requests\b|\btoo many tokens, please wait\b|` +
		`\brate.?limit(?:s)?\b[^.\n]{0,40}\b(?:exceeded|reached|hit|triggered)|\b(?:exceeded|reached|hit)\b[^.\n]{0,40}\brate.?limit|` +
		`\bquota exceeded\b[^\n]{0,120}\bper (?:second|minute|hour|day)|\bquota exceeded for (?:today|this (?:hour|minute|day))|\b(?:requests?|tokens?) per (?:second|minute|hour|day)\b[^.\n]{0,40}\b(?:exceeded|reached)|\bconcurrency (?:limit|quota)|` +
		`\b(?:[rqt]p[smdh]|api|daily|hourly|usage) (?:requests? )?limit (?:has been |was |is )?(?:reached|exceeded|hit|exhausted)\b|\busage limit reached\b`},
	{agent.RateLimited, "Chinese", `并发(?:数|量)?[^。\n]{0,10}(?:过高|超|限)|请求(?:频率|速率|数)[^。\n]{0,12}(?:过高|超|限|频繁)|请求[过太]于?频繁|限流|(?:使用|调用|请求)(?:次数)?(?:上限|限额)`},
	{agent.RateLimited, "German", `\bzu viele anfragen\b|\banfragelimit\b`},
	{agent.RateLimited, "French", `\btrop de requ[êe]tes\b`},
	{agent.RateLimited, "Spanish", `\bdemasiadas (?:solicitudes|peticiones)\b`},
	{agent.RateLimited, "Portuguese", `\bmuitas (?:solicitações|requisições)\b|\blimite de (?:taxa|requisições)\b`},
	{agent.RateLimited, "Italian", `\btroppe richieste\b|\blimite di richieste\b`},
	{agent.RateLimited, "Russian", `слишком много запросов|превышен лимит запросов`},
	{agent.RateLimited, "Japanese", `リクエスト(?:数)?が(?:多すぎ|上限)|レート制限`},
	{agent.RateLimited, "Korean", `요청이 너무 많|요청 한도`},

	// Money that is missing.
	{agent.NoCredit, "English", `\b(?:trial|subscription|plan|membership)\b(?: period)? (?:(?:has|is|was) )?(?:already )?(?:expired|ended|over|lapsed|run out)\b|\brestricted by\b[^.\n]{0,40}\byour (?:current )?plan\b|\b(?:don['’]?t|do not|does not|doesn['’]?t|not) have (?:enough|sufficient|any) (?:[a-z]+ )?(?:balance|credits?|funds|money)\b|` +
		`\b(?:balance|funds|credits?)\b[^.\n]{0,20}\b(?:insufficient|too low|not enough|exhausted|depleted|used up)\b|\b(?:not enough|insufficient) (?:[a-z]+ )?(?:balance|funds|credits?)\b|` +
		`\bcheck your (?:plan and )?billing\b|\brun out of (?:[a-z]+ )?(?:credits?|funds)\b|\bfree.?tier\b[^.\n]{0,30}\b(?:exhausted|used up|ended|expired)\b|\bfreetieronly\b|\binactive subscription\b|\bno (?:remaining )?quota\b[^.\n]{0,30}\b(?:remaining|left|billing)\b|\bspending cap\b|` +
		`\bhave no quota\b|\bquota\b[^\n]{0,40}\bupgrade your plan\b|\bsubscription (?:has |is )?(?:expired|ended|cancell?ed|lapsed)\b|\bquota is not enough\b|\b(?:not enough|insufficient) (?:[a-z]+ )?quota\b|\bcredit limit (?:was |is |has been )?(?:exceeded|reached)\b|\breached the set [a-z]+ limit\b|\busage limit for (?:this|the|your) (?:current )?billing\b|\bexceeded\w*budget\b|` +
		`\b(?:exhausted|used up|consumed|depleted)\b[^.\n]{0,24}\b(?:free|trial|included)\b[^.\n]{0,20}\b(?:allocation|allowance|quota|tier|usage|credits?)\b|` +
		`\b(?:account|balance|payments?|bill|invoices?|subscription)\b[^.\n]{0,40}\b(?:overdue|past due|in arrears|delinquent)\b|\boverdue (?:balance|payments?|bills?|invoices?|amount)\b|` +
		`\bused (?:up )?(?:all )?(?:of )?your\b[^.\n]{0,30}\b(?:free|trial|paid|included)\b[^.\n]{0,20}\b(?:allocation|allowance|quota|tier|usage|credits?|plan)\b|\b(?:free|trial|included) (?:allocation|allowance|quota|usage|credits?)\b[^.\n]{0,30}\b(?:exhausted|used up|ended|expired|exceeded|reached)\b|\b(?:please )?top up\b|\b(?:draws?|out|run out) (?:from|of) (?:your )?extra usage\b|\brequires? (?:a|an|an active|a paid) (?:paid )?subscription\b|\bsubscription (?:is )?required\b`},
	{agent.NoCredit, "Chinese", `请充值|(?:账户|帐户|账号)?已?欠费|账单逾期|账户余额|余额不足|额度已?[用耗]尽|额度不足|免费额度[^。\n]{0,8}[用耗]完|扣费[^。\n]{0,4}失败`},
	{agent.NoCredit, "German", `\bguthaben\b[^.\n]{0,20}\b(?:reicht nicht|aufgebraucht|erschöpft|leer)|\b(?:kein|nicht genug|nicht genügend) guthaben\b`},
	{agent.NoCredit, "French", `\b(?:solde|crédits?)\b[^.\n]{0,12}\b(?:insuffisants?|épuisés?)`},
	{agent.NoCredit, "Spanish", `\b(?:saldo|créditos?)\b[^.\n]{0,12}\b(?:insuficientes?|agotados?)`},
	{agent.NoCredit, "Portuguese", `\b(?:saldo|créditos?)\b[^.\n]{0,12}\b(?:insuficientes?|esgotados?)`},
	{agent.NoCredit, "Italian", `\b(?:saldo|crediti?|credito)\b[^.\n]{0,12}\b(?:insufficient[ei]|esaurit[oi])`},
	{agent.NoCredit, "Russian", `недостаточно (?:средств|кредитов)|баланс исчерпан`},
	{agent.NoCredit, "Japanese", `(?:残高|クレジット)[がは]?(?:不足|足りません)`},
	{agent.NoCredit, "Korean", `(?:잔액|크레딧)[이가]? ?부족`},

	// Who asks: credentials that are wrong, an account that is closed, a place that is not served.
	{agent.BadKey, "English", `(?:^|\n|: )(?:unauthenticated|authentication (?:fail(?:s|ed|ure)|required))\b|(?m:^(?:the |your )?token (?:is |has |was )?(?:been )?(?:expired|revoked|invalid)\b)|\b(?:organi[sz]ation|account|workspace|project|team|user|subscription|(?:api[ -]?)?key)\b[^.\n]{0,40}\b(?:is|was|has been|have been|been|currently|temporarily) (?:currently |temporarily |permanently )?(?:disabled|suspended|deactivated|banned|terminated|restricted|revoked|closed|locked|frozen)\b|` +
		`\b(?:location|country|region|territory)\b[^.\n]{0,40}\b(?:not|un)[ -]?(?:supported|available|allowed|permitted)\b|` +
		`\bsecurity token\b[^.\n]{0,40}\b(?:invalid|expired)|\b(?:unrecognizedclient|accessdenied|expiredtoken|invalidsignature|incompletesignature|missingauthenticationtoken)(?:exception)?\b|\bmissing authentication token\b|` +
		`(?m:^(?:authentication error|invalid token|bad credentials)\.?$)|\bmissing api[ -]?key\b|\bno api[ -]?key (?:was )?(?:found|provided|given)\b|\bapi[ -]?key (?:is )?(?:required|missing)\b|\bnot (?:allowed|permitted|authori[sz]ed) to use this (?:api )?key\b|\bcredential is only authori[sz]ed\b|\b(?:access|auth|bearer|api|authentication) token\b[^.\n]{0,30}\b(?:invalid|expired|no longer valid|revoked|malformed|missing)\b|\b(?:invalid|expired) (?:access|auth|bearer|api|authentication) (?:token|key)\b|\b(?:^|: )user not found\b|` +
		`\bexpired key\b|\bkey is (?:blocked|expired|inactive)\b|\b(?:access|oauth|api|bearer) (?:tokens?|keys?|authentication) (?:is|are) (?:currently )?not (?:supported|accepted|allowed|permitted)\b|\buse[- ]case\b[^.\n]{0,40}\b(?:submitted|form)\b`},
	{agent.BadKey, "Chinese", `服务未开通|账[户号][^。\n]{0,12}(?:封禁|禁用|冻结|停用)|(?:密钥|令牌|api[ -]?key)\s?(?:无效|错误|不正确|已过期)|无效的\s?(?:api[ -]?key|密钥|令牌)`},
	{agent.BadKey, "German", `\bungültiger? (?:api-)?(?:schlüssel|key)\b|\bapi-(?:schlüssel|key) (?:ist )?ungültig`},
	{agent.BadKey, "French", `\bclé (?:d['’])?(?:api )?(?:invalide|incorrecte|non valide)`},
	{agent.BadKey, "Spanish", `\bclave (?:de )?(?:api )?(?:no (?:es )?válida|inválida|incorrecta)`},
	{agent.BadKey, "Portuguese", `\bchave (?:de |da )?(?:api )?(?:não (?:é )?válida|inválida|incorreta)`},
	{agent.BadKey, "Italian", `\bchiave (?:api )?(?:non (?:è )?valida|errata)`},
	{agent.BadKey, "Russian", `(?:неверный|недействительный) (?:api[ -]?)?(?:ключ|токен)`},
	{agent.BadKey, "Japanese", `api ?キーが(?:無効|正しくありません)|無効な ?api ?キー`},
	{agent.BadKey, "Korean", `api ?키[가이]? ?(?:유효하지|잘못)|(?:유효하지 않은|잘못된) api ?키`},

	// A model that is not served here, or that is no chat model.
	{agent.NoSuchModel, "English", `\btry pulling it first\b|\b(?:unsupported|unavailable|unknown) model\b[^.\n]{0,3}(?:[:=]|$|[\s.]*\n)|\bmodel id(?:entifier)? is (?:invalid|not valid|unknown)|\binvocation of model id\b[^\n]{0,120}(?:isn['’]t|is not) supported|` +
		"\\bmodels?(?: ?[`'\"]?[\\w./:@-]+[`'\"]?)? (?:is |are |was |has been )?(?:not (?:supported|enabled|activated|available|accessible|deployed|served|hosted|installed|loaded)|unsupported|disabled|blocked)(?: (?:by|on|at|in|for|to) (?:this|the|any|your|that) (?:[a-z]+ )?(?:endpoint|provider|account|api|server|region|deployment|plan|key|service|workspace|project|organization|team|tier|group|subscription)| for (?:format|task)\\b|\\s*[.!]?\\s*$|\\s*[.!]?\\s*\\n| when using)|" +
		`\b(?:not (?:allowed|permitted|authori[sz]ed) (?:to (?:access|use)|for)|no permission (?:to (?:access|use)|for)|(?:do|does)(?: not|n['’]t) (?:yet )?have access to|not (?:yet )?include access to) (?:the |this |that )?models?\b|\bno available channels? for model\b|\bno matching models? found\b|\bmodel\b[^\n]{0,80}\bnot in the list of\b|\b(?:specified|requested) deployment could not be found\b|\bmodel\b[^\n]{0,80}\b(?:ratio|price|pricing) (?:is )?not (?:set|configured)\b|` +
		`\bmodel\b[^\n]{0,80}\brequires (?:a )?(?:newer|later|more recent) version of (?:ollama|llama|lm ?studio|vllm|mlx|transformers|(?:the|this) (?:server|runtime|engine|program))|\b(?:failed|unable) to load (?:the )?model\b|` +
		`\bno models? (?:is |are |was )?(?:currently )?loaded\b|\bno allowed providers\b|\bsupported (?:api )?model names? (?:is|are)\b|\bdoes not support (?:chat(?: completions?)?|completions?|generate)(?:$|["'.\n])|\brequires terms acceptance\b|\bis not a chat model\b|\bis an embedding model\b|\bmodel is not (?:an? )?llm\b|` +
		`\bmodel is deprecated\b|\bmodel\b[^.\n]{0,60}\bnot (?:currently )?available in your (?:region|country|plan)\b|\bmodel access (?:is )?denied\b|\bplan (?:does )?not (?:support|include)\b|\b(?:endpoint|deployment|instance)\b[^.\n]{0,20}\b(?:is|was|has been) (?:paused|stopped)\b`},
	{agent.NoSuchModel, "Chinese", `模型不存在|无可用渠道|模型[^。\n]{0,80}(?:倍率|价格)[^。\n]{0,6}未(?:配置|设置)|无权(?:访问|使用)[^。\n]{0,4}模型|模型[^。\n]{0,8}(?:未开通|未启用|已禁用|被禁用)|模型[^。\n]{0,12}已下线|不支持(?:该|此|的)模型(?:$|[。，,\n])|(?:未找到|找不到)(?:该|此)?模型|模型未找到`},
	{agent.NoSuchModel, "German", `\bmodell\b[^.\n]{0,40}\b(?:nicht gefunden|existiert nicht)`},
	{agent.NoSuchModel, "French", `\bmodèle\b[^.\n]{0,40}\b(?:introuvable|non trouvé|inexistant|n['’]existe pas)`},
	{agent.NoSuchModel, "Spanish", `\bmodelo\b[^.\n]{0,40}\bno (?:encontrado|existe|se encontró)`},
	{agent.NoSuchModel, "Portuguese", `\bmodelo\b[^.\n]{0,40}\bnão (?:encontrado|existe|foi encontrado)`},
	{agent.NoSuchModel, "Italian", `\bmodello\b[^.\n]{0,40}\bnon (?:trovato|esiste|è stato trovato)`},
	{agent.NoSuchModel, "Russian", `модель[^.\n]{0,40}не (?:найдена|существует)`},
	{agent.NoSuchModel, "Japanese", `モデル[^。\n]{0,40}(?:見つかりません|存在しません)`},
	{agent.NoSuchModel, "Korean", `모델[^.\n]{0,40}(?:찾을 수 없|존재하지 않)`},

	// A server that has too much to do, is not ready yet, or lost the model.
	{agent.Overloaded, "English", `\bserver busy\b|\b(?:cuda|gpu|hip|metal|vram|device)\b[^.\n]{0,20}\bout of memory\b|\b(?:worker|engine|engine ?core|backend|runner|replica)s?(?: process)? (?:has |have |was |is )?(?:died|dead|crashed|killed|exited|terminated)\b|\b(?:service|server|system|model|engine|backend|upstream|cluster|instance|worker)s?\b[^.\n]{0,30}\b(?:overloaded|too busy|is busy|not (?:yet )?ready|warming up|starting up|still loading)\b|` +
		`\bmodelnotreadyexception\b|\bserviceunavailableexception\b|\bmodeltimeoutexception\b|\binternalserverexception\b|\berror while processing the model\b|\brequest failed during generation\b|` +
		`\bmodel (?:was |has been )?unloaded\b|\bmodel has crashed\b|^channel error\b`},
	{agent.Overloaded, "Chinese", `服务(?:器)?(?:繁忙|过载)|系统繁忙|模型过载|请稍后(?:再试|重试)`},
	{agent.Overloaded, "German", `\bserver\b[^.\n]{0,12}überlastet|\bversuchen sie es später\b`},
	{agent.Overloaded, "French", `\bserveur\b[^.\n]{0,12}surchargé|\bréessayer plus tard\b`},
	{agent.Overloaded, "Spanish", `\bservidor\b[^.\n]{0,12}sobrecargado|\binténte?(?:lo)? (?:de nuevo )?más tarde\b`},
	{agent.Overloaded, "Portuguese", `\bservidor\b[^.\n]{0,12}sobrecarregado|\btente (?:novamente )?mais tarde\b`},
	{agent.Overloaded, "Italian", `\bserver\b[^.\n]{0,12}sovraccarico|\briprova(?:re)? più tardi\b`},
	{agent.Overloaded, "Russian", `сервер[^.\n]{0,12}перегружен|попробуйте (?:ещё раз )?позже`},
	{agent.Overloaded, "Japanese", `サーバー?が(?:混雑|過負荷)|しばらくしてから`},
	{agent.Overloaded, "Korean", `서버[가이]? ?(?:혼잡|과부하)|잠시 후 다시`},

	// A prompt that is too long.
	{agent.TooLong, "English", `\bkv[ _-]?cache (?:is |was )?(?:full|exhausted|too small)\b|\b(?:not enough|out of|no) (?:free )?(?:space in (?:the )?)?kv[ _-]?cache\b|\b(?:prompt|input|conversation|context|messages?|request(?: body)?|sequence|chat history|history)(?: (?:tokens?|length|size|text|window))?(?: (?:is|are|was|has become))? (?:too|overly) (?:long|large|big|many)\b|` +
		`\bcontext (?:window|length|size|limit)\b[^.\n]{0,60}\b(?:exceed\w*|overflow\w*|full|reached|surpass\w*|overrun)\b|\b(?:exceed\w*|overflow\w*|larger than|longer than|greater than|bigger than|beyond|over|surpass\w*|fits?)\b[^.\n]{0,60}\bcontext (?:window|length|size|limit)\b|` +
		`\b(?:prompt|input) (?:tokens? )?(?:limit|length) (?:was |has been )?exceeded\b|\btoo many (?:input |prompt |context )?tokens\b|\bcontext[ _]overflow\b|` +
		`\btokens? limit (?:is |was |has been )?exceeded\b|\bexceed(?:s|ed)? (?:the )?(?:model's |maximum )?token limit\b|\bmax(?:imum)? input (?:characters|tokens|length)\b|` +
		`\b(?:prompt|input|conversation|request|context)\b[^.\n]{0,40}\b(?:larger|longer|greater|bigger|more) than\b[^.\n]{0,30}\b(?:tokens?|model|window|limit|maximum)\b`},
	{agent.TooLong, "Chinese", `超[过出]了?(?:模型)?的?最大\s?(?:tokens?|令牌)|tokens?\s?(?:总?数量?|长度)?\s?(?:超限|超过|超出|过多)|(?:输入|上下文|提示词?|消息|对话|请求)[^。\n]{0,20}(?:超过|超出|超限|过长|太长|超长)`},
	{agent.TooLong, "German", `(?:eingabe|prompt|kontext|anfrage|nachricht|unterhaltung|verlauf)[^.\n]{0,60}(?:zu lang|zu groß|überschr)|zu viele (?:eingabe-?)?tokens?`},
	{agent.TooLong, "French", `\b(?:invite|prompt|entrée|requête|contexte|message|conversation)[^.\n]{0,60}(?:trop long|trop grand|dépass)|\btrop de (?:tokens|jetons)\b`},
	{agent.TooLong, "Spanish", `\b(?:prompt|entrada|solicitud|contexto|mensaje|conversación)[^.\n]{0,60}(?:demasiado (?:larg|grande|extens)|excede|supera|sobrepasa)|\bdemasiados tokens\b`},
	{agent.TooLong, "Portuguese", `\b(?:prompt|entrada|solicitação|contexto|mensagem|conversa)[^.\n]{0,60}(?:muito long|longo demais|longa demais|excede|ultrapass)|\btokens demais\b`},
	{agent.TooLong, "Italian", `\b(?:prompt|input|richiesta|contesto|messaggio|conversazione)[^.\n]{0,60}(?:troppo lung|super[ai]|eccede)|\btroppi token\b`},
	{agent.TooLong, "Russian", `(?:промпт|запрос|контекст|сообщени|ввод|диалог)[^.\n]{0,60}(?:слишком длин|слишком больш|превыша|превыси|превышен)|слишком много токенов|превышен[аоы]?[^.\n]{0,40}(?:длин|контекст|токен)`},
	{agent.TooLong, "Japanese", `(?:プロンプト|入力|コンテキスト|メッセージ|会話|リクエスト|トークン数)[^。\n]{0,30}(?:長すぎ|大きすぎ|超え|超過)`},
	{agent.TooLong, "Korean", `(?:프롬프트|입력|컨텍스트|메시지|대화|요청|토큰)[^.\n]{0,30}(?:너무 길|너무 많은 토큰|너무 큽|초과|넘)`},

	// What a filter refused.
	{agent.Refused, "English", `\b(?:pii|dlp|phi|personal (?:data|information)|personally identifiable information|sexual|hate|hate speech|violence|violent|self[- ]harm|toxic\w*|profan\w+|prompt injections?|prompt attacks?|jailbreaks?)\b[^.\n]{0,40}\b(?:detected|found|blocked|violat\w+|not allowed)|` +
		`\b(?:contains?|detected|found|blocked)\b[^.\n]{0,20}\b(?:pii|personal (?:data|information)|personally identifiable information|sexual content|hate speech|profanity|toxic (?:content|language)|prompt injections?|prompt attacks?)\b`},
	{agent.Refused, "Chinese", `(?:内容|输入|提问|文本)[^。\n]{0,12}(?:敏感(?:信息|词|字|内容)|违规|违法|不当)|敏感词|未通过[^。\n]{0,6}审核|审核[不未]通过|内容(?:安全)?(?:过滤|审核)|有害内容|违反[^。\n]{0,10}(?:内容|使用)(?:政策|规范)`},
	{agent.Refused, "German", `verstößt gegen (?:unsere |die )?(?:inhalts|nutzungs)richtlinie|\b(?:inhalts|nutzungs)richtlinien?\b[^.\n]{0,24}\b(?:blockiert|abgelehnt|verletzt)|\b(?:blockiert|abgelehnt)[^.\n]{0,30}\b(?:inhalts|nutzungs)richtlinie|\binhaltsfilter|\bfilter (?:blockiert|abgelehnt)`},
	{agent.Refused, "French", `(?:enfrei(?:nt|gn)|viol|bloqu|refus|rejet)[^.\n]{0,30}(?:politique|règles) (?:de contenu|de modération|d['’]utilisation)|\bfiltre de contenu`},
	{agent.Refused, "Spanish", `(?:infring|viola|bloquead|rechazad)[^.\n]{0,30}políticas? de (?:contenido|uso)|\bfiltro de contenido`},
	{agent.Refused, "Portuguese", `\b(?:viola|bloquead|rejeitad|recusad)[^.\n]{0,30}políticas? de (?:conteúdo|uso)|\bfiltro de conteúdo`},
	{agent.Refused, "Italian", `\b(?:viola|bloccat|rifiutat|respint)[^.\n]{0,30}(?:le norme|politic(?:a|he)|linee guida)|\bfiltro (?:dei |di )?contenut`},
	{agent.Refused, "Russian", `нарушает (?:правила|политику)|(?:заблокирован|отклон[её]н)[^.\n]{0,30}(?:политик|фильтр|правил)|фильтр[а-я]* (?:содержим|контент)`},
	{agent.Refused, "Japanese", `コンテンツ ?ポリシー(?:に違反|により|によって)|不適切な内容|有害なコンテンツ|コンテンツ ?フィルター?`},
	{agent.Refused, "Korean", `콘텐츠 ?정책(?:을|에)? ?(?:위반|의해|따라)|부적절한 (?:내용|콘텐츠)|유해한 콘텐츠|콘텐츠 필터`},
}

// patternsOfClasses joins the wordings of each class.
var patternsOfClasses = sync.OnceValue(func() map[agent.ErrorClass]*pattern.Pattern {
	words := make(map[agent.ErrorClass][]string)
	for _, w := range wordings {
		words[w.class] = append(words[w.class], w.words)
	}
	out := make(map[agent.ErrorClass]*pattern.Pattern)
	for class, all := range words {
		out[class] = pattern.New(strings.Join(all, "|"))
	}
	return out
})

// says reports whether an error has a sentence of a class.
func (f *Fault) says(class agent.ErrorClass) bool {
	return patternsOfClasses()[class].MatchString(f.All)
}
