# Who in engineering exceeded the travel budget in Q3? Run it without a model: ptc exec
# examples/team-expenses/program.sh
set -euo pipefail
standard_budget=5000

# In cents, because sums of floats are inexact.
counted='[.[] | select(.status == "approved" and (.category == "travel" or .category == "lodging")) | .amount * 100 | round] | add // 0'

members=$(tool get_team_members department=engineering)
ids=$(jq -r '.[].id' <<<"$members")
for id in $ids; do
  tool get_expenses employee_id="$id" quarter=Q3 >"expenses-$id" &
done
wait

for id in $ids; do
  spent=$(jq "$counted" "expenses-$id")
  ((spent > standard_budget * 100)) || continue
  limit=$(tool get_custom_budget user_id="$id" | jq '.travel_budget * 100 | round')
  ((spent > limit)) || continue
  name=$(jq -r --arg id "$id" '.[] | select(.id == $id) | .name' <<<"$members")
  total=$((spent / 100)).$(printf %02d $((spent % 100)))
  printf '%s  %-16s%10s EUR of %d.%02d\n' "$id" "$name" "$total" $((limit / 100)) $((limit % 100))
done
