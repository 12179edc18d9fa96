# bash completion for parley. Install: parley completion bash > ~/.local/share/bash-completion/completions/parley
_parley() {
	local typed=${COMP_LINE:0:COMP_POINT} line word cut=
	word=${typed##*[[:space:]]}
	# bash ends words at colons, which session keys have: what stands before the last one is on the line already.
	if [[ $COMP_WORDBREAKS == *:* && $word == *:* ]]; then
		cut=${word%"${word##*:}"}
	fi
	COMPREPLY=()
	while IFS=$'\t' read -r line _; do
		COMPREPLY+=("${line#"$cut"}")
	done < <("${COMP_WORDS[0]}" complete -- "$typed" 2>/dev/null)
}
complete -o default -F _parley parley
