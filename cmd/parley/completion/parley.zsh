#compdef parley
# zsh completion for parley. Install: parley completion zsh > "${fpath[1]}/_parley"
_parley() {
	local line word about
	local -a options
	while IFS=$'\t' read -r word about; do
		options+=("${word//:/\\:}:${about}")
	done < <("${words[1]}" complete -- "${(j: :)words[1,CURRENT]}" 2>/dev/null)
	if (( ${#options} )); then
		_describe 'parley' options
	else
		_files
	fi
}
if [ "$funcstack[1]" = "_parley" ]; then
	_parley "$@"
else
	compdef _parley parley
fi
