sales = {"bolt": [100.0, 120.0, 140.0], "nut": [80.0, 75.0, 70.0]}

for article, values in sales.items():
    print(article, await forecast(values=values, steps=2))

try:
    await forecast(values=[1.0])
except ToolError as error:
    print("no forecast:", error)
