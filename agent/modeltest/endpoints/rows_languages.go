package endpoints

// languages are refusals of one part of a request in the languages of those who run the gateways.
var languages = []Row{
	{ID: "german-no-pictures", Vendor: "a gateway in Germany", Source: "https://docs.vllm.ai/en/latest/features/multimodal_inputs.html", Does: "refuses pictures in German", Checks: []Check{blind(invalid(nil, nil, "Dieses Modell unterstützt keine Bildeingaben."))}, Want: blindly},
	{ID: "italian-no-pictures", Vendor: "a gateway in Italy", Source: "https://docs.vllm.ai/en/latest/features/multimodal_inputs.html", Does: "refuses pictures in Italian", Checks: []Check{blind(invalid(nil, nil, "Il modello non supporta l'input di immagini."))}, Want: blindly},
	{ID: "italian-no-tools", Vendor: "a gateway in Italy", Source: "https://docs.vllm.ai/en/latest/features/tool_calling.html", Does: "refuses tools in Italian", Checks: []Check{toolless(invalid(nil, nil, "Questo modello non supporta gli strumenti."))}, Want: noTools(1)},
	{ID: "portuguese-no-tools", Vendor: "a gateway in Brazil", Source: "https://docs.vllm.ai/en/latest/features/tool_calling.html", Does: "refuses tools in Portuguese", Checks: []Check{toolless(invalid(nil, nil, "O modelo não suporta chamadas de ferramentas"))}, Want: noTools(1)},
	{ID: "french-no-system-role", Vendor: "a gateway in France", Source: "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html", Does: "refuses the system role in French", Checks: []Check{systemless(invalid(nil, nil, "Le rôle « system » n'est pas pris en charge."))}, Want: learns},
	{ID: "korean-no-system-role", Vendor: "a gateway in Korea", Source: "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html", Does: "refuses the system role in Korean", Checks: []Check{systemless(invalid(nil, nil, "system 역할은 지원되지 않습니다."))}, Want: learns},
	{ID: "portuguese-no-system-role", Vendor: "a gateway in Brazil", Source: "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html", Does: "refuses the system role in Portuguese", Checks: []Check{systemless(invalid(nil, nil, "A função de sistema não é suportada"))}, Want: learns},
	{ID: "spanish-no-system-role", Vendor: "a gateway in Spain", Source: "https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html", Does: "refuses the system role in Spanish", Checks: []Check{systemless(invalid(nil, nil, "El rol system no está permitido"))}, Want: learns},
	{ID: "chinese-sensitive-words", Vendor: "One-API", Source: "https://github.com/songquanpeng/one-api", Does: "refuses words in Chinese", Checks: []Check{refuseText("hello", invalid(nil, nil, "输入内容包含敏感词，请修改后重试"))}, Want: Expectation{Plain: refusedText, Refused: 1}},
	{ID: "one-api-no-channel", Vendor: "One-API", Source: "https://github.com/songquanpeng/one-api", Does: "has no channel for the model, and says so in Chinese", Checks: []Check{refusing(openAI(400, "one_api_error", nil, nil, "当前分组 default 下对于模型 model-1 无可用渠道"))}, Want: dies(modelWords)},
}
