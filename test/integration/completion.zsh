#compdef azdiskctl
# zsh completion of azdiskctl; to switch it on: source <(azdiskctl completion zsh)
_azdiskctl()
{
    local -a before answer words_found behind
    local word tab=$'\t'
    before=("${(@Q)words[2,CURRENT-1]}")
    answer=(${(f)"$(azdiskctl __complete "${before[@]}" "$PREFIX" 2>/dev/null </dev/null)"})
    for word in "${answer[@]}"; do
        case $word in
        :0) _files; return ;;
        :6) behind=(-S '') ;;
        :*) ;;
        *) word=${word//:/\\:}; words_found+=("${word/$tab/:}") ;;
        esac
    done
    _describe azdiskctl words_found "${behind[@]}"
}
if [[ $funcstack[1] == _azdiskctl ]]; then _azdiskctl; else compdef _azdiskctl azdiskctl; fi
