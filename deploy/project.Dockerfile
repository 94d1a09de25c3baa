# The image of a worker of a project with durable-ptc from npm: `docker build -f project.Dockerfile .` in its folder.
FROM node:22-bookworm-slim
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev
COPY . .
USER 65532:65532
ENV NODE_ENV=production HOME=/tmp PTC_HEALTH_ADDRESS=:8081 PTC_METRICS_ADDRESS=:9464
ENV PATH=/app/node_modules/.bin:$PATH
ENTRYPOINT ["ptc"]
CMD ["worker"]
