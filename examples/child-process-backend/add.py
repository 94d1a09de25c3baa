import os

print(await add(a=1, b=41), "DOCKER_HOST" in os.environ)
