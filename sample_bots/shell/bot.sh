# A bot in plain sh: one line is read, one line is written.
# A question is {"choices":6,"act":{...,"luck":"1234567890123",...}} (docs/reference/protocol.md); the answer
# is the number of one of the listed actions, from 0, or {"choice":3,"note":"a few words"}.

choose() { # of $1 actions; $2 is a random number, the same whenever the same question is asked
    echo $(($2 % $1))
}

while read -r line; do
    case $line in
    '{"choices":'*)
        choices=${line#*:} choices=${choices%%,*}
        luck=${line#*'"luck":"'} luck=${luck%%'"'*} # 64 bits: too large for sh to reckon with
        choose "$choices" "1${luck#"${luck%??????}"}"
        ;;
    *) echo '{}' ;; # {"start":{...}} and {"end":{...}}: nothing to say
    esac
done
