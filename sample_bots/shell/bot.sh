# A bot in plain sh. It reads one line and writes one line.
# A question is {"choices":6,"act":{...,"luck":"1234567890123",...}} (docs/reference/protocol.md). The answer
# is the number of a legal action, from 0, or {"choice":3,"note":"a few words"}.

choose() { # COUNT RANDOM: print the number of an action; RANDOM depends on the question only
    echo $(($2 % $1))
}

while read -r line; do
    case $line in
    '{"choices":'*)
        choices=${line#*:} choices=${choices%%,*}
        luck=${line#*'"luck":"'} luck=${luck%%'"'*} # 64 bits: too large for the arithmetic of sh
        choose "$choices" "1${luck#"${luck%??????}"}"
        ;;
    *) echo '{}' ;; # {"start":{...}} and {"end":{...}}: no answer needed
    esac
done
