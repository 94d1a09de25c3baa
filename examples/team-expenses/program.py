# Who in engineering exceeded the travel budget in Q3? Run it without a model: ptc exec
# examples/team-expenses/program.py
import asyncio

STANDARD_BUDGET = 5000
COUNTED = {"travel", "lodging"}

members = await get_team_members(department="engineering")
expenses = await asyncio.gather(*(get_expenses(employee_id=m["id"], quarter="Q3") for m in members))

# In cents, because sums of floats are inexact.
spent = {
    m["id"]: sum(round(e["amount"] * 100) for e in lines if e["status"] == "approved" and e["category"] in COUNTED)
    for m, lines in zip(members, expenses)
}
above = [m for m in members if spent[m["id"]] > STANDARD_BUDGET * 100]
budgets = await asyncio.gather(*(get_custom_budget(user_id=m["id"]) for m in above))

for member, budget in zip(above, budgets):
    if spent[member["id"]] > round(budget["travel_budget"] * 100):
        total, limit = spent[member["id"]] / 100, budget["travel_budget"]
        print(f"{member['id']}  {member['name']:<16}{total:>10.2f} EUR of {limit:.2f}")
