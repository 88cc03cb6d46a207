# fish completion of azdiskctl; to switch it on: azdiskctl completion fish | source
function __azdiskctl_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -e words[1]
    for word in (azdiskctl __complete $words "$current" 2>/dev/null </dev/null)
        switch $word
            case ':0'
                __fish_complete_path "$current"
            case ':*'
            case '*'
                printf '%s\n' $word
        end
    end
end
complete -c azdiskctl -f -a '(__azdiskctl_complete)'
