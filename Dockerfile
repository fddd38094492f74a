FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without scripts: the build that follows an installation would run before the sources are here.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json vite.config.ts ./
COPY src ./src
COPY routes ./routes
RUN npm run build

FROM node:24-bookworm-slim
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force
COPY --from=build /app/dist ./dist
COPY examples/contexts.json ./examples/contexts.json
COPY openapi/openapi.json ./openapi/openapi.json

# Copied files keep the modes of the checkout, which a strict umask makes unreadable for others.
# A fresh named volume takes its owner from here. A bind mount keeps its own: it must be writable for uid 1000.
RUN chmod -R a+rX package.json examples openapi && mkdir /data && chown node:node /data
VOLUME /data

# Any address but loopback needs a token: run with `-e SNAPSHOTS_TOKEN=...`, or the service refuses to start.
ENV NODE_ENV=production \
    SNAPSHOTS_ROOT=/data \
    SNAPSHOTS_HOST=0.0.0.0

# glibc by default returns freed network buffers to the system after every chunk and faults the same pages in again,
# which costs an upload most of its speed. These limits, read before the process starts, make it keep them.
ENV MALLOC_TRIM_THRESHOLD_=268435456 \
    MALLOC_TOP_PAD_=67108864 \
    MALLOC_MMAP_THRESHOLD_=134217728

# Nothing is written outside /data, so `--read-only` works as it is.
USER node
EXPOSE 8750

# Asks where the variables say the service listens, and gives up by itself: not every engine enforces its timeout.
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["node", "-e", "\
  const down = ({ message }) => (console.error(message), process.exit(1)); \
  process.on('uncaughtException', down); \
  const { SNAPSHOTS_HOST, SNAPSHOTS_PORT, SNAPSHOTS_SOCKET, SNAPSHOTS_BASE_PATH, SNAPSHOTS_TLS_CERT } = process.env; \
  const path = `${(SNAPSHOTS_BASE_PATH || '').replace(/[/]$/, '')}/healthz`; \
  const host = { '': '127.0.0.1', '0.0.0.0': '127.0.0.1', '::': '::1' }[(SNAPSHOTS_HOST || '').replace(/[[\\]]/g, '')] || SNAPSHOTS_HOST; \
  const at = SNAPSHOTS_SOCKET ? { socketPath: SNAPSHOTS_SOCKET } : { host, port: SNAPSHOTS_PORT || 8750 }; \
  require(SNAPSHOTS_TLS_CERT ? 'https' : 'http') \
    .get({ ...at, path, rejectUnauthorized: false }, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)) \
    .on('error', down); \
  setTimeout(() => process.exit(1), 4000);"]

# Running uploads may finish first: give `docker stop -t` more than the service's own limit for that.
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "--max-semi-space-size=8", "dist/src/cli/entry.cjs"]
CMD ["serve"]
