# fish completion for parley. Install: parley completion fish > ~/.config/fish/completions/parley.fish
function __parley_complete
	command parley complete -- (commandline -cp) 2>/dev/null
end
complete -c parley -a '(__parley_complete)'
